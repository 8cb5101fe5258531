package filtertest

import (
	"bytes"
	"fmt"
	"io"
	"reflect"
	"slices"
	"sync"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/internal/fixture"
	"github.com/umbel-filters/umbel/wire"
	"github.com/umbel-filters/umbel/wire/delta"
)

// changing are the methods without parameters that change a filter or begin additions. NextGrowth is one of them: it
// remembers the room that it found.
var changing = []string{"Clear", "Compact", "NewLoader", "NextGrowth", "Seal", "View"}

// queriesChangeNothing: queries and readings leave no trace in the memory that belongs to a filter, also where its
// state does not show it, so that they are safe to call concurrently. Every method without parameters is one, except
// for those in changing.
func queriesChangeNothing(t tb, v umbel.Kind) {
	for _, n := range sizes {
		for _, keys := range []int{0, 1, int(n) / 2, 3 * int(n)} {
			for _, f := range filled(t, v, n, digests(1, keys)) {
				before := fixture.Memory(f)
				read(t, v, f)
				if fixture.Memory(f) != before {
					t.Fatalf("queries of a filter with %d keys change its memory", keys)
				}
				var readers sync.WaitGroup
				for range 2 { // the race detector finds a change that one of them undoes
					readers.Go(func() { read(t, v, f) })
				}
				readers.Wait()
				queryView(t, v, f)
			}
		}
	}
}

// queryView fails unless a filter that shares the memory of its container, at any alignment, is that filter, and
// queries leave the container as it is.
func queryView(t tb, v umbel.Kind, f umbel.Filter) {
	t.Helper()
	b, err := wire.Append(nil, f.State())
	if err != nil {
		t.Fatalf("the filter has no container: %v", err)
	}
	for skip := range 8 {
		shared := append(make([]byte, skip, skip+len(b)), b...)[skip:]
		s, err := wire.View(shared, wire.Limits{})
		if err != nil {
			t.Fatalf("View of the filter's container: %v", err)
		}
		g, err := v.Open(s)
		if err != nil {
			t.Fatalf("Open of a View: %v", err)
		}
		wantState(t, g, f.State(), "opened from a View")
		if read(t, v, g); !bytes.Equal(shared, b) {
			t.Fatalf("queries of a filter from a View change the container")
		}
	}
}

// read calls all that reads a filter.
func read(t tb, v umbel.Kind, f umbel.Filter) {
	ds := slices.Concat(digests(1, 5), digests(2, 5), extreme)
	for _, d := range ds {
		f.Has(d)
		if c, ok := f.(umbel.Counter); ok {
			c.Count(d)
		}
		if l, ok := f.(umbel.Locator); ok {
			l.Locate(nil, d)
		}
	}
	umbel.HasAll(f, make([]bool, len(ds)), ds)
	if p, ok := f.(umbel.PositionLister); ok {
		for range p.Positions {
			continue
		}
	}
	fmt.Fprintf(io.Discard, "%v", f)
	s := f.State()
	if _, err := wire.Append(nil, s); err != nil {
		t.Errorf("the filter has no container: %v", err)
	}
	if _, err := delta.Append(nil, s, s); err != nil {
		t.Errorf("the filter has no delta: %v", err)
	}
	if m, ok := copyOf(t, v, f).(umbel.Merger); ok {
		_ = m.Merge(s) // some kinds merge with some filters only
	}
	all := reflect.ValueOf(f)
	for i := range all.NumMethod() {
		if m := all.Type().Method(i); m.Type.NumIn() == 1 && !slices.Contains(changing, m.Name) {
			m.Func.Call([]reflect.Value{all})
		}
	}
}

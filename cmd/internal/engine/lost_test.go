package engine_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/engine/operation"
	"github.com/umbel-filters/umbel/filter"
)

// A filter that lost data contains every key, accepts additions, and refuses all other changes.
func TestLostFilter(t *testing.T) {
	for _, kind := range []string{"bloom", "counting", "scalable", "window"} {
		e, j, _ := journaling(t)
		f := create(t, e, "f", kind, goal, nil)
		e.MarkLost(f.ID())
		before, bytes := j.Last(), f.Bytes()
		for _, n := range []int{1, 100, 5000} {
			ds, changed := digests(uint64(n), n), make([]bool, n)
			changed[0] = true
			taken, pos, err := f.Add(changed, ds)
			if err != nil || taken != n || slices.Contains(changed, true) || pos != j.Last() || pos == before {
				t.Errorf("%s: Add = %d, %d, %v; changed %v", kind, taken, pos, err, slices.Contains(changed, true))
			}
			before = pos
			if taken, pos, err = f.AddAbsent(changed, ds); err != nil || taken != n || slices.Contains(changed, true) || pos == before {
				t.Errorf("%s: AddAbsent = %d, %d, %v", kind, taken, pos, err)
			}
			before = pos
		}
		if has := make([]bool, 10); !f.Lost() || !f.Incomplete() || f.Bytes() != bytes {
			t.Errorf("%s: lost %v, incomplete %v, %d bytes, want %d", kind, f.Lost(), f.Incomplete(), f.Bytes(), bytes)
		} else if f.Has(has, digests(3, 10)); slices.Contains(has, false) {
			t.Errorf("%s: a key is absent", kind)
		}
		if rate := stats(t, f).FPRate; rate != 1 {
			t.Errorf("%s: rate %v, want 1", kind, rate)
		}
		if rate := measured(t, f.Measured).FPRate; rate != 1 {
			t.Errorf("%s: measured rate %v, want 1", kind, rate)
		}
		for what, change := range map[string]func() (engine.Position, error){
			"Clear": func() (engine.Position, error) { return f.Do(operation.Clear, umbel.Number{}) },
			"Merge": func() (engine.Position, error) { return f.Merge(umbel.State{Kind: kind}) },
			"Write": func() (engine.Position, error) { return f.Write(-1, 0, 0, make([]byte, 8), true) },
			"Copy":  func() (engine.Position, error) { return e.Copy([]byte("f"), []byte("g"), true) },
		} {
			if _, err := change(); !errors.Is(err, engine.ErrLost) || !errors.Is(err, engine.ErrIncomplete) {
				t.Errorf("%s: %s: %v, want ErrLost", kind, what, err)
			}
		}
		if !f.Lost() {
			t.Errorf("%s: it is whole again", kind)
		}
	}
}

// If the data of a filter reappears, the filter has the keys that were added meanwhile.
func TestLostFilterReappears(t *testing.T) {
	e, j, _ := journaling(t)
	f := create(t, e, "f", "bloom", goal, nil)
	f.Add(nil, digests(1, 100))
	e.MarkLost(f.ID())
	f.Add(nil, digests(1, 100)) // the cells have them already
	f.Add(nil, digests(2, 100))
	again := engine.New(engine.Options{Kinds: filter.All})
	for _, c := range j.behind(0) {
		if err := again.Apply(c); err != nil {
			t.Fatal(err)
		}
	}
	if err := again.FinishReplay(); err != nil {
		t.Fatal(err)
	}
	g, has := again.Get([]byte("f")), make([]bool, 100)
	if g.Lost() {
		t.Error("lost")
	}
	for seed := range uint64(2) {
		if g.Has(has, digests(seed+1, 100)); slices.Contains(has, false) {
			t.Errorf("keys %d: one is absent", seed+1)
		}
	}
}

// Filters that lost data are counted and listed until they are deleted or replaced. The mark is part of a
// copy, and changes of the cells that a log has are not applied.
func TestLostFiltersAreListed(t *testing.T) {
	e, _, _ := journaling(t)
	for _, name := range []string{"c", "b", "a", "whole"} {
		f := create(t, e, name, "bloom", goal, nil)
		if name != "whole" {
			e.MarkLost(f.ID())
		}
	}
	e.MarkLost(12345)
	want := func(n int, names ...string) {
		t.Helper()
		if got := e.LostNames(2); e.LostLen() != n || !slices.Equal(got, names) {
			t.Errorf("%d filters, %q; want %d, %q", e.LostLen(), got, n, names)
		}
	}
	want(3, "c", "b")
	if _, err := e.Rename([]byte("c"), []byte("d"), false); err != nil {
		t.Fatal(err)
	}
	want(3, "d", "b")
	if _, _, err := e.Delete([]byte("d")); err != nil {
		t.Fatal(err)
	}
	want(2, "b", "a")

	c := e.Get([]byte("b")).Capture()
	buf := make([]byte, engine.SegmentBytes)
	for _, b := c.Next(buf); b != nil; _, b = c.Next(buf) {
	}
	m, ok := c.End()
	if !ok || !m.Lost || !m.Incomplete {
		t.Fatalf("captured: %v, %+v", ok, m)
	}
	other := engine.New(engine.Options{Kinds: filter.All})
	if err := other.Restore(m, func(_ engine.Segment, dst []byte) error { clear(dst); return nil }); err != nil {
		t.Fatal(err)
	}
	for i, change := range []engine.Change{{Op: engine.OpFold, Number: 7}, {Op: engine.OpWrite, Last: true, Array: 9}, {Op: engine.OpClear}} {
		change.Filter, change.Position = m.ID, m.To+1+engine.Position(i)
		if err := other.Apply(change); err != nil {
			t.Errorf("%+v: %v", change, err)
		}
	}
	if err := other.FinishReplay(); err != nil || !other.Get([]byte("b")).Lost() || other.LostLen() != 1 {
		t.Errorf("restored: %v, %d filters lost data", err, other.LostLen())
	}

	if _, err := e.Flush(); err != nil {
		t.Fatal(err)
	}
	want(0)
}

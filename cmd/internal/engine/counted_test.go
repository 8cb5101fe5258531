package engine_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/filter"
)

// A counting filter counts every addition that the engine accepted, at every fill level, also
// immediately before it grows and if no memory is left for its growth. Its memory is accounted.
// Its journal yields the same filter.
func TestEveryAdditionCounts(t *testing.T) {
	width := func(bits uint64) umbel.Params { return umbel.Params{{Name: "width", Value: umbel.Uint(bits)}} }
	for _, c := range []struct {
		kind  string
		ps    umbel.Params
		limit uint64 // of memory, 0 for none
	}{
		{"counting", nil, 0},
		{"weighted-counting", nil, 0},
		{"dynamic", width(4), 0},
		{"dynamic", width(16), 0},
		{"dynamic", width(4), 3000},
		{"dynamic", width(16), 8000},
		{"folding", width(4), 0},
	} {
		for _, batch := range []int{1, 2, 7} {
			t.Run(fmt.Sprintf("%s of %d bits by %d within %d bytes", c.kind, c.ps.Uint("width"), batch, c.limit), func(t *testing.T) {
				everyAdditionCounts(t, c.kind, c.ps, c.limit, batch)
			})
		}
	}
}

func everyAdditionCounts(t *testing.T, kind string, ps umbel.Params, limit uint64, batch int) {
	e, j, _ := journaling(t)
	e.SetMaxMemory(limit)
	f := create(t, e, "f", kind, umbel.Goal{Keys: 100, FPRate: 1e-6}, ps)
	planes := func() (n uint64) {
		if err := f.View(func(g umbel.Filter) { n = g.State().Bytes() }); err != nil {
			t.Fatal(err)
		}
		return n
	}
	empty, own := planes(), f.Bytes()-planes()

	watched, fillers := digests(1, 40), digests(2, 400)
	times := make([]uint64, len(watched))
	refused := 0
	for i := range fillers {
		// A filler brings the filter to the next fill level; then present keys are added.
		if _, _, err := f.Add(nil, fillers[i:i+1]); err != nil {
			if refused++; !errors.Is(err, engine.ErrMemory) {
				t.Fatal(err)
			}
		}
		var ds []umbel.Digest
		for k := range batch {
			ds = append(ds, watched[(i+k/2)%len(watched)]) // some of them twice
		}
		n, _, err := f.Add(nil, ds)
		if err != nil && !errors.Is(err, engine.ErrMemory) {
			t.Fatal(err)
		}
		for k := range n {
			times[(i+k/2)%len(watched)]++
		}
		wantCounts(t, f, watched, times)
		if got := f.Bytes() - own; got != planes() {
			t.Fatalf("%d keys: %d bytes are accounted for planes of %d", i, got, planes())
		}
	}
	switch full := limit != 0; {
	case full && (refused == 0 || planes() != empty):
		t.Fatalf("%d fillers were refused, and the planes are %d bytes, %d when empty: the filter didn't meet the limit", refused, planes(), empty)
	case !full && kind == "dynamic" && planes() < 3*empty:
		t.Fatalf("planes of %d bytes, %d when empty: the filter didn't grow twice", planes(), empty)
	}

	for i, d := range watched {
		for times[i] > 1 {
			var removed [1]bool
			if _, err := f.Remove(removed[:], []umbel.Digest{d}); err != nil {
				t.Fatal(err)
			}
			if !removed[0] { // two parts may contain the digest
				break
			}
			times[i]--
		}
	}
	wantCounts(t, f, watched, times)

	again := engine.New(engine.Options{Kinds: filter.All})
	for _, change := range j.behind(0) {
		if err := again.Apply(change); err != nil {
			t.Fatal(err)
		}
	}
	if err := again.FinishReplay(); err != nil {
		t.Fatal(err)
	}
	if identify(t, again.Get([]byte("f"))) != identify(t, f) {
		t.Error("the journal makes another filter")
	}
}

// wantCounts fails unless f contains the digests with times above 0, and counts each at least that often.
func wantCounts(t *testing.T, f *engine.Filter, ds []umbel.Digest, times []uint64) {
	t.Helper()
	counts, has := make([]uint64, len(ds)), make([]bool, len(ds))
	if err := f.Count(counts, ds); err != nil {
		t.Fatal(err)
	}
	f.Has(has, ds)
	for i, n := range counts {
		if n < times[i] {
			t.Fatalf("digest %d counts %d times, and was added %d times", i, n, times[i])
		}
		if times[i] > 0 && !has[i] {
			t.Fatalf("digest %d isn't there, and was added %d times", i, times[i])
		}
	}
}

package umbel_test

import (
	"slices"
	"testing"

	"github.com/umbel-filters/umbel"
)

// exact is the simplest filter: a set with only the methods of Filter.
type exact map[umbel.Digest]bool

func (f exact) Add(d umbel.Digest) bool {
	fresh := !f[d]
	f[d] = true
	return fresh
}
func (f exact) Has(d umbel.Digest) bool { return f[d] }
func (f exact) Hasher() umbel.Hasher    { return umbel.Hasher{} }
func (f exact) Stats() umbel.Stats      { return umbel.Stats{Keys: float64(len(f))} }
func (f exact) State() umbel.State      { return umbel.State{Kind: "exact"} }

// batched is exact with its own batch methods, which it counts.
type batched struct {
	exact
	batches *int
}

func (f batched) HasAll(dst []bool, ds []umbel.Digest) { *f.batches++; umbel.HasAll(f.exact, dst, ds) }
func (f batched) AddAll(changed []bool, ds []umbel.Digest) {
	*f.batches++
	umbel.AddAll(f.exact, changed, ds)
}

func TestBatchesOfAnyFilter(t *testing.T) {
	a, b, c := umbel.Digest{H1: 1}, umbel.Digest{H1: 2}, umbel.Digest{H2: 1}
	batches := 0
	for name, f := range map[string]umbel.Filter{"without batches": exact{}, "with batches": batched{exact{}, &batches}} {
		t.Run(name, func(t *testing.T) {
			umbel.AddAll(f, nil, []umbel.Digest{a})
			changed := []bool{true, true, true, true}
			umbel.AddAll(f, changed, []umbel.Digest{a, b, b})
			if want := []bool{false, true, false, true}; !slices.Equal(changed, want) {
				t.Errorf("changed is %v, want %v", changed, want)
			}
			has := []bool{false, false, true, true}
			umbel.HasAll(f, has, []umbel.Digest{b, a, c})
			if want := []bool{true, true, false, true}; !slices.Equal(has, want) {
				t.Errorf("has is %v, want %v", has, want)
			}
			umbel.HasAll(f, nil, nil)
			umbel.AddAll(f, nil, nil)
		})
	}
	if batches != 5 {
		t.Errorf("%d batches went to the filter that takes them, want 5", batches)
	}
}

// TestBatchesPanicOnShortResults: a result slice that is too short panics before anything is
// added.
func TestBatchesPanicOnShortResults(t *testing.T) {
	f, ds := exact{}, make([]umbel.Digest, 3)
	for name, do := range map[string]func(){
		"HasAll": func() { umbel.HasAll(f, make([]bool, 2), ds) },
		"AddAll": func() { umbel.AddAll(f, make([]bool, 2), ds) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
				if len(f) != 0 {
					t.Errorf("%d digests were added", len(f))
				}
			}()
			do()
		})
	}
}

func TestBatchesDoNotAllocate(t *testing.T) {
	f := umbel.Filter(exact{})
	ds, results := make([]umbel.Digest, 100), make([]bool, 100)
	allocs := testing.AllocsPerRun(100, func() {
		umbel.AddAll(f, results, ds)
		umbel.AddAll(f, nil, ds)
		umbel.HasAll(f, results, ds)
	})
	if allocs != 0 {
		t.Errorf("%v allocations", allocs)
	}
}

package counting_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/filter/counting"
	"github.com/umbel-filters/umbel/internal/fixture"
)

// Each benchmark runs on a bloom filter and on counting filters with the same m, k and group,
// planned for one percent. Either all fit into the caches or none.
var benchKeys = []uint64{100_000, 100_000_000}

// forKinds runs a benchmark on half full filters, with present and absent digests.
func forKinds(b *testing.B, run func(b *testing.B, f umbel.Filter, hits, misses []umbel.Digest)) {
	for _, n := range benchKeys {
		if testing.Short() && n > 1_000_000 {
			continue
		}
		shape, err := counting.Plan(umbel.Goal{Keys: n, FPRate: 0.01})
		if err != nil {
			b.Fatal(err)
		}
		hits, misses := fixture.Digests(1, int(min(n, 1<<20))), fixture.Digests(2, 1<<20)
		on := func(name string, f umbel.Filter, err error) {
			if err != nil {
				b.Fatal(err)
			}
			halfFill(f.State().Arrays[0])
			umbel.AddAll(f, nil, hits)
			if name == "counting,view" {
				f.(*counting.Filter).View()
			}
			b.Run(fmt.Sprintf("%s/n=%d", name, n), func(b *testing.B) {
				b.ReportAllocs()
				run(b, f, hits, misses)
			})
		}
		plain, err := bloom.NewShape(shape.Bloom())
		on("bloom", plain, err)
		for _, width := range []uint{4, 8, 16} {
			shape.Width = width
			f, err := counting.NewShape(shape)
			on(fmt.Sprintf("counting,width=%d", width), f, err)
			if width == 4 {
				on("counting,view", f, nil)
			}
			if n > 1_000_000 {
				break
			}
		}
	}
}

// halfFill sets random cells, half of all, to 1. It takes less time than adding keys.
func halfFill(a cells.Array) {
	rng := rand.NewPCG(1, 2)
	ones := ^uint64(0) / a.Limit()
	for i := range a.Words {
		a.Words[i] = rng.Uint64() & ones
	}
	if used := a.Len * uint64(a.Width) % 64; used != 0 {
		a.Words[len(a.Words)-1] &= 1<<used - 1
	}
}

// each measures an operation on one digest at a time, in a cycle.
func each(b *testing.B, ds []umbel.Digest, op func(umbel.Digest) bool) {
	i := 0
	for b.Loop() {
		op(ds[i])
		if i++; i == len(ds) {
			i = 0
		}
	}
}

func BenchmarkHas(b *testing.B) {
	b.Run("hit", func(b *testing.B) {
		forKinds(b, func(b *testing.B, f umbel.Filter, hits, _ []umbel.Digest) { each(b, hits, f.Has) })
	})
	b.Run("miss", func(b *testing.B) {
		forKinds(b, func(b *testing.B, f umbel.Filter, _, misses []umbel.Digest) { each(b, misses, f.Has) })
	})
}

// Additions of present keys: new keys would fill the filter. Saturated counters do not
// matter.
func BenchmarkAdd(b *testing.B) {
	forKinds(b, func(b *testing.B, f umbel.Filter, hits, _ []umbel.Digest) { each(b, hits, f.Add) })
}

// Removals, next to additions to a bloom filter. When all keys are removed, they are added again
// with the clock stopped.
func BenchmarkRemove(b *testing.B) {
	forKinds(b, func(b *testing.B, f umbel.Filter, hits, _ []umbel.Digest) {
		r, ok := f.(umbel.Remover)
		if !ok {
			each(b, hits, f.Add)
			return
		}
		i := 0
		for b.Loop() {
			r.Remove(hits[i])
			if i++; i == len(hits) {
				i = 0
				b.StopTimer()
				umbel.AddAll(f, nil, hits)
				b.StartTimer()
			}
		}
		b.StopTimer()
		umbel.AddAll(f, nil, hits[:i])
	})
}

// batches measures an operation on 1024 digests at a time.
func batches(b *testing.B, ds []umbel.Digest, op func([]umbel.Digest)) {
	const size = 1024
	i := 0
	for b.Loop() {
		if i+size > len(ds) {
			i = 0
		}
		op(ds[i : i+size])
		i += size
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/size, "ns/key")
}

func BenchmarkHasAll(b *testing.B) {
	has := make([]bool, 1024)
	forKinds(b, func(b *testing.B, f umbel.Filter, hits, _ []umbel.Digest) {
		batches(b, hits, func(ds []umbel.Digest) { umbel.HasAll(f, has, ds) })
	})
}

func BenchmarkAddAll(b *testing.B) {
	forKinds(b, func(b *testing.B, f umbel.Filter, hits, _ []umbel.Digest) {
		batches(b, hits, func(ds []umbel.Digest) { umbel.AddAll(f, nil, ds) })
	})
}

package bloom_test

import (
	"fmt"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/internal/fixture"
)

// Filters that fit into the caches and filters that do not.
var benchKeys = []int{100_000, 10_000_000}

// forSizes runs a benchmark on half full filters of one percent, with present and absent
// digests.
func forSizes(b *testing.B, run func(b *testing.B, f *bloom.Filter, hits, misses []umbel.Digest)) {
	for _, n := range benchKeys {
		if testing.Short() && n > 1_000_000 {
			continue
		}
		shape, err := bloom.Plan(umbel.Goal{Keys: uint64(n), FPRate: 0.01})
		if err != nil {
			b.Fatal(err)
		}
		f := mustNew(b, shape)
		hits := fixture.Digests(1, n)
		f.AddAll(nil, hits)
		misses := fixture.Digests(2, 1<<20)
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) { run(b, f, hits, misses) })
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

// batch measures an operation on 1024 digests at once and reports the time per digest.
func batch(b *testing.B, ds []umbel.Digest, op func([]umbel.Digest)) {
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

func BenchmarkHas(b *testing.B) {
	b.Run("hit", func(b *testing.B) {
		forSizes(b, func(b *testing.B, f *bloom.Filter, hits, _ []umbel.Digest) { each(b, hits, f.Has) })
	})
	b.Run("miss", func(b *testing.B) {
		forSizes(b, func(b *testing.B, f *bloom.Filter, _, misses []umbel.Digest) { each(b, misses, f.Has) })
	})
}

func BenchmarkHasAll(b *testing.B) {
	has := make([]bool, 1024)
	b.Run("hit", func(b *testing.B) {
		forSizes(b, func(b *testing.B, f *bloom.Filter, hits, _ []umbel.Digest) {
			batch(b, hits, func(ds []umbel.Digest) { f.HasAll(has, ds) })
		})
	})
	b.Run("miss", func(b *testing.B) {
		forSizes(b, func(b *testing.B, f *bloom.Filter, _, misses []umbel.Digest) {
			batch(b, misses, func(ds []umbel.Digest) { f.HasAll(has, ds) })
		})
	})
}

// Additions of present keys: new keys would fill the filter.
func BenchmarkAdd(b *testing.B) {
	b.Run("plain", func(b *testing.B) {
		forSizes(b, func(b *testing.B, f *bloom.Filter, hits, _ []umbel.Digest) { each(b, hits, f.Add) })
	})
	b.Run("atomic", func(b *testing.B) {
		forSizes(b, func(b *testing.B, f *bloom.Filter, hits, _ []umbel.Digest) { each(b, hits, f.AddAtomic) })
	})
}

func BenchmarkAddAll(b *testing.B) {
	b.Run("plain", func(b *testing.B) {
		forSizes(b, func(b *testing.B, f *bloom.Filter, hits, _ []umbel.Digest) {
			batch(b, hits, func(ds []umbel.Digest) { f.AddAll(nil, ds) })
		})
	})
	b.Run("atomic", func(b *testing.B) {
		forSizes(b, func(b *testing.B, f *bloom.Filter, hits, _ []umbel.Digest) { batch(b, hits, f.AddAllAtomic) })
	})
}

// Additions of new keys to a filter that is cleared each time.
func BenchmarkFill(b *testing.B) {
	shape, err := bloom.Plan(umbel.Goal{Keys: 100_000, FPRate: 0.01})
	if err != nil {
		b.Fatal(err)
	}
	f, ds := mustNew(b, shape), fixture.Digests(1, 100_000)
	for name, fill := range map[string]func(){
		"AddAll":       func() { f.AddAll(nil, ds) },
		"AddAllAtomic": func() { f.AddAllAtomic(ds) },
	} {
		b.Run(fmt.Sprintf("%s/n=%d", name, len(ds)), func(b *testing.B) {
			for b.Loop() {
				f.Clear()
				fill()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(ds)), "ns/key")
		})
	}
}

func BenchmarkFold(b *testing.B) {
	full := filled(b, bloom.Shape{M: 64 * 5040 * 100, K: 7, Group: 6}, 1, 1_000_000)
	for _, r := range []uint64{2, 3, 8, 60} {
		b.Run(fmt.Sprintf("r=%d/m=%d", r, full.Shape().M), func(b *testing.B) {
			b.SetBytes(int64(full.Stats().Bytes))
			for b.Loop() {
				f, _ := bloom.Open(full.State())
				if err := f.Fold(r); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkMerge(b *testing.B) {
	shape := bloom.Shape{M: 64 * 5040 * 100, K: 7, Group: 6}
	f, s := filled(b, shape, 1, 1_000_000), filled(b, shape, 2, 1_000_000).State()
	b.Run(fmt.Sprintf("m=%d", shape.M), func(b *testing.B) {
		b.SetBytes(int64(f.Stats().Bytes))
		for b.Loop() {
			if err := f.Merge(s); err != nil {
				b.Fatal(err)
			}
		}
	})
}

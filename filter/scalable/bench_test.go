package scalable_test

import (
	"fmt"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/filter/scalable"
	"github.com/umbel-filters/umbel/internal/fixture"
)

// compare runs a benchmark on a scalable filter that has grown to 100 times its first capacity,
// and on the Bloom filter planned for as many keys.
func compare(b *testing.B, run func(b *testing.B, f umbel.Filter, hits, misses []umbel.Digest)) {
	for _, n := range []int{100_000, 10_000_000} {
		if testing.Short() && n > 1_000_000 {
			continue
		}
		hits, misses := fixture.Digests(1, n), fixture.Digests(2, 1<<20)
		shape, err := scalable.Plan(umbel.Goal{Keys: uint64(n) / 100, FPRate: 0.01})
		if err != nil {
			b.Fatal(err)
		}
		grown, err := scalable.NewShape(shape)
		if err != nil {
			b.Fatal(err)
		}
		right, err := bloom.Plan(umbel.Goal{Keys: uint64(n), FPRate: 0.01})
		if err != nil {
			b.Fatal(err)
		}
		planned, err := bloom.NewShape(right)
		if err != nil {
			b.Fatal(err)
		}
		for _, f := range []umbel.Filter{planned, grown} {
			umbel.AddAll(f, nil, hits)
			b.Run(fmt.Sprintf("%s/n=%d", f.State().Kind, n), func(b *testing.B) { run(b, f, hits, misses) })
		}
	}
}

func each(b *testing.B, ds []umbel.Digest, op func(umbel.Digest) bool) {
	i := 0
	for b.Loop() {
		op(ds[i])
		if i++; i == len(ds) {
			i = 0
		}
	}
}

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
		compare(b, func(b *testing.B, f umbel.Filter, hits, _ []umbel.Digest) { each(b, hits, f.Has) })
	})
	b.Run("miss", func(b *testing.B) {
		compare(b, func(b *testing.B, f umbel.Filter, _, misses []umbel.Digest) { each(b, misses, f.Has) })
	})
}

func BenchmarkHasAll(b *testing.B) {
	has := make([]bool, 1024)
	b.Run("hit", func(b *testing.B) {
		compare(b, func(b *testing.B, f umbel.Filter, hits, _ []umbel.Digest) {
			batch(b, hits, func(ds []umbel.Digest) { umbel.HasAll(f, has, ds) })
		})
	})
	b.Run("miss", func(b *testing.B) {
		compare(b, func(b *testing.B, f umbel.Filter, _, misses []umbel.Digest) {
			batch(b, misses, func(ds []umbel.Digest) { umbel.HasAll(f, has, ds) })
		})
	})
}

// Additions of present keys, which do the same as queries.
func BenchmarkAddAll(b *testing.B) {
	compare(b, func(b *testing.B, f umbel.Filter, hits, _ []umbel.Digest) {
		batch(b, hits, func(ds []umbel.Digest) { umbel.AddAll(f, nil, ds) })
	})
}

// Additions of new keys from the first to the last layer.
func BenchmarkFill(b *testing.B) {
	const n = 100_000
	ds := fixture.Digests(1, n)
	shape, err := scalable.Plan(umbel.Goal{Keys: n / 100, FPRate: 0.01})
	if err != nil {
		b.Fatal(err)
	}
	f, err := scalable.NewShape(shape)
	if err != nil {
		b.Fatal(err)
	}
	for name, fill := range map[string]func(){
		"Add": func() {
			for _, d := range ds {
				f.Add(d)
			}
		},
		"AddAll": func() { f.AddAll(nil, ds) },
	} {
		b.Run(fmt.Sprintf("%s/n=%d", name, n), func(b *testing.B) {
			for b.Loop() {
				f.Clear()
				fill()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/key")
		})
	}
}

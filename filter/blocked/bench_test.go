package blocked

import (
	"fmt"
	"testing"

	"github.com/umbel-filters/umbel"
)

// Sizes: in the second-level cache, and beyond all caches.
func benchmark(b *testing.B, op func(b *testing.B, f *Filter, in, out []umbel.Digest)) {
	for _, n := range []int{100_000, 100_000_000} {
		for _, s := range [][2]int{{3, 2}, {4, 2}, {5, 2}} {
			b.Run(fmt.Sprintf("%dx%d/n=%d", s[0], s[1], n), func(b *testing.B) {
				if n > 1_000_000 && testing.Short() {
					b.Skip("takes 150 MB")
				}
				f := newFilter(b, uint64(n)*11/BlockBits, s[0], s[1])
				r := newRand(7)
				for left := n; left > 0; left -= 100_000 {
					f.AddAll(nil, digests(r, 100_000))
				}
				q := min(n, 2_000_000)
				in, out := digests(r, q), digests(r, q)
				f.AddAll(nil, in)
				op(b, f, in, out)
			})
		}
	}
}

// batchSize keys are used at a time, also when they are queried one by one.
const batchSize = 1000

func each(b *testing.B, name string, ds []umbel.Digest, do func(ds []umbel.Digest)) {
	b.Run(name, func(b *testing.B) {
		i := 0
		for b.Loop() {
			do(ds[i : i+batchSize])
			if i += batchSize; i+batchSize > len(ds) {
				i = 0
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/batchSize, "ns/key")
	})
}

func BenchmarkOneByOne(b *testing.B) {
	benchmark(b, func(b *testing.B, f *Filter, in, out []umbel.Digest) {
		yes := 0
		has := func(ds []umbel.Digest) {
			for _, d := range ds {
				if f.Has(d) {
					yes++
				}
			}
		}
		each(b, "hit", in, has)
		each(b, "miss", out, has)
		each(b, "add", in, func(ds []umbel.Digest) {
			for _, d := range ds {
				f.Add(d)
			}
		})
		each(b, "atomic", in, func(ds []umbel.Digest) {
			for _, d := range ds {
				f.AddAtomic(d)
			}
		})
	})
}

// BenchmarkBatch also measures prefetches alone, which show the limit of the memory.
func BenchmarkBatch(b *testing.B) {
	benchmark(b, func(b *testing.B, f *Filter, in, out []umbel.Digest) {
		dst := make([]bool, batchSize)
		each(b, "hit", in, func(ds []umbel.Digest) { f.HasAll(dst, ds) })
		each(b, "miss", out, func(ds []umbel.Digest) { f.HasAll(dst, ds) })
		each(b, "add", in, func(ds []umbel.Digest) { f.AddAll(nil, ds) })
		each(b, "changed", in, func(ds []umbel.Digest) { f.AddAll(dst, ds) })
		each(b, "atomic", in, func(ds []umbel.Digest) { f.AddAllAtomic(ds) })
		each(b, "prefetch", in, func(ds []umbel.Digest) { prefetchMany(&f.blocks, ds) })
	})
}

// Filters of 512 KiB and, without -short, of 256 MiB. Their words are random, since the time doesn't depend on
// them.
func BenchmarkStats(b *testing.B) {
	for _, blocks := range []uint64{1 << 13, 1 << 22} {
		if blocks > 1<<13 && testing.Short() {
			continue
		}
		for _, s := range [][2]int{{3, 2}, {4, 2}, {5, 2}, {8, 1}} {
			f, r := newFilter(b, blocks, s[0], s[1]), newRand(8)
			for i := range f.cells.Words {
				f.cells.Words[i] = r.Uint64()
			}
			b.Run(fmt.Sprintf("%dx%d/m=%d", s[0], s[1], f.shape.M), func(b *testing.B) {
				b.SetBytes(int64(f.cells.Bytes()))
				for b.Loop() {
					f.Stats()
				}
			})
		}
	}
}

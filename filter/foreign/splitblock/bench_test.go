package splitblock

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/umbel-filters/umbel"
)

// BenchmarkFilter uses filters of 10.5 bits per key, 1 %: in cache, and beyond most caches. An
// operation is a batch of 1024 keys.
func BenchmarkFilter(b *testing.B) {
	for _, n := range []uint64{1e5, 1e7} {
		f := testFilter(b, (n*21/2+BlockBits-1)/BlockBits)
		r := rand.New(rand.NewPCG(n, 0))
		for range n {
			f.Add(umbel.Digest{H1: r.Uint64()})
		}
		const batch = 1024
		ds := make([]umbel.Digest, 256*batch)
		for i := range ds {
			ds[i] = umbel.Digest{H1: r.Uint64()}
		}
		dst := make([]bool, batch)
		many := func(op string, do func([]umbel.Digest)) {
			b.Run(fmt.Sprintf("%s/splitblock/n=%d", op, n), func(b *testing.B) {
				for i := 0; b.Loop(); i += batch {
					do(ds[i%len(ds):][:batch])
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/batch, "ns/key")
			})
		}
		many("has", func(ds []umbel.Digest) {
			for _, d := range ds {
				f.Has(d)
			}
		})
		many("add", func(ds []umbel.Digest) {
			for _, d := range ds {
				f.Add(d)
			}
		})
		many("addatomic", func(ds []umbel.Digest) {
			for _, d := range ds {
				f.AddAtomic(d)
			}
		})
		many("hasall", func(ds []umbel.Digest) { f.HasAll(dst, ds) })
		many("addall", func(ds []umbel.Digest) { f.AddAll(nil, ds) })
		many("addallatomic", func(ds []umbel.Digest) { f.AddAllAtomic(ds) })
	}
}

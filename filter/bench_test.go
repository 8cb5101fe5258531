package filter_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter"
)

// BenchmarkHas compares all kinds at 1 %, in cache and beyond the nearer caches. An operation is
// 1000 keys, singly or as a batch.
func BenchmarkHas(b *testing.B) {
	for _, n := range []int{1e4, 1e6} {
		in, out := digests(1, n), digests(2, 1<<20)
		goal := umbel.Goal{Keys: uint64(n), FPRate: 0.01}
		for _, kind := range []string{"bloom", "blocked", "ribbon"} {
			v, err := filter.All.Find(kind)
			if err != nil {
				b.Fatal(err)
			}
			f, err := v.New(goal, nil)
			if err != nil {
				b.Fatal(err)
			}
			umbel.AddAll(f, nil, in)
			if s, ok := f.(umbel.Sealer); ok {
				if err := s.Seal(); err != nil {
					b.Fatal(err)
				}
			}
			const batch = 1000
			dst := make([]bool, batch)
			each := func(op string, ds []umbel.Digest, do func(ds []umbel.Digest)) {
				b.Run(fmt.Sprintf("%s/%s/n=%d", op, v.Name, n), func(b *testing.B) {
					i := 0
					for b.Loop() {
						do(ds[i:][:batch])
						if i += batch; i+batch > len(ds) {
							i = 0
						}
					}
					b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/batch, "ns/key")
				})
			}
			one := func(ds []umbel.Digest) {
				for i, d := range ds {
					dst[i] = f.Has(d)
				}
			}
			all := func(ds []umbel.Digest) { umbel.HasAll(f, dst, ds) }
			each("hit", in, one)
			each("miss", out, one)
			each("hitall", in, all)
			each("missall", out, all)
		}
	}
}

func digests(seed uint64, n int) []umbel.Digest {
	r := rand.New(rand.NewPCG(seed, 0))
	ds := make([]umbel.Digest, n)
	for i := range ds {
		ds[i] = umbel.Digest{H1: r.Uint64(), H2: r.Uint64()}
	}
	return ds
}

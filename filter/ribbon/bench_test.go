package ribbon

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/umbel-filters/umbel"
)

// BenchmarkMake measures the time per key to add keys and to seal the filter.
func BenchmarkMake(b *testing.B) {
	for _, n := range []int{1e4, 1e6} {
		ds := digests(1, n)
		for _, steps := range []int{850, 1700, 5100} {
			f, err := NewShape(Shape{Steps: steps})
			if err != nil {
				b.Fatal(err)
			}
			run := func(op string, prepare, do func()) {
				b.Run(fmt.Sprintf("%s/steps=%d/n=%d", op, steps, n), func(b *testing.B) {
					for b.Loop() {
						b.StopTimer()
						prepare()
						b.StartTimer()
						do()
					}
					b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/key")
				})
			}
			add := func() { umbel.AddAll(f, nil, ds) }
			run("add", f.Clear, add)
			run("seal", func() { f.Clear(); add() }, func() {
				if err := f.Seal(); err != nil {
					b.Fatal(err)
				}
			})
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

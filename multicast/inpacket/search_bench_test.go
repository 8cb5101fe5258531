package inpacket

import (
	"math/rand/v2"
	"testing"
)

// BenchmarkSearch uses trees with about 30 links and 95 adjacent ones, and with about 36 and
// 330.
func BenchmarkSearch(b *testing.B) {
	for _, size := range []struct {
		name        string
		nodes, more int
	}{{"small", 104, 50}, {"large", 315, 660}} {
		r := rand.New(rand.NewPCG(1, 2))
		n := randomNetwork(r, size.nodes, size.more)
		work := make([]Task, 16)
		for i := range work {
			work[i] = n.task(r, 16)
		}
		for _, form := range searched {
			b.Run(form.name+"/"+size.name, func(b *testing.B) {
				b.ReportAllocs()
				i, bits := 0, 0
				for b.Loop() {
					f, err := Search(work[i%len(work)], Options{Forms: []Form{form.form}})
					if err != nil {
						b.Fatal(err)
					}
					bits += f.Cost()
					i++
				}
				b.ReportMetric(float64(bits)/float64(i), "bits")
			})
		}
	}
}

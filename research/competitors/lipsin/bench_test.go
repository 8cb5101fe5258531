package lipsin

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/umbel-filters/umbel/multicast/inpacket"
)

// BenchmarkChoose uses trees to 8, 16 and 32 receivers in networks of a hundred nodes.
func BenchmarkChoose(b *testing.B) {
	for _, size := range []struct{ tree, others int }{{18, 60}, {29, 100}, {45, 150}} {
		b.Run(fmt.Sprintf("tree=%d/others=%d", size.tree, size.others), func(b *testing.B) {
			d := LIPSIN()
			r := rand.New(rand.NewPCG(1, 2))
			tree, others := links(d, codewords(r, size.tree)), links(d, codewords(r, size.others))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := d.Choose(tree, others); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkCodewords(b *testing.B) {
	d := LIPSIN()
	b.ReportAllocs()
	for b.Loop() {
		d.Codewords(inpacket.Codeword{H1: 1, H2: 2})
	}
}

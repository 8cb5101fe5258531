package compressed

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// A trial of each of the paper's designs.
func BenchmarkTrial(b *testing.B) {
	for _, d := range []design{{14, 2}, {48, 3}, {7, 1}, {12.6, 2}} {
		b.Run(fmt.Sprintf("filter/m=%d/k=%g", d.cells(keys), d.k), func(b *testing.B) {
			one, err := filters(d).Worker()
			if err != nil {
				b.Fatal(err)
			}
			r, out := rand.NewChaCha8([32]byte{}), make([]int64, 4)
			for b.Loop() {
				if err := one(r, out); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

package compressed

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/umbel-filters/umbel/research/papers/internal/trial"
)

// A trial of each of the paper's designs, and of the delta of Table VI.
func BenchmarkTrial(b *testing.B) {
	delta := design{32, 2}
	sims := []trial.Simulation{deltas(delta, 0.05), deltasByBits(delta, 0.05)}
	for _, s := range simulations {
		sims = append(sims, filters(s.design), filtersByBits(s.design))
	}
	for _, sim := range sims {
		b.Run(strings.ReplaceAll(strings.TrimPrefix(sim.Name, "004 "), " ", "/"), func(b *testing.B) {
			one, err := sim.Worker()
			if err != nil {
				b.Fatal(err)
			}
			r, out := rand.NewChaCha8([32]byte{}), make([]int64, len(sim.Values))
			for b.Loop() {
				if err := one(r, out); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

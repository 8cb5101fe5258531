package delta_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/internal/fixture"
)

// The bounds of the next test, in bytes: of a delta that codes the changes as one run, and of each further run.
const (
	overEntropy = 32
	furtherRun  = 6
)

// TestShortToTheEntropy: a delta between filters of one array of bits takes at most 32 bytes more than
// log2 C(ones, gone) + log2 C(zeros, come) bits, which every code for the changes takes on average. If the array has so many
// blocks that they are coded in two or three runs, each further run takes up to 10 bytes.
func TestShortToTheEntropy(t *testing.T) {
	rng := rand.New(rand.NewPCG(35, 6))
	for _, shape := range []struct {
		perKey float64
		k      int
	}{{9.6, 7}, {32, 2}, {99.5, 1}} {
		for _, n := range []int{100, 1000, 10_000, 100_000} {
			for _, churn := range []float64{0.001, 0.01, 0.05, 0.2} {
				m, changed := uint64(shape.perKey*float64(n)), int(math.Ceil(churn*float64(n)))
				base, result := fixture.Must(cells.New(m, 1)), fixture.Must(cells.New(m, 1))
				for i := range n + changed {
					for range shape.k {
						at := rng.Uint64N(m)
						if i < n {
							base.SetBit(at)
						}
						if i >= changed {
							result.SetBit(at)
						}
					}
				}
				var ones, gone, come uint64
				for i := range m {
					switch was, is := base.Bit(i), result.Bit(i); {
					case was && !is:
						ones, gone = ones+1, gone+1
					case was:
						ones++
					case is:
						come++
					}
				}
				state := func(a cells.Array) umbel.State {
					return umbel.State{Kind: "bloom", Params: umbel.Params{{Name: "k", Value: umbel.Uint(7)}, {Name: "group", Value: umbel.Uint(0)}}, Arrays: []cells.Array{a}}
				}
				message := mustDelta(t, state(base), state(result))
				over := float64(len(message)) - (choices(float64(ones), float64(gone))+choices(float64(m-ones), float64(come)))/8
				t.Logf("%d keys, k %d, %g of them replaced: %d bytes, %.1f over the entropy", n, shape.k, churn, len(message), over)
				most := overEntropy
				if blocks := m >> 19; blocks > 2 {
					most += furtherRun * int(1+blocks/16)
				}
				if over > float64(most) {
					t.Errorf("%d keys, k %d, %g of them replaced: %d bytes are %.1f over the entropy, want at most %d",
						n, shape.k, churn, len(message), over, most)
				}
			}
		}
	}
}

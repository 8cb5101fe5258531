package adaptive

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/umbel-filters/umbel/multicast/inpacket"
)

// measured returns the fraction of links outside a filter of n links, cut to m_n, that match,
// and its standard error, over the given number of filters.
func measured(t testing.TB, d *Design, n, filters, questions int) (mean, sigma float64) {
	t.Helper()
	s, err := d.Sampler()
	if err != nil {
		t.Fatal(err)
	}
	m, _ := d.Truncate(n)
	words := (m + 63) / 64
	last := uint64(1)<<((m-1)&63)<<1 - 1
	rng := rand.NewPCG(2026, uint64(n))
	draw := func(dst []uint64) []uint64 {
		return s.AppendCodeword(dst[:0], inpacket.Codeword{H1: rng.Uint64(), H2: rng.Uint64()}, int(rng.Uint64()>>48))
	}
	filter, w := make([]uint64, words), []uint64(nil)
	var sum, squares float64
	for range filters {
		clear(filter)
		for range n {
			w = draw(w)
			for i := range filter {
				filter[i] |= w[i]
			}
		}
		yes := 0
		for range questions {
			w = draw(w)
			w[words-1] &= last
			missing := uint64(0)
			for i, f := range filter {
				missing |= w[i] &^ f
			}
			if missing == 0 {
				yes++
			}
		}
		r := float64(yes) / float64(questions)
		sum += r
		squares += r * r
	}
	mean = sum / float64(filters)
	return mean, math.Sqrt((squares/float64(filters) - mean*mean) / float64(filters-1))
}

// upToLinks returns the design cut to filters of up to n links, with the odds of the remaining
// positions unchanged. It is faster to draw from.
func (d *Design) upToLinks(n int) *Design {
	cut := *d
	cut.Ends, cut.Runs, cut.Weights = d.Ends[:n], nil, nil
	d.upTo(cut.Bits(), func(r Run) { cut.Runs = append(cut.Runs, r) })
	return &cut
}

func mustOptimum(t testing.TB, r Requirements) *Design {
	t.Helper()
	d, err := Optimum(r)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestTheorems compares theorems 1 and 2 with filters, without a second draw as in the paper,
// and with one. Theorem 2 is exact; the others may differ by the stated relative error.
func TestTheorems(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes seconds")
	}
	uniform := Requirements{Rate: 0.1, Weights: Uniform(200)}
	hashed := uniform
	hashed.Objective = Hashed
	for _, c := range []struct {
		name string
		d    *Design
		off  float64 // relative error that the formula may have
	}{
		{"theorem 2/heuristic", mustHeuristic(t, 200, 0.1), 0},
		{"theorem 2/optimum", mustOptimum(t, uniform), 0},
		{"theorem 1/optimum", mustOptimum(t, hashed), 0.01},
	} {
		for _, n := range []int{1, 2, 5, 20, 100, 200} {
			for _, again := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s/i=%d,again=%v", c.name, n, again), func(t *testing.T) {
					d, off := c.d.upToLinks(n), c.off
					want := c.d.FPRate(n)
					if !again {
						d.Least = 0
					} else {
						want, off = c.d.RedrawnFPRate(n), 0.01+1.2/float64(d.Ends[n-1])
					}
					filters := 60000 / (n + 20)
					got, sigma := measured(t, d, n, filters, 100)
					t.Logf("measured %.5f ± %.5f, formula %.5f: %+.1f sigma, %+.2f %%", got, sigma, want, (got-want)/sigma, 100*(got/want-1))
					if math.Abs(got-want) > 3*sigma+off*want {
						t.Errorf("rate %.5f ± %.5f, want %.5f", got, sigma, want)
					}
				})
			}
		}
	}
}

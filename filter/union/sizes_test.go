package union_test

import (
	"math"
	"testing"

	"github.com/umbel-filters/umbel/internal/fixture"
	"github.com/umbel-filters/umbel/plan"
)

// ladder is a set of sizes: each of the factors times a power of two.
type ladder []uint64

// atLeast returns the smallest size of the ladder that is at least m.
func (l ladder) atLeast(m uint64) uint64 {
	best := uint64(math.MaxUint64)
	for _, f := range l {
		for f < m {
			f *= 2
		}
		best = min(best, f)
	}
	return best
}

// Filters whose sizes are rounded up to a ladder do not merge well either. For numbers of keys
// over a factor of two, planned for 1 %, the test computes the additional memory of each ladder, the
// rate that a filter then has, and the rate after filters of equal and of neighboring sizes
// are joined at the greatest common divisor. With -v it prints the table of docs/decisions/filters.md.
func TestLaddersOfSizes(t *testing.T) {
	const p, from, steps = 0.01, 100_000, 200
	for _, c := range []struct {
		name         string
		sizes        ladder
		memory, most float64 // additional memory, mean and maximum
		// Rates: of one filter, joined with one of equal size, and with one of the next size on
		// average and at most.
		alone, equal, neighbor, worst float64
	}{
		{"{4,5,6,7}·2^a", ladder{4, 5, 6, 7}, 0.10, 0.25, 0.0067, 0.119, 0.99, 1},
		{"{2,3}·2^a", ladder{2, 3}, 0.20, 0.50, 0.0048, 0.092, 0.83, 0.96},
		{"2^a", ladder{1}, 0.44, 0.99, 0.0028, 0.059, 0.21, 0.43},
	} {
		var memory, most, alone, equal, neighbor, worst float64
		for i := range steps {
			n := uint64(from * math.Exp2((float64(i)+0.5)/steps))
			s, err := plan.Size(n, p)
			if err != nil {
				t.Fatal(err)
			}
			least, k := s.M, s.K
			m := c.sizes.atLeast(least)
			next := c.sizes.atLeast(m + 1)
			more := float64(m)/float64(least) - 1
			other := n * next / m // with the next size, as full
			joined := plan.Filter{M: gcd(m, next), K: k}.FPRate(n + other)
			memory += more / steps
			most = max(most, more)
			alone += plan.Filter{M: m, K: k}.FPRate(n) / steps
			equal += plan.Filter{M: m, K: k}.FPRate(2*n) / steps
			neighbor += joined / steps
			worst = max(worst, joined)
		}
		t.Logf("%-14s memory +%.0f %%, at most +%.0f %%; rate %.2f %%, two of equal size %.1f %%, neighbors %.0f %%, at most %.0f %%",
			c.name, 100*memory, 100*most, 100*alone, 100*equal, 100*neighbor, 100*worst)
		for i, pair := range [][2]float64{{memory, c.memory}, {most, c.most}, {alone, c.alone}, {equal, c.equal}, {neighbor, c.neighbor}, {worst, c.worst}} {
			if !fixture.Near(pair[0], pair[1], 0.05) {
				t.Errorf("%s, number %d: %.4f, want %.4f", c.name, i, pair[0], pair[1])
			}
		}
	}
	// Side by side, two filters with 1 % have 2 % and their own memory, regardless of their sizes.
	if got := plan.CompoundFPRate(p, p); !fixture.Near(got, 0.0199, 0.001) {
		t.Errorf("side by side: %.4f, want 0.0199", got)
	}
}

func gcd(a, b uint64) uint64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

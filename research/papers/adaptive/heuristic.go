package adaptive

import (
	"math/bits"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/internal/sentinel"
	"github.com/umbel-filters/umbel/internal/truncated"
	"github.com/umbel-filters/umbel/multicast/adaptive"
)

// heuristic returns the design of the paper's closed formula for up to n links at a
// rate, equations (17) to (19). The positions that filters of i links have and smaller
// ones lack are set with probability 1/(i+1), which is best for filters of i links and
// for no others. Codewords are redrawn as [adaptive.Design.ChooseLeast] decides; with
// Least = 0 the design is the paper's.
//
// The formula ignores the frequencies of the sizes. For equally frequent sizes it is
// worse than a filter of fixed length: the mean of 1 to 200 links at a rate of 0.1 is
// 1032 bits, and a plain filter for 200 links has 963.
//
// It returns an error wrapping [umbel.ErrGoal] if n is outside 1 to [adaptive.MaxLinks],
// the rate is not inside (0, 1), or codewords would have more than [adaptive.MaxBits]
// positions.
func heuristic(n int, rate float64) (*adaptive.Design, error) {
	if err := checkGoal(n, rate); err != nil {
		return nil, err
	}
	q := make([]float64, n)
	for i := range q {
		q[i] = 1 / float64(i+2)
	}
	d := &adaptive.Design{Method: adaptive.ByFormula, Rate: rate}
	m := 0
	for i, l := range (truncated.Problem{Rate: rate}).Forward(q, true) {
		odds, _ := bits.Div64(1, 0, uint64(i+2))
		positions := int(min(l, adaptive.MaxBits+1))
		m = min(m+positions, adaptive.MaxBits+1)
		d.Ends = append(d.Ends, m)
		d.Runs = adaptive.AppendRun(d.Runs, adaptive.Run{Positions: positions, Odds: odds})
	}
	if err := d.ChooseLeast(); err != nil {
		return nil, err
	}
	return d, nil
}

// relax returns the optimum whose lengths need not be whole numbers, and the bound that
// proves it optimal. It returns the error of [adaptive.Requirements.Check].
func relax(r adaptive.Requirements) (truncated.Relaxed, error) {
	if err := r.Check(); err != nil {
		return truncated.Relaxed{}, err
	}
	g := truncated.Goal{Hashed: r.Objective == adaptive.Hashed, K: r.K, MaxK: adaptive.MaxK, Rate: r.Rate, Tails: r.Weights.Tails()}
	return g.Solve(false), nil
}

// checkGoal returns an error wrapping [umbel.ErrGoal] if no design exists for n links at
// the rate.
func checkGoal(n int, rate float64) error {
	if n < 1 || n > adaptive.MaxLinks {
		return sentinel.Errorf(umbel.ErrGoal, "%d links, want 1 to %d", n, adaptive.MaxLinks)
	}
	if !(rate > 0 && rate < 1) {
		return sentinel.Errorf(umbel.ErrGoal, "rate %v, want a fraction between 0 and 1", rate)
	}
	return nil
}

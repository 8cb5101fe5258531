package adaptive

import "math/bits"

// Heuristic returns the design of the paper's closed formula for up to n links at a
// rate, equations (17) to (19): the positions that filters of i links have and smaller
// ones lack are set with odds of 1/(i+1), which is best for filters of i links and for
// no others. Codewords are redrawn as [Design.Least] says; set that to 0 for the paper's.
//
// It takes no notice of how often there are how many links, and for sizes that are all
// as frequent it is worse than not adapting at all: 1032 bits in the mean of 1 to 200
// links at a rate of 0.1, where a plain filter made for 200 has 963.
//
// The error wraps [umbel.ErrGoal] if n is outside 1 to [MaxLinks], the rate isn't
// inside (0, 1), or codewords would have more than [MaxBits] positions.
func Heuristic(n int, rate float64) (*Design, error) {
	if err := checkGoal(n, rate); err != nil {
		return nil, err
	}
	p := problem{objective: Independent, rate: rate}
	q, odds := make([]float64, n), make([]uint64, n)
	for i := range q {
		q[i] = 1 / float64(i+2)
		odds[i], _ = bits.Div64(1, 0, uint64(i+2))
	}
	d := p.design(ByFormula, p.forward(q, true), odds)
	if err := d.finish(); err != nil {
		return nil, err
	}
	return d, nil
}

// design puts blocks of whole lengths together.
func (p problem) design(by Method, lengths []float64, odds []uint64) *Design {
	d := &Design{Objective: p.objective, K: int(p.k), Method: by, Rate: p.rate}
	m := 0
	for t, l := range lengths {
		m += int(min(l, MaxBits+1))
		d.Ends = append(d.Ends, min(m, MaxBits+1))
		d.Runs = appendRun(d.Runs, int(min(l, MaxBits+1)), odds[t])
	}
	return d
}

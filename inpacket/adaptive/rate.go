package adaptive

import (
	"iter"
	"math"
)

// problem is one of the paper's two: what a position does for a filter, and how much
// has to be done. The rate with i links is at most the one wanted if the gains of all
// positions up to m_i come to need.
type problem struct {
	objective Objective
	k         float64
	rate      float64
}

// gain returns what a position does for a filter of i links. Independent: q is the
// chance that it is set, and the gain -ln(1-q(1-q)^i), the logarithm of a factor of
// equation (8). Hashed: q is the chance that one of the draws falls there, and the gain
// q(1-q)^(ik), a term of equation (3).
func (p problem) gain(q float64, i int) float64 {
	return p.gainAt(q, p.zero(q, i))
}

// zero returns the chance that i links leave a position zero.
func (p problem) zero(q float64, i int) float64 {
	return math.Exp(max(1, p.k) * float64(i) * math.Log1p(-q))
}

// gainAt returns the gain by the chance that a filter leaves the position zero.
func (p problem) gainAt(q, zero float64) float64 {
	if p.objective == Hashed {
		return q * zero
	}
	return -math.Log1p(-q * zero)
}

// need returns the gain that each filter needs: ln 1/f, or 1-f^(1/k).
func (p problem) need() float64 {
	if p.objective == Hashed {
		return -math.Expm1(math.Log(p.rate) / p.k)
	}
	return -math.Log(p.rate)
}

// rateOf returns the rate at a gain.
func (p problem) rateOf(gain float64) float64 {
	if p.objective == Hashed {
		return math.Pow(max(0, 1-gain), p.k)
	}
	return math.Exp(-gain)
}

func (d *Design) problem() problem { return problem{d.Objective, float64(d.K), d.Rate} }

// FPRate returns the rate at which a link that isn't in it matches a filter of n links
// cut to m_n, as a fraction, if codewords are drawn but once, as in the paper: the
// mean over links and filters. It is NaN if n is outside 1 to d.Links().
//
// For Independent it is exact: Theorem 2, the product over positions up to m_n of
// 1-q(1-q)^n. For Hashed it is that of Theorem 1, (1 - sum of p(1-p)^(nk))^k, which
// takes the K draws to be independent given the filter's bits; filters measure the same
// to the hundredth from 240 bits on. The theorem is printed with "where the sum of p_i", which lacks "is 1"; for
// a filter that is cut the sum in the formula runs to m_n and the 1 to M, so that draws
// that fall behind m_n match.
func (d *Design) FPRate(n int) float64 {
	m, ok := d.Truncate(n)
	if !ok || n == 0 {
		return math.NaN()
	}
	p := d.problem()
	sum := 0.0
	d.upTo(m, func(r Run) { sum += float64(r.Positions) * p.gain(r.fraction(), n) })
	return p.rateOf(sum)
}

// upTo calls f with the runs of the first m positions.
func (d *Design) upTo(m int, f func(Run)) {
	for _, r := range d.Runs {
		r.Positions = min(r.Positions, m)
		if r.Positions > 0 {
			f(r)
		}
		m -= r.Positions
	}
}

// forward returns how many positions of odds q[t-1] follow as block t, for t = 1, 2, …,
// so that each filter of t links reaches what it needs with the blocks up to t:
// equation (19) for any odds. If whole, lengths are whole numbers, so that later blocks
// get shorter where an earlier one had to be rounded up.
func (p problem) forward(q []float64, whole bool) []float64 {
	lengths := make([]float64, len(q))
	need := p.need()
	// The chances that one link and that t links leave a position of a block zero.
	link, zero := make([]float64, len(q)), make([]float64, len(q))
	for t := range q {
		link[t] = p.zero(q[t], 1)
		zero[t] = p.zero(q[t], t)
		missing := need
		for s := range t {
			zero[s] *= link[s]
			missing -= lengths[s] * p.gainAt(q[s], zero[s])
		}
		zero[t] *= link[t]
		lengths[t] = max(0, missing/p.gainAt(q[t], zero[t]))
		if whole {
			lengths[t] = math.Ceil(lengths[t] - slack)
		}
	}
	return lengths
}

// slack is the part of a position that is forgiven, since sums are rounded.
const slack = 1e-12

// ends yields the least lengths with which positions of these runs reach what filters
// of 1, 2, … links need, m_i = α(i, f, q) of section V, and ends before links if the
// runs aren't enough.
func (p problem) ends(runs []Run, links int) iter.Seq2[int, int] {
	return func(yield func(i, m int) bool) {
		rows := make([]row, len(runs))
		for r, run := range runs {
			q := run.fraction()
			rows[r] = row{float64(run.Positions), q, p.zero(q, 1), 1}
		}
		need := p.need()
		for i := 1; i <= links; i++ {
			for r := range rows {
				rows[r].zero *= rows[r].link
			}
			m, ok := p.reach(need, rows)
			if !ok || !yield(i, m) {
				return
			}
		}
	}
}

// row is a run while lengths are looked for: q are its odds, link and zero the chances
// that one link and that i links leave a position zero.
type row struct{ positions, q, link, zero float64 }

// reach returns how many positions have the gain that is missing.
func (p problem) reach(missing float64, rows []row) (m int, ok bool) {
	for _, r := range rows {
		gain := p.gainAt(r.q, r.zero)
		if missing <= gain*(r.positions+slack) {
			return m + int(min(r.positions, math.Ceil(missing/gain-slack))), true
		}
		missing -= gain * r.positions
		m += int(r.positions)
	}
	return 0, false
}

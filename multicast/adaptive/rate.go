package adaptive

import (
	"math"

	"github.com/umbel-filters/umbel/internal/truncated"
)

func (d *Design) problem() truncated.Problem { return truncated.Problem{K: d.K, Rate: d.Rate} }

// FPRate returns the rate, as a fraction, at which a link that is not in it matches a
// filter of n links, cut to m_n. It is the mean over links and filters, for codewords
// that are drawn once, as in the paper; see RedrawnFPRate for the others. It returns NaN
// if n is outside 1 to d.Links().
//
// For Independent it is exact: Theorem 2, the product of 1-q(1-q)^n over the positions
// up to m_n. For Hashed it is the rate of Theorem 1, (1 - sum of p(1-p)^(nk))^k, which
// treats the K draws as independent given the filter's bits. Simulated filters agree to
// 1 % from 240 bits on. The theorem is printed with "where the sum of p_i", which lacks
// "is 1". For a filter that is cut, the sum in the formula ends at m_n and the 1 stands
// for all positions, so that draws after m_n match.
func (d *Design) FPRate(n int) float64 {
	m, ok := d.Truncate(n)
	if !ok || n == 0 {
		return math.NaN()
	}
	p := d.problem()
	gain := 0.0
	d.upTo(m, func(r Run) { gain += float64(r.Positions) * p.Gain(r.Fraction(), n) })
	return p.RateOf(gain)
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

// mostRedrawn is the largest share of codewords that may be redrawn for the sake of one
// more one among the first m_1 positions.
const mostRedrawn = 0.125

// leastFor returns the number of ones that codewords should have among the first m_1
// positions: the largest number that makes at most an eighth of them be redrawn, and at
// least one. With the paper's formula, the rate at which a link matches the filter of one
// other link is then about the required rate: 1/8 at f = 0.1, 1/64 at f = 0.01. Without
// redrawing it is the mean (3/4)^m_1 over links of which some always match.
func leastFor(d *Design) int {
	b := 1
	for limit := d.Ends[0]; b < limit && (d.Objective != Hashed || b < d.K); b++ {
		if next := d.front(b + 1); next.tooFew() > mostRedrawn {
			break
		}
	}
	return b
}

// Redrawn returns the share of codewords that are drawn a second time, because fewer
// than d.Least of their first m_1 positions are ones. For Hashed it counts the draws
// there, of which two may select one position.
func (d *Design) Redrawn() float64 { return d.front(d.Least).tooFew() }

// front describes the number of ones of codewords among their first m_1 positions.
type front struct {
	d     *Design
	least int
	mass  float64 // for Hashed: the probability that a draw falls there
}

func (d *Design) front(least int) front {
	f := front{d: d, least: least}
	d.upTo(d.Ends[0], func(r Run) { f.mass += float64(r.Positions) * r.Fraction() })
	return f
}

// tooFew returns the probability of fewer than f.least ones.
func (f front) tooFew() float64 {
	if f.d.Objective == Hashed {
		return 1 - f.atLeast(f.mass, 1-f.mass)
	}
	return sum(f.distribution(f.least, nil, nil))
}

// atLeast returns the sum of C(k,c)·in^c·out^(k-c) over c from f.least to k.
func (f front) atLeast(in, out float64) (sum float64) {
	k := float64(f.d.K)
	choose := 1.0
	for c := range f.d.K + 1 {
		if c >= f.least {
			sum += choose * math.Pow(in, float64(c)) * math.Pow(out, k-float64(c))
		}
		choose *= (k - float64(c)) / float64(c+1)
	}
	return sum
}

// distribution returns, for c = 0 to n-1, the probability that c of the first m_1
// positions are ones and that all c are ones in a filter too. A position of run r is a
// one in the filter with probability fill(r), or 1 if fill is nil. One position of the
// run without, if it isn't nil, is left out.
func (f front) distribution(n int, fill func(Run) float64, without *Run) []float64 {
	if n == 0 {
		return nil
	}
	p := make([]float64, n)
	p[0] = 1
	f.d.upTo(f.d.Ends[0], func(r Run) {
		q, hit, times := r.Fraction(), 1.0, r.Positions
		if fill != nil {
			hit = fill(r)
		}
		if without != nil && without.Odds == r.Odds {
			times--
			without = nil
		}
		for range times {
			for c := n - 1; c > 0; c-- {
				p[c] = p[c]*(1-q) + p[c-1]*q*hit
			}
			p[0] *= 1 - q
		}
	})
	return p
}

// RedrawnFPRate returns the rate of [Design.FPRate] for codewords that are redrawn until
// d.Least of their first m_1 positions are ones. The queried link then has more ones,
// which lowers the rate, and so have the filter's links, which raises it. At f = 0.1, a
// filter of one link has a rate of 0.056 instead of 0.075 with the paper's formula, and
// 0.003 instead of 0.1 with an optimum, where nearly all false positives are links
// without a one among the first m_1 positions. A filter of 200 links has 0.100 and 0.103.
// The formula treats the positions of a filter of two or more links as independent. They
// are not quite independent, and the result is too high by less than 1/m_n of it.
func (d *Design) RedrawnFPRate(n int) float64 {
	m, ok := d.Truncate(n)
	if !ok || n == 0 {
		return math.NaN()
	}
	f := d.front(d.Least)
	if d.Objective == Hashed {
		return f.hashedRate(m, n)
	}
	return f.independentRate(m, n)
}

// independentRate returns the rate of filters of n links cut to m bits: the probability
// that a codeword matches and has enough ones, divided by that of having enough ones.
func (f front) independentRate(m, n int) float64 {
	few := f.tooFew()
	kept := 1 - few
	// The probability of a position among the codewords that are kept: given that it is
	// set, the codeword is kept if the others have at least f.least-1 ones.
	odds := func(r Run) float64 {
		fewer := front{f.d, max(0, f.least-1), f.mass}
		return r.Fraction() * (1 - sum(fewer.distribution(fewer.least, nil, &r))) / (1 - few)
	}
	if n == 1 { // the queried link shares enough ones with the one link only if that has enough
		kept *= 1 - few
		odds = Run.Fraction
	}
	fills := make(map[uint64]float64)
	inFront := func(r Run) float64 { return fills[r.Odds] }
	f.d.upTo(f.d.Ends[0], func(r Run) { fills[r.Odds] = filled(odds(r), n) })

	all, after, left := 1.0, 1.0, f.d.Ends[0]
	f.d.upTo(m, func(r Run) {
		q := r.Fraction()
		here := min(r.Positions, left)
		left -= here
		all *= math.Pow(1-q*(1-inFront(r)), float64(here))
		after *= math.Pow(1-q*(1-filled(q, n)), float64(r.Positions-here))
	})
	return (all - sum(f.distribution(f.least, inFront, nil))) * after / kept
}

// hashedRate is independentRate for draws. Each draw falls among the first m_1
// positions, or between them and the filter's end, or after that end. In the first two
// cases it matches if it selects a one, in the last case always.
func (f front) hashedRate(m, n int) float64 {
	enough := 1 - f.tooFew()
	in, out := 0.0, 1-f.mass
	left := f.d.Ends[0]
	f.d.upTo(m, func(r Run) {
		p := r.Fraction()
		here := min(r.Positions, left)
		left -= here
		if here > 0 {
			zero := f.atLeast(f.mass-p, 1-f.mass) / enough // the position is zero in a codeword
			in += float64(here) * p * -math.Expm1(float64(n)*math.Log(zero))
		}
		if there := r.Positions - here; there > 0 {
			zero := f.atLeast(f.mass, 1-f.mass-p) / enough
			out -= float64(there) * p * math.Exp(float64(n)*math.Log(zero))
		}
	})
	return f.atLeast(in, max(0, out)) / enough
}

// filled returns the probability that at least one of n links sets a position that each
// sets with probability q.
func filled(q float64, n int) float64 { return -math.Expm1(float64(n) * math.Log1p(-q)) }

func sum(xs []float64) (s float64) {
	for _, x := range xs {
		s += x
	}
	return s
}

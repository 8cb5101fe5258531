package adaptive

import "math"

// mostRedrawn is the share of codewords that may have to be drawn again for the sake of
// one more one at the front.
const mostRedrawn = 0.125

// leastFor returns the ones that codewords of a design should have among the first m_1
// positions: as many as leave at most an eighth of them to be drawn again, and at least
// one. With the paper's heuristic a link's chance to match the filter of one other is
// then at most about the rate: 1/8 at f = 0.1, 1/64 at 0.01, where (3/4)^m_1 is the
// mean over links of which some match always.
func leastFor(d *Design) int {
	b := 1
	for limit := d.Ends[0]; b < limit && (d.Objective != Hashed || b < d.K); b++ {
		if next := d.front(b + 1); next.few() > mostRedrawn {
			break
		}
	}
	return b
}

// Redrawn returns the share of codewords that are drawn a second time, because fewer
// than d.Least of their first m_1 positions are ones. Of Hashed it counts draws there,
// of which two may fall to one position.
func (d *Design) Redrawn() float64 { return d.front(d.Least).few() }

// front is how many ones codewords have among their first m_1 positions.
type front struct {
	d     *Design
	least int
	mass  float64 // of Hashed: the share of draws that fall there
}

func (d *Design) front(least int) front {
	f := front{d: d, least: least}
	d.upTo(d.Ends[0], func(r Run) { f.mass += float64(r.Positions) * r.fraction() })
	return f
}

// few returns the chance of fewer than least.
func (f front) few() float64 {
	if f.d.Objective == Hashed {
		return 1 - f.atLeast(f.mass, 1-f.mass)
	}
	return sum(f.poly(f.least, nil, nil))
}

// atLeast returns the sum over c from least on of C(k,c)·in^c·out^(k-c).
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

// poly returns, for c = 0 to n-1, the chance that c of the first m_1 positions are ones
// and each of these is so in a filter too, with a chance of fill for the positions of a
// run, or 1 if fill is nil. One position of the run that without names is left out.
func (f front) poly(n int, fill func(Run) float64, without *Run) []float64 {
	if n == 0 {
		return nil
	}
	p := make([]float64, n)
	p[0] = 1
	f.d.upTo(f.d.Ends[0], func(r Run) {
		q, hit, times := r.fraction(), 1.0, r.Positions
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

// RedrawnFPRate returns the rate of [Design.FPRate] with codewords that are drawn again
// until d.Least of their first m_1 positions are ones. The link that is asked for has
// more ones then, which lowers the rate, and the filter's links too, which raises it. At
// f = 0.1 a filter of one link is wrong at 0.056 for 0.075 by the heuristic, and at 0.003
// for 0.1 by an optimum, where nearly all false positives are links without a one at the
// front; a filter of 200 at 0.100 and 0.103. The formula takes the positions of a filter
// of two links and more to be independent, as they no longer quite are: less than 1/m_n of
// it is too much.
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

// independentRate returns the rate of filters of n links cut to m: of all codewords that
// match the part that has enough ones, by the share of those that have.
func (f front) independentRate(m, n int) float64 {
	few := f.few()
	kept := 1 - few
	// The odds of a position among codewords that are kept: those at the front have
	// enough ones if the others have one less than enough.
	odds := func(r Run) float64 {
		fewer := front{f.d, max(0, f.least-1), f.mass}
		return r.fraction() * (1 - sum(fewer.poly(fewer.least, nil, &r))) / (1 - few)
	}
	if n == 1 { // ones that the one link has too are enough only if its own are
		kept *= 1 - few
		odds = Run.fraction
	}
	fills := make(map[uint64]float64)
	atFront := func(r Run) float64 { return fills[r.Odds] }
	f.d.upTo(f.d.Ends[0], func(r Run) { fills[r.Odds] = filled(odds(r), n) })

	all, behind, left := 1.0, 1.0, f.d.Ends[0]
	f.d.upTo(m, func(r Run) {
		q := r.fraction()
		here := min(r.Positions, left)
		left -= here
		all *= math.Pow(1-q*(1-atFront(r)), float64(here))
		behind *= math.Pow(1-q*(1-filled(q, n)), float64(r.Positions-here))
	})
	return (all - sum(f.poly(f.least, atFront, nil))) * behind / kept
}

// hashedRate is the same of draws: each falls to the front, onto a one or not, or
// behind it, onto a one or not, or beyond the filter's end, where it matches.
func (f front) hashedRate(m, n int) float64 {
	enough := 1 - f.few()
	in, out := 0.0, 1-f.mass
	left := f.d.Ends[0]
	f.d.upTo(m, func(r Run) {
		p := r.fraction()
		here := min(r.Positions, left)
		left -= here
		if here > 0 {
			zero := f.atLeast(f.mass-p, 1-f.mass) / enough // the chance that a codeword leaves the position zero
			in += float64(here) * p * -math.Expm1(float64(n)*math.Log(zero))
		}
		if there := r.Positions - here; there > 0 {
			zero := f.atLeast(f.mass, 1-f.mass-p) / enough
			out -= float64(there) * p * math.Exp(float64(n)*math.Log(zero))
		}
	})
	return f.atLeast(in, max(0, out)) / enough
}

// filled returns the chance that one of n links sets a position.
func filled(q float64, n int) float64 { return -math.Expm1(float64(n) * math.Log1p(-q)) }

func sum(xs []float64) (s float64) {
	for _, x := range xs {
		s += x
	}
	return s
}

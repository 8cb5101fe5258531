package compare

import (
	"math"

	"github.com/umbel-filters/umbel/internal/number"
	"github.com/umbel-filters/umbel/plan"
)

// pair is the model of two Bloom filters a and b of different sizes that give a key the same
// values. If they have different k, a key of the one with the smaller k has the first of the values.
//
// A value x lies in one cell of each filter, cellA(x) and cellB(x), with shares 1/ma and 1/mb of
// all values. Let Na and Nb be the numbers of values in the filters, s of them common ones, and
// o(x) the share of the values that lie in both cells. With Za and Zb, the shares of the values
// whose cell is zero, and U, the share of the values for which both cells are zero,
//
//	E U ≈ E Za · E Zb · M(s),  M(s) = mean over x of e^(s·o(x)),
//
// because a common value in the intersection of the two cells would otherwise count twice. So
// the estimate of s solves ln M(s) = ln U - ln Za - ln Zb, and the number of common keys is
// s / min(ka, kb). With equal sizes o = 1/m, and the estimate is that of Swamidass and Baldi 2007.
//
// o(x) is the size of the finer cell, unless a boundary of the coarser filter divides that cell
// into parts of t and 1-t. For sizes with the greatest common divisor g and d = coarse/g, t takes
// the values 1/d to (d-1)/d equally often.
//
// The variance is that of linear functions of ln U, ln Za and ln Zb. The number of values in a
// part of the range is taken as a Poisson variable first. Then the covariance of two shares,
// relative to their means, is the mean over x, times the integral over y, of e^r - 1. Here r is
// the expected number of values that would set both a cell of the first share at x and one of the
// second at y: of Na-s values in a common cell of a, of Nb-s in one of b, and of s in the
// intersection of all cells at x with all those at y. As the numbers of values are fixed,
// N·(dE/dN)² is then subtracted for each of the three numbers N, with the expectation E of the
// linear function.
type pair struct {
	la, lb   float64 // lengths of the cells, as shares of a lane
	lanes    float64
	ka, kb   float64
	common   float64 // min(ka, kb)
	na, nb   float64 // values in a and b
	za, zb   float64 // ln Za, ln Zb
	spread   bool    // one of the filters has no lanes: see grids
	split    float64 // share of the finer cells that a boundary divides
	interior []float64
	parts    float64 // d; if it is more than mostParts, interior has mostParts midpoints instead
}

// mostParts limits the time of a comparison.
const mostParts = 1024

func pairOf(a, b grid) pair {
	p := pair{
		la: 1 / float64(a.groups), lb: 1 / float64(b.groups), lanes: float64(a.lanes),
		ka: float64(a.k), kb: float64(b.k), common: float64(min(a.k, b.k)), spread: a.spread || b.spread,
		za: math.Log(a.empty()), zb: math.Log(b.empty()),
	}
	p.na, p.nb = -p.za*float64(a.cells.Len), -p.zb*float64(b.cells.Len)
	fine, coarse := max(a.groups, b.groups), min(a.groups, b.groups)
	d := coarse / number.GCD(fine, coarse)
	p.split = float64(coarse-coarse/d) / float64(fine)
	p.parts = float64(d)
	for i := uint64(1); i < d && d <= mostParts; i++ {
		p.interior = append(p.interior, float64(i)/p.parts)
	}
	for i := 0; i < mostParts && d > mostParts; i++ {
		p.interior = append(p.interior, (float64(i)+0.5)/mostParts)
	}
	return p
}

// mean returns M(s) and its derivative.
func (p pair) mean(s float64) (value, slope float64) {
	cell := min(p.la, p.lb) / p.lanes
	var v, d float64
	for _, t := range p.interior {
		e := 2 * t * math.Exp(s*cell*t) / float64(len(p.interior))
		v += e
		d += e * t
	}
	if p.parts > mostParts {
		// Midpoints give an integral. The trapezoid rule over the points i/d has it as well, but with half of the value
		// at t = 1, 2·e^(s·cell), which is not among the points.
		v = (p.parts*v - math.Exp(s*cell)) / (p.parts - 1)
		d = (p.parts*d - math.Exp(s*cell)) / (p.parts - 1)
	}
	whole := (1 - p.split) * math.Exp(s*cell)
	return whole + p.split*v, cell * (whole + p.split*d)
}

// estimate returns the numbers of keys in at least one of the filters, in both, and in one only, from the
// numbers of each and ln U. If a filter is full, the intervals are as wide as those of each allow.
func (p pair) estimate(a, b plan.Estimate, u float64) Overlap {
	o := Overlap{A: a, B: b}
	least, most, mostBoth := max(surely(a).Low, surely(b).Low), surely(a).High+surely(b).High, min(surely(a).High, surely(b).High)
	if math.IsInf(u, -1) || math.IsInf(p.za, -1) || math.IsInf(p.zb, -1) {
		o.Union, o.Both = plan.Estimate{Value: math.NaN(), Low: least, High: most}, plan.Estimate{Value: math.NaN(), High: mostBoth}
		o.OnlyA, o.OnlyB = plan.Estimate{Value: math.NaN(), High: surely(a).High}, plan.Estimate{Value: math.NaN(), High: surely(b).High}
		return o
	}
	s := p.solve(u - p.za - p.zb)
	m, d := p.mean(s)
	d /= m // of ln M
	keys := s / p.common
	if p.spread { // its cells are related to those of several lanes, which variance does not consider
		n := min(max(p.na/p.ka+p.nb/p.kb-keys, least), most)
		o.Union, o.Both = plan.Estimate{Value: n, Low: least, High: most}, plan.Estimate{Value: keys, High: max(keys, mostBoth)}
		anything := math.Inf(1)
		o.OnlyA, o.OnlyB = around(p.na/p.ka-keys, anything, 0, surely(a).High), around(p.nb/p.kb-keys, anything, 0, surely(b).High)
		return o
	}
	perU := 1 / (d * p.common)
	s = min(s, p.mostCommon())

	deviation := math.Sqrt(p.variance(s, weights{-perU, -perU, perU}, [3]float64{0, 0, 1 / p.common}))
	o.Both = around(keys, deviation, 0, mostBoth)

	deviation = math.Sqrt(p.variance(s,
		weights{-p.lanes/p.la/p.ka + perU, -p.lanes/p.lb/p.kb + perU, -perU},
		[3]float64{1 / p.ka, 1 / p.kb, 1/p.ka + 1/p.kb - 1/p.common}))
	o.Union = around(p.na/p.ka+p.nb/p.kb-keys, deviation, least, most)

	deviation = math.Sqrt(p.variance(s, weights{-p.lanes/p.la/p.ka + perU, perU, -perU}, [3]float64{1 / p.ka, 0, 1/p.ka - 1/p.common}))
	o.OnlyA = around(p.na/p.ka-keys, deviation, 0, surely(a).High)
	deviation = math.Sqrt(p.variance(s, weights{perU, -p.lanes/p.lb/p.kb + perU, -perU}, [3]float64{0, 1 / p.kb, 1/p.kb - 1/p.common}))
	o.OnlyB = around(p.nb/p.kb-keys, deviation, 0, surely(b).High)
	return o
}

// surely returns e with an interval of twice the width, almost 4 standard deviations to each side. As a limit of another interval
// of 95 % it adds nothing to the 5 % in which that one is wrong.
func surely(e plan.Estimate) plan.Estimate {
	return plan.Estimate{Value: e.Value, Low: max(0, 2*e.Low-e.Value), High: 2*e.High - e.Value}
}

// sigmas is half the width of an interval of 95 % in standard deviations.
const sigmas = 1.96

// around returns the interval of 95 % around a value, between two limits.
func around(value, deviation, least, most float64) plan.Estimate {
	e := plan.Estimate{Value: min(max(value, least), most), Low: max(least, value-sigmas*deviation), High: min(most, value+sigmas*deviation)}
	e.Low, e.High = min(e.Low, e.Value), max(e.High, e.Value)
	return e
}

// mostCommon returns the number of common values if one filter has all keys of the other.
func (p pair) mostCommon() float64 { return p.common * min(p.na/p.ka, p.nb/p.kb) }

// solve returns the s from 0 to twice what the filters contain for which ln M(s) is nearest to target.
func (p pair) solve(target float64) float64 {
	low, high := 0.0, 2*p.mostCommon() // not limited to what the filters contain, which would shift the interval
	for range 60 {
		s := (low + high) / 2
		if m, _ := p.mean(s); math.Log(m) < target {
			low = s
		} else {
			high = s
		}
	}
	return (low + high) / 2
}

// weights are the factors of ln Za, ln Zb and ln U in a linear function.
type weights struct{ a, b, u float64 }

// variance returns the variance of a linear function, with s common values. slopes are the
// derivatives of its expectation by the numbers of values in a only, in b only, and in both. The
// mean over x is that of points at equal distances.
func (p pair) variance(s float64, w weights, slopes [3]float64) float64 {
	const points = 48
	mean, _ := p.mean(s)
	var sum float64
	for i := range points {
		const golden = 0.6180339887498949
		_, x := math.Modf((float64(i) + 0.5) * golden)
		sum += p.near(s, mean, w, x)
	}
	onlyA, onlyB := max(0, p.na-s), max(0, p.nb-s)
	fixed := onlyA*slopes[0]*slopes[0] + onlyB*slopes[1]*slopes[1] + s*slopes[2]*slopes[2]
	return max(0, sum/float64(points)/p.lanes-fixed)
}

// span is a part of a lane.
type span struct{ from, to float64 }

func (s span) common(t span) float64 { return max(0, min(s.to, t.to)-max(s.from, t.from)) }

func join(s, t span) span { return span{min(s.from, t.from), max(s.to, t.to)} }

// cellsAt returns the cells of a and b that contain x.
func (p pair) cellsAt(x float64) (a, b span) {
	i, j := math.Floor(x/p.la), math.Floor(x/p.lb)
	return span{i * p.la, (i + 1) * p.la}, span{j * p.lb, (j + 1) * p.lb}
}

// constantUpTo returns the end of the interval in which the integrand of near has the value of the cells ya and yb: the end of these
// cells, or that of a series of fine cells in the same coarse cell without a boundary and without the fine cell of x.
func (p pair) constantUpTo(ya, yb, xa, xb span) float64 {
	end := min(ya.to, yb.to)
	fine, coarse, other := yb, ya, xb
	if p.la < p.lb {
		fine, coarse, other = ya, yb, xa
	}
	short := fine.to - fine.from
	if fine.from < coarse.from || math.Abs(fine.from-other.from) < short/2 {
		return end
	}
	last := coarse.to - short // the fine cell that contains it may contain the boundary, too
	if fine.from < other.from {
		last = min(last, other.from)
	}
	return max(end, last-short/2)
}

// near integrates the covariance with a point x over the points whose cells meet those of x.
func (p pair) near(s, mean float64, w weights, x float64) float64 {
	xa, xb := p.cellsAt(x)
	wx := w.u * math.Exp(s*xa.common(xb)/p.lanes) / mean
	both := join(xa, xb)
	long, end := max(p.la, p.lb), both.to+max(p.la, p.lb)
	onlyA, onlyB, shared := max(0, p.na-s)/p.lanes, max(0, p.nb-s)/p.lanes, s/p.lanes
	var sum float64
	for y := max(0, both.from-long); y < min(1, end); {
		const inside = 1e-6 // of a cell, so that rounding does not select the cell before
		short := min(p.la, p.lb)
		ya, yb := p.cellsAt(y + inside*short)
		next := p.constantUpTo(ya, yb, xa, xb)
		wy := w.u * math.Exp(shared*ya.common(yb)) / mean
		all := join(ya, yb)
		var inA, inB float64 // expected values that only a or only b has, in the same cell
		if math.Abs(ya.from-xa.from) < p.la/2 {
			inA = onlyA * p.la
		}
		if math.Abs(yb.from-xb.from) < p.lb/2 {
			inB = onlyB * p.lb
		}
		sum += (next - y) * (w.a*w.a*math.Expm1(inA+shared*xa.common(ya)) +
			w.b*w.b*math.Expm1(inB+shared*xb.common(yb)) +
			w.a*w.b*(math.Expm1(shared*xa.common(yb))+math.Expm1(shared*xb.common(ya))) +
			wx*wy*math.Expm1(inA+inB+shared*both.common(all)) +
			w.a*(wy*math.Expm1(inA+shared*xa.common(all))+wx*math.Expm1(inA+shared*both.common(ya))) +
			w.b*(wy*math.Expm1(inB+shared*xb.common(all))+wx*math.Expm1(inB+shared*both.common(yb))))
		y = max(next, y+inside*short)
	}
	return sum
}

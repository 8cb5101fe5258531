package window

import (
	"math"
	"math/bits"

	"github.com/umbel-filters/umbel/internal/occupancy"
	"github.com/umbel-filters/umbel/internal/planning"
	"github.com/umbel-filters/umbel/internal/sentinel"
	"github.com/umbel-filters/umbel/plan"
)

// rate returns the rate of filters of shape s just before a shift, if every generation set limit bits of the
// newest slice.
func (s Shape) rate(limit float64) float64 {
	fills := make([]float64, s.slices())
	fillWindow(fills, s.K, -float64(s.K)*math.Log1p(-min(limit/float64(s.Slice), 1)))
	return fpRate(fills, s.K)
}

// rateAtOnce returns the rate if n keys are in one generation and none in the others, in which k slices have all of them.
func (s Shape) rateAtOnce(n uint64) float64 {
	return plan.FPRateAtFill(occupancy.Fill(float64(s.Slice), float64(n)), s.K)
}

// fpRate returns the probability that k neighboring slices all have the cell of a key that the
// filter does not contain. fills are the slices' fill ratios, fractions in [0, 1], in the order of age,
// newest or oldest first. It panics if k is less than 1.
//
// It follows the number of neighboring matches from slice to slice: with fill ratio r a run of
// matches grows by one with probability r and ends with probability 1-r. A run of k is a false
// positive. Shtul, Baquero and Almeida 2020, "Age-Partitioned Bloom Filters", write the same as a
// recursion over pairs of slice and run. It is exact for the given fills. The time is k times the
// number of slices.
func fpRate(fills []float64, k int) float64 {
	planning.MustShape(1, k)
	return followRuns(fills, make([]float64, k))
}

// followRuns is fpRate with k = len(runs). It overwrites runs.
func followRuns(fills, runs []float64) float64 {
	k := len(runs) // runs[j]: probability of no positive so far and j matches at the end
	clear(runs)
	runs[0] = 1
	positive := 0.0
	for _, fill := range fills {
		none := 0.0
		for _, p := range runs {
			none += p
		}
		positive += runs[k-1] * fill
		for j := k - 1; j > 0; j-- {
			runs[j] = runs[j-1] * fill
		}
		runs[0] = none * (1 - fill)
	}
	return min(positive, 1)
}

// fillWindow sets fills to the expected fill ratios of len(fills) slices, newest first, just before a
// shift. Slice k and all older ones contain k generations and have 1-e^-load of their cells set; newer
// slice i contains i generations and has 1-e^(-load·i/k). Shtul, Baquero and Almeida 2020 set the load
// to ln 2.
func fillWindow(fills []float64, k int, load float64) {
	for i := range fills {
		if i < k {
			fills[i] = -math.Expm1(-load * float64(i+1) / float64(k))
		} else {
			fills[i] = fills[k-1]
		}
	}
}

// limits are the limits of a [smallest] window.
type limits struct {
	K, L      int    // fixed if not zero
	MaxL      int    // the largest L that is chosen, at least 1
	MaxSlices int    // the largest K+L
	AtOnce    bool   // the rate must hold also if all keys come in one generation
	Ticks     uint64 // length of the window, of which a generation takes a whole number; 0: it has L generations exactly
	Loads     loads  // memory of a search, may be nil
}

// share returns the keys of each of l generations, of n that come evenly in a window. If the window's length isn't l
// times a whole number of ticks, l generations are longer than the window, and have more keys.
func (lim limits) share(n uint64, l int) uint64 {
	if lim.Ticks == 0 {
		return (n-1)/uint64(l) + 1
	}
	each := (lim.Ticks-1)/uint64(l) + 1
	hi, lo := bits.Mul64(n, each)
	keys, rest := bits.Div64(hi, lo, lim.Ticks)
	if rest > 0 {
		keys++
	}
	return keys
}

// loads are results of windowLoad.
type loads map[loadKey]float64

type loadKey struct {
	k, l int
	p    float64
}

// of is windowLoad.
func (m loads) of(k, l int, p float64) float64 {
	load, ok := m[loadKey{k, l, p}]
	if !ok {
		load = windowLoad(k, l, p)
		if m != nil {
			m[loadKey{k, l, p}] = load
		}
	}
	return load
}

// smallest returns the window with the fewest cells that contains the last n keys and always has a
// rate of at most p, over all k and l within the limits. Its slices are just large enough for the load
// that has this rate before a shift. A generation is its share of the keys, as cells of the newest slice: n/l, rounded up,
// so that l generations are at least n keys, and more if l generations are longer than a window of Ticks.
//
// With AtOnce the rate is at most p even if n keys come in one generation and none in the others. Then
// k slices contain all keys, and the rate is (1-(1-1/Slice)^n)^k. This keeps l small.
//
// It returns an error wrapping [plan.ErrRange] if n is zero, p is not inside (0, 1), no k and l within the
// limits have the rate, or the slices would have more than 2^63 cells.
func smallest(n uint64, p float64, lim limits) (Shape, error) {
	if err := planning.CheckGoal(n, p); err != nil {
		return Shape{}, err
	}
	kLow, kHigh := max(1, int(-math.Log2(p)*0.7)), lim.MaxSlices-1
	if lim.K != 0 {
		kLow, kHigh = lim.K, min(lim.K, kHigh)
	}
	var best Shape
	least, guess := math.Inf(1), 1
	for k, worse := kLow, 0; k <= kHigh && worse < 4; k++ {
		cells := func(l int) float64 { return float64(k+l) * lim.sliceFor(n, k, l, p) }
		l, last := lim.L, min(lim.MaxL, lim.MaxSlices-k)
		switch {
		case l != 0:
		case lim.Ticks != 0: // the lengths of generations make the costs uneven
			l = leastWindow(last, cells)
		default:
			l = bestWindow(guess, last, cells)
		}
		if k < 1 || l < 1 || k+l > lim.MaxSlices {
			continue
		}
		if c := cells(l); c < least {
			best, least, guess, worse = Shape{K: k, L: l}, c, l, 0
		} else {
			worse++
		}
	}
	if !(least <= planning.MaxCells) {
		return Shape{}, sentinel.Errorf(plan.ErrRange, "a window of %d keys at a false-positive rate of %v needs more than %d slices or 2^63 cells; "+
			"accept a higher rate", n, p, lim.MaxSlices)
	}
	best.Slice = uint64(lim.sliceFor(n, best.K, best.L, p))
	best.Limit = lim.share(n, best.L)
	return best, nil
}

// sliceFor returns the number of cells of a slice, a whole number.
func (lim limits) sliceFor(n uint64, k, l int, p float64) float64 {
	first := -math.Expm1(-lim.Loads.of(k, l, p) / float64(k)) // fill of the newest slice at its end
	cells := math.Ceil(float64(lim.share(n, l)) / first)
	if lim.AtOnce {
		full := math.Pow(p, 1/float64(k))
		cells = max(cells, math.Ceil(-1/math.Expm1(math.Log1p(-full)/float64(n))))
	}
	return max(cells, 1)
}

// windowLoad returns the load, at most 40, at which the rate is p or just below.
//
// The logarithm of the rate is a concave function of that of the load. There are l+1 runs of k slices,
// and none matches with a higher probability than (1-e^-load)^k, so the load for p/(l+1) is too small.
// From there secants rise to the load and don't pass it.
func windowLoad(k, l int, p float64) float64 {
	fills, runs := make([]float64, k+l), make([]float64, k)
	want := math.Log(p)
	above := func(u float64) float64 {
		fillWindow(fills, k, math.Exp(u))
		return math.Log(followRuns(fills, runs)) - want
	}
	most := math.Log(40)
	u := min(math.Log(-math.Log1p(-math.Pow(p/float64(l+1), 1/float64(k)))), most)
	y := above(u)
	step := 0.001
	for range 100 {
		next := min(u+step, most)
		z := above(next)
		if z > 0 {
			step /= 2
			if step < 1e-10 {
				break
			}
			continue
		}
		step *= -z / (z - y)
		u, y = next, z
		if !(step > 1e-10) || u == most {
			break
		}
	}
	return math.Exp(u)
}

// leastWindow returns the l from 1 to last with the lowest cost, the smallest such l.
func leastWindow(last int, cost func(l int) float64) int {
	best, least := 1, math.Inf(1)
	for l := 1; l <= last; l++ {
		if c := cost(l); c < least {
			best, least = l, c
		}
	}
	return best
}

// bestWindow returns the l from 1 to last with the lowest cost. It starts at guess; costs fall to one
// valley and rise.
func bestWindow(guess, last int, cost func(l int) float64) int {
	l := max(1, min(guess, last))
	best := cost(l)
	for step := 8; step > 0; {
		moved := false
		for _, next := range []int{l - step, l + step} {
			if next < 1 || next > last {
				continue
			}
			if c := cost(next); c < best {
				l, best, moved = next, c, true
				break
			}
		}
		if !moved {
			step /= 2
		}
	}
	return l
}

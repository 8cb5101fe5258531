package arrays

import (
	"math"
	"math/bits"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/plan"
)

// Stats returns the stats of an array in which a key has K cells, sliced or not. It
// reads all cells.
func (a Array) Stats() umbel.Stats {
	if a.Shape.M == 0 {
		return umbel.Stats{}
	}
	n := a.Keys(a.keys)
	nonzero, rate := a.Measure()
	return umbel.Stats{
		Keys: n.Value, Low: n.Low, High: n.High,
		Fill: float64(nonzero) / float64(a.Shape.M), FPRate: rate,
		Cells: a.Shape.M, K: float64(a.Shape.K), Bytes: a.Cells.Bytes(),
	}
}

// keys estimates the number of keys of an array of m cells. A cell of a slice of s is zero after n keys with probability
// (1-1/s)^n, which is less than the e^(-n/s) of cells that are not sliced.
func (a Array) keys(m, ones uint64) plan.Estimate {
	e := plan.Filter{M: m, K: a.Shape.K}.Keys(ones)
	if s := float64(m) / float64(a.Shape.K); a.Kind.Sliced && s > 1 {
		c := -1 / (s * math.Log1p(-1/s))
		least := float64(ones) / float64(a.Shape.K)
		value := max(e.Value*c, least)
		e = plan.Estimate{Value: value, Low: max(min(e.Low*c, math.Floor(value)), least), High: max(e.High*c, math.Ceil(value))}
	}
	return e
}

// Measure returns the number of nonzero cells of an array that is not empty, and the
// probability that all K cells of a key that was not added are nonzero: fill^K or, in a
// sliced array, the product of the fill ratios of the slices. That product is at most
// fill^K, because the geometric mean of the fill ratios is at most their average.
func (a Array) Measure() (nonzero uint64, rate float64) {
	if !a.Kind.Sliced {
		nonzero = a.Cells.Nonzero()
		return nonzero, plan.FPRateAtFill(float64(nonzero)/float64(a.Shape.M), a.Shape.K)
	}
	size := a.Kind.slice(a.Shape)
	rate = 1
	for at := uint64(0); at < a.Shape.M; at += size {
		ones := onesBetween(a.Cells.Words, at, at+size)
		nonzero += ones
		rate *= float64(ones) / float64(size)
	}
	return nonzero, rate
}

// onesBetween returns the number of bits that are set from a bit on, up to a later one.
func onesBetween(words []uint64, from, to uint64) uint64 {
	first, last := from/64, (to-1)/64
	head, tail := ^uint64(0)<<(from%64), ^uint64(0)>>(63-(to-1)%64)
	if first == last {
		return uint64(bits.OnesCount64(words[first] & head & tail))
	}
	n := bits.OnesCount64(words[first]&head) + bits.OnesCount64(words[last]&tail)
	for _, w := range words[first+1 : last] {
		n += bits.OnesCount64(w)
	}
	return uint64(n)
}

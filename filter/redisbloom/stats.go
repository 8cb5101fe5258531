package redisbloom

import (
	"math"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/plan"
)

// Stats measures the filter: see [umbel.Filter]. It counts the bits of all layers
// and takes nothing from the entries they count, which a merge or a stranger makes
// an estimate. Keys is the sum over the layers, each divided by the share of
// keys that reach it: the others are false positives of older ones. K is that of the newest layer. The zero
// Filter's are zero.
func (f *Filter) Stats() umbel.Stats {
	if len(f.layers) == 0 {
		return umbel.Stats{}
	}
	s := umbel.Stats{K: float64(f.newest().k)}
	var ones uint64
	var low, high float64 // squares of the distances from Keys to Low and High
	missed := 0.0         // rate of the layers so far
	for _, l := range f.layers {
		n := l.cells.Nonzero()
		e := plan.KeysInterval(l.bits, l.k, n)
		e.Low, e.Value, e.High = e.Low/(1-missed), e.Value/(1-missed), e.High/(1-missed)
		s.Low += e.Low
		s.Keys += e.Value
		low += square(e.Value - e.Low)
		high += square(e.High - e.Value)
		missed += (1 - missed) * falseRate(l.bits, l.k, float64(n)/float64(l.bits))
		ones += n
		s.Cells += l.bits
		s.Bytes += l.cells.Bytes()
	}
	if s.High = math.Inf(1); !math.IsInf(s.Keys, 1) {
		s.Low, s.High = max(s.Keys-math.Sqrt(low), s.Low), s.Keys+math.Sqrt(high)
	}
	s.Fill = float64(ones) / float64(s.Cells)
	s.FPRate = missed
	return s
}

func square(x float64) float64 { return x * x }

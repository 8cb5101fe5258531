package share

import (
	"math"

	"github.com/umbel-filters/umbel"
)

const (
	// maxShrink is the largest factor by which a subscriber folds its filter.
	maxShrink = 4096
	// shrinkTries is the number of factors that are tried: an estimate finds the first one, and is wrong by
	// chance only.
	shrinkTries = 4
)

// shrink returns the state folded by the largest factor with which Budget.Rate is kept, and the factor. It
// returns nil if there is none, or if it is not requested.
func (s *Subscriber) shrink(state umbel.State) (umbel.Filter, uint64) {
	if b := s.o.Budget; !b.Shrink || b.Rate == 0 || len(state.Arrays) == 0 {
		return nil, 0
	}
	whole, err := s.o.Kinds.Open(state)
	if err != nil {
		return nil, 0
	}
	stats, tries := whole.Stats(), 0
	for r := uint64(maxShrink); r > 1 && tries < shrinkTries; r-- {
		if state.Arrays[0].Len%r != 0 || foldedRate(stats, r) > s.o.Budget.Rate {
			continue
		}
		folded, err := foldState(s.o.Kinds, state, r)
		if err != nil {
			continue // the kind keeps groups of cells together
		}
		tries++
		if f, err := s.o.Kinds.Open(folded); err == nil && f.Stats().FPRate <= s.o.Budget.Rate {
			return f, r
		}
	}
	return nil, 0
}

// foldedRate estimates the false-positive rate of a filter folded by r: if its cells are independent, a share
// x of nonzero cells becomes 1-(1-x)^r (Sailhan and Stehr 2012, section III), and the rate is a power of it.
func foldedRate(s umbel.Stats, r uint64) float64 {
	if s.Fill <= 0 || s.Fill >= 1 || s.FPRate <= 0 {
		return s.FPRate
	}
	fill := -math.Expm1(float64(r) * math.Log1p(-s.Fill))
	return math.Pow(fill, math.Log(s.FPRate)/math.Log(s.Fill))
}

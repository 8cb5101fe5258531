package umbel

import (
	"math"

	"github.com/umbel-filters/umbel/internal/sentinel"
)

// Planned is the requirements that a filter was made for: with Keys distinct keys its
// false-positive rate is at most FPRate. It describes the filter and has no influence on
// answers, so that IDs, equality and deltas do not include it. The zero Planned means that the
// requirements are unknown, for example because the filter was made from a shape.
//
// A filter that changes keeps its Planned: one that is folded, unfolded or merged with another
// has the requirements of the filter before. Whether it still meets them is measured:
// [Planned.Exceeded] compares its rate.
type Planned struct {
	Keys   uint64  // distinct keys, at least 1
	FPRate float64 // false-positive rate with these keys, in (0, 1)
}

// OverfullFactor is the number of times that the rate of a filter may be the planned one before
// the filter counts as overfull. Estimates and kinds that grow in steps exceed the planned rate by less. Filters
// for a few keys may exceed it by more: see [Planned.Exceeded].
const OverfullFactor = 2

// PlannedBy returns the requirements of a filter that is made for g, with forecast f: the rate of
// g, or that of f if g has none, with the keys of f. It returns the zero Planned if g has neither keys
// nor a rate, because parameters alone determine the shape, or if the rate of f is not in (0, 1).
func PlannedBy(g Goal, f Forecast) Planned {
	p := Planned{Keys: f.Keys, FPRate: g.FPRate}
	if p.FPRate == 0 {
		p.FPRate = f.FPRate
	}
	if g.Keys == 0 && g.FPRate == 0 || p.Check() != nil {
		return Planned{}
	}
	return p
}

// Check returns an error wrapping [ErrCorrupt] unless p is zero or its numbers are in range.
func (p Planned) Check() error {
	if p != (Planned{}) && !(p.Keys > 0 && p.FPRate > 0 && p.FPRate < 1) {
		return sentinel.Errorf(ErrCorrupt, "planned for a rate of %v with %d keys, want a rate between 0 and 1, both excluded, with at least 1 key",
			p.FPRate, p.Keys)
	}
	return nil
}

// Exceeded reports whether a filter with this false-positive rate is overfull: whether the rate is
// above [OverfullFactor] times the planned one. It is false if p is zero.
//
// With few keys the rate depends on how many cells they happen to share. In a standard filter that is half full, the
// logarithm of the rate has the standard deviation 0.46·√(k/n), with k = log2(1/rate). So the factor is at least
// exp(3.1·0.46·√(k/n)), which about one filter in a thousand exceeds, but no rate above one half is accepted for it. It is
// 8.3 for 3 keys at 1 %, and 2 from 29 keys on.
func (p Planned) Exceeded(fpRate float64) bool {
	if p.FPRate <= 0 || p.Keys == 0 {
		return false
	}
	chance := math.Exp(3.1 * 0.46 * math.Sqrt(-math.Log2(p.FPRate)/float64(p.Keys)))
	return fpRate > max(OverfullFactor*p.FPRate, min(chance*p.FPRate, 0.5))
}

// Accepting returns p for a user who accepts that the filter has this rate with about this number of keys, for example
// because it was folded for less memory: if p.FPRate is lower, the result has fpRate instead, and keys if p.Keys is
// more, since with p.Keys the rate would be higher. It returns p if p is zero or fpRate is not below 1.
func (p Planned) Accepting(keys, fpRate float64) Planned {
	if p.FPRate > 0 && fpRate > p.FPRate && fpRate < 1 {
		p.FPRate = fpRate
		if keys < float64(p.Keys) {
			p.Keys = uint64(max(math.Ceil(keys), 1))
		}
	}
	return p
}

// Planner is a filter that keeps what it was planned for. All kinds of this module do.
type Planner interface {
	// Planned returns what the filter was made for: State returns it as well.
	Planned() Planned
	// SetPlanned sets what the filter is compared with from now on. It changes neither cells nor
	// ID. SetPlanned panics if p fails its Check.
	SetPlanned(p Planned)
}

package kinds

import (
	"fmt"
	"math"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/internal/sentinel"
	"github.com/umbel-filters/umbel/plan"
)

// Sizing contains the formulas of a kind.
type Sizing struct {
	MaxK  int    // largest k of the kind
	Width uint64 // bits per cell
	// Design describes in errors what is chosen together with the size; "k = 7" if empty.
	Design string
	// Step divides the sizes that a filter with k can have: a size that is given is rounded
	// up to a multiple of it.
	Step func(k int) uint64
	// Unit divides planned sizes of about m: the factor of a fold must divide m/Unit.
	Unit func(m uint64, k int) uint64
	// FPRate returns the expected rate of m cells, k per key, with n keys.
	FPRate func(m uint64, k int, n uint64) float64
	// Size returns the least m, and its k, with a rate of at most p with n keys. SizeForK
	// does so for one k.
	Size     func(n uint64, p float64) (m uint64, k int, err error)
	SizeForK func(n uint64, k int, p float64) (m uint64, err error)
}

// Solve returns m and k for a goal, and the number of keys that the filter is then planned
// for. An m or k that is not zero is kept; m is rounded up to a possible size. An m that
// follows from the goal is whole units: the most that fit into its bytes or, for keys and a
// rate, a number that folds well (plan.RoundFoldable). If a size, k, keys and a rate are all
// given, the rate with these keys must be at most the given one. Errors wrap umbel.ErrGoal.
func (z Sizing) Solve(g umbel.Goal, m uint64, k int) (uint64, int, uint64, error) {
	if err := z.Check(g, m, k); err != nil {
		return 0, 0, 0, err
	}
	given, sized := m != 0, g.Bytes != 0
	if sized {
		m = g.Bytes * 8 / z.Width
	}
	var err error
	switch {
	case m == 0 && k == 0:
		m, k, err = z.Size(g.Keys, g.FPRate)
		if err == nil && k > z.MaxK {
			k = z.MaxK
			m, err = z.SizeForK(g.Keys, k, g.FPRate)
		}
	case m == 0:
		m, err = z.SizeForK(g.Keys, k, g.FPRate)
	case k == 0 && g.Keys != 0:
		k = z.best(func(k int) float64 { return -z.FPRate(m, k, g.Keys) })
	case k == 0:
		k = z.best(func(k int) float64 { return float64(z.Capacity(m, k, g.FPRate)) })
	}
	if err != nil {
		return 0, 0, 0, sentinel.Wrap(umbel.ErrGoal, err)
	}
	switch {
	case given:
		m = roundUp(m, z.Step(k))
	case sized:
		if m -= m % z.Unit(m, k); m == 0 {
			return 0, 0, 0, sentinel.Errorf(umbel.ErrGoal, "%d bytes are too few for a filter with %s", g.Bytes, z.design(k))
		}
	default:
		unit := z.Unit(m, k)
		m = plan.RoundFoldable(roundUp(m, unit)/unit) * unit
	}
	return z.agree(g, m, k)
}

func roundUp(m, step uint64) uint64 { return (m + step - 1) / step * step }

// design describes k in errors.
func (z Sizing) design(k int) string {
	if z.Design != "" {
		return z.Design
	}
	return fmt.Sprintf("k = %d", k)
}

// Check returns an error unless goal, m and k are in range and determine a filter.
func (z Sizing) Check(g umbel.Goal, m uint64, k int) error {
	if !(g.FPRate >= 0 && g.FPRate < 1) {
		return sentinel.Errorf(umbel.ErrGoal, "false-positive rate %v must lie between 0 and 1, both excluded", g.FPRate)
	}
	if k < 0 || k > z.MaxK {
		return sentinel.Errorf(umbel.ErrGoal, "k is %d, want 1 to %d", k, z.MaxK)
	}
	if g.Bytes > 1<<53 {
		return sentinel.Errorf(umbel.ErrGoal, "%d bytes are more than 2^53", g.Bytes)
	}
	size := m != 0 || g.Bytes != 0
	switch {
	case m != 0 && g.Bytes != 0:
		return sentinel.Errorf(umbel.ErrGoal, "m = %d and %d bytes are given: omit one", m, g.Bytes)
	case size && k == 0 && g.Keys == 0 && g.FPRate == 0:
		return sentinel.Errorf(umbel.ErrGoal, "a size alone does not determine k: give k, the number of keys or a rate as well")
	case !size && (g.Keys == 0 || g.FPRate == 0):
		return sentinel.Errorf(umbel.ErrGoal, "give two of keys, false-positive rate and size")
	}
	if err := g.Hasher.Check(); err != nil {
		return sentinel.Wrap(umbel.ErrGoal, err)
	}
	return nil
}

// agree returns the number of keys that a filter is planned for. It returns an error if the
// filter cannot contain the keys at the rate.
func (z Sizing) agree(g umbel.Goal, m uint64, k int) (uint64, int, uint64, error) {
	n := g.Keys
	switch {
	case n == 0 && g.FPRate != 0:
		if n = z.Capacity(m, k, g.FPRate); n == 0 {
			return 0, 0, 0, sentinel.Errorf(umbel.ErrGoal, "%d cells with %s are too few for one key at a rate of %.3g: allow more cells or a higher rate",
				m, z.design(k), g.FPRate)
		}
	case n == 0:
		n = max(uint64(float64(m)*math.Ln2/float64(k)), 1) // half full
	case g.FPRate != 0:
		if p := z.FPRate(m, k, n); p > g.FPRate*(1+1e-9) {
			return 0, 0, 0, sentinel.Errorf(umbel.ErrGoal, "%d cells with %s have a rate of %.3g with %d keys, want %.3g: omit one of these",
				m, z.design(k), p, n, g.FPRate)
		}
	}
	return m, k, n, nil
}

// Capacity returns the largest number of keys, at most 2^62, with which the rate is at most
// p.
func (z Sizing) Capacity(m uint64, k int, p float64) uint64 {
	return Largest(0, 1, 1<<62, func(n uint64) bool { return z.FPRate(m, k, n) <= p })
}

// Largest returns the largest n from low on, below about twice the limit, for which ok is
// true. ok is true at low and false from some number on. Largest doubles high, which is
// above low, until ok is false there or the limit is reached, and then bisects.
func Largest(low, high, limit uint64, ok func(n uint64) bool) uint64 {
	for high < limit && ok(high) {
		low, high = high, high*2
	}
	for low+1 < high {
		if middle := low + (high-low)/2; ok(middle) {
			low = middle
		} else {
			high = middle
		}
	}
	return low
}

// best returns the k with the largest score. Scores have one peak.
func (z Sizing) best(score func(k int) float64) int {
	best, top := 1, score(1)
	for k := 2; k <= z.MaxK; k++ {
		s := score(k)
		if s < top {
			break
		}
		if s > top {
			best, top = k, s
		}
	}
	return best
}

// Word is the number of cells from which sizes are planned as whole words of bits, so that
// folds and unions work on words.
const Word = 64

// Anywhere returns the sizing of kinds whose keys have k cells at any positions, of width
// bits each: the formulas of the standard filter.
func Anywhere(maxK int, width uint64) Sizing {
	return Sizing{
		MaxK:  maxK,
		Width: width,
		Step:  func(int) uint64 { return 1 },
		Unit: func(m uint64, _ int) uint64 {
			if m < Word {
				return 1
			}
			return Word
		},
		FPRate: func(m uint64, k int, n uint64) float64 { return plan.Filter{M: m, K: k}.FPRate(n) },
		Size: func(n uint64, p float64) (m uint64, k int, err error) {
			f, err := plan.Size(n, p)
			return f.M, f.K, err
		},
		SizeForK: plan.SizeForK,
	}
}

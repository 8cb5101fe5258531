// Package design finds the number of cells m and of cells per key k that meet a
// goal, for every kind that has just these two.
package design

import (
	"fmt"
	"math"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/plan"
)

// Sizing is what a kind's formulas say.
type Sizing struct {
	MaxK  int    // largest k the kind takes
	Width uint64 // bits per cell
	// Round returns the next size from m up that a filter can have with k.
	Round func(m uint64, k int) uint64
	// Unit is the number of cells by which the size m may grow, so many that m/Unit
	// is what a fold's factor has to divide.
	Unit func(m uint64, k int) uint64
	// FPRate is the expected rate of m cells, k per key, with n keys.
	FPRate func(m uint64, k int, n uint64) float64
	// Size returns the least m, and its k, with at most rate p at n keys; SizeForK
	// does so for one k.
	Size     func(n uint64, p float64) (m uint64, k int, err error)
	SizeForK func(n uint64, k int, p float64) (m uint64, err error)
}

// Solve returns m and k for a goal, and the number of keys that the filter is then
// planned for. Those of m and k that aren't zero are given and kept; m is rounded
// up to a size there is, and, where it isn't given, to one that folds well
// (plan.Foldable, less than 1 % more). It is at most what Bytes allows. Errors wrap
// umbel.ErrGoal.
//
// Where a size, a k, keys and a rate are all given, they must agree: the rate at
// that many keys must be at most the one wanted.
func (z Sizing) Solve(g umbel.Goal, m uint64, k int) (uint64, int, uint64, error) {
	if err := z.check(g, m, k); err != nil {
		return 0, 0, 0, err
	}
	if g.Bytes != 0 {
		m = g.Bytes * 8 / z.Width
	}
	given := m != 0
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
		return 0, 0, 0, fmt.Errorf("%w: %w", err, umbel.ErrGoal)
	}
	if m, err = z.fit(g, m, k, given); err != nil {
		return 0, 0, 0, err
	}
	return z.agree(g, m, k)
}

// fit rounds m to a size there is: up, to one that folds well unless it is given,
// but not beyond the bytes of the goal.
func (z Sizing) fit(g umbel.Goal, m uint64, k int, given bool) (uint64, error) {
	m = z.Round(m, k)
	unit := z.Unit(m, k)
	if !given {
		return z.Round(plan.Foldable(m/unit)*unit, k), nil
	}
	if g.Bytes == 0 || m <= g.Bytes*8/z.Width {
		return m, nil
	}
	if m <= unit {
		return 0, fmt.Errorf("%d bytes are too few: the smallest filter takes %d: %w", g.Bytes, (m*z.Width+7)/8, umbel.ErrGoal)
	}
	return m - unit, nil // Round added less than a unit
}

// check returns an error unless goal, m and k are in range and determine a filter.
func (z Sizing) check(g umbel.Goal, m uint64, k int) error {
	if !(g.FPRate >= 0 && g.FPRate < 1) {
		return fmt.Errorf("false-positive rate %v must lie between 0 and 1, both excluded: %w", g.FPRate, umbel.ErrGoal)
	}
	if k < 0 || k > z.MaxK {
		return fmt.Errorf("k is %d, want 1 to %d: %w", k, z.MaxK, umbel.ErrGoal)
	}
	if g.Bytes > 1<<53 {
		return fmt.Errorf("%d bytes are more than 2^53: %w", g.Bytes, umbel.ErrGoal)
	}
	size := m != 0 || g.Bytes != 0
	switch {
	case m != 0 && g.Bytes != 0:
		return fmt.Errorf("m = %d and %d bytes are given: leave one out: %w", m, g.Bytes, umbel.ErrGoal)
	case size && k == 0 && g.Keys == 0 && g.FPRate == 0:
		return fmt.Errorf("a size alone doesn't tell k: give k, the number of keys or a rate as well: %w", umbel.ErrGoal)
	case !size && (g.Keys == 0 || g.FPRate == 0):
		return fmt.Errorf("give two of keys, false-positive rate and size: %w", umbel.ErrGoal)
	}
	return g.Hasher.Check()
}

// agree finds the keys that a filter is planned for and refuses what can't hold
// the keys at the rate.
func (z Sizing) agree(g umbel.Goal, m uint64, k int) (uint64, int, uint64, error) {
	n := g.Keys
	switch {
	case n == 0 && g.FPRate != 0:
		n = z.Capacity(m, k, g.FPRate)
	case n == 0:
		n = uint64(float64(m) * math.Ln2 / float64(k)) // half full
	case g.FPRate != 0:
		if p := z.FPRate(m, k, n); p > g.FPRate*(1+1e-9) {
			return 0, 0, 0, fmt.Errorf("%d cells with k = %d answer at a rate of %.3g with %d keys, want %.3g: leave out the size, or k, or the rate: %w",
				m, k, p, n, g.FPRate, umbel.ErrGoal)
		}
	}
	return m, k, n, nil
}

// Capacity returns the largest number of keys with which the rate is at most p.
func (z Sizing) Capacity(m uint64, k int, p float64) uint64 {
	low, high := uint64(0), m // the rate is above p at m keys for any p of use
	for low < high {
		mid := low + (high-low+1)/2
		if z.FPRate(m, k, mid) <= p {
			low = mid
		} else {
			high = mid - 1
		}
	}
	return low
}

// best returns the k with the largest score; scores rise to one peak and fall.
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

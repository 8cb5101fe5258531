// Package planning contains what the plans of plain filters, in package plan, and those of kinds have in
// common: the checks of what a user requires, and the searches for the smallest size or the largest
// number of keys that meets it.
package planning

import (
	"errors"
	"fmt"

	"github.com/umbel-filters/umbel/internal/sentinel"
)

// ErrRange is plan.ErrRange.
var ErrRange = errors.New("out of range")

// MaxCells is the largest size that is planned, in cells.
const MaxCells = 1 << 63

// CheckGoal returns an error wrapping ErrRange if n is zero or p is not inside (0, 1).
func CheckGoal(n uint64, p float64) error {
	if n == 0 {
		return sentinel.Errorf(ErrRange, "0 keys, want at least 1; give the number of keys the filter will hold")
	}
	if !(p > 0 && p < 1) {
		return sentinel.Errorf(ErrRange, "false-positive rate %v, want more than 0 and less than 1; give a fraction, 0.01 for one percent", p)
	}
	return nil
}

// CheckK returns an error wrapping ErrRange if k is less than 1.
func CheckK(k int) error {
	if k < 1 {
		return sentinel.Errorf(ErrRange, "%d cells per key, want at least 1", k)
	}
	return nil
}

// MustShape panics if no filter has m cells and sets k of them per key.
func MustShape(m uint64, k int) {
	if m == 0 || k < 1 {
		panic(fmt.Sprintf("plan: m=%d and k=%d, want both at least 1", m, k))
	}
}

// TooManyCells returns the error for a size above MaxCells.
func TooManyCells(n uint64, p float64) error {
	return sentinel.Errorf(ErrRange, "%d keys at a false-positive rate of %v need more than 2^63 cells; "+
		"accept a higher rate, set more cells per key, or spread the keys over several filters", n, p)
}

// Sigmas95 is the half-width of the central 95 percent of a normal distribution, in standard
// deviations.
const Sigmas95 = 1.959963984540054

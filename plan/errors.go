package plan

import (
	"errors"
	"fmt"
)

// ErrRange is wrapped by the errors of this package: a wish is outside the range
// for which there is a filter. The text around it says which number, and what to
// do about it.
var ErrRange = errors.New("out of range")

// checkGoal returns an error that wraps ErrRange if n is zero or p is not inside
// (0, 1).
func checkGoal(n uint64, p float64) error {
	if n == 0 {
		return fmt.Errorf("plan: 0 keys, want at least 1; give the number of keys the filter will hold: %w", ErrRange)
	}
	if !(p > 0 && p < 1) {
		return fmt.Errorf("plan: false-positive rate %v, want more than 0 and less than 1; give a fraction, 0.01 for one percent: %w", p, ErrRange)
	}
	return nil
}

// checkK returns an error that wraps ErrRange if k is less than 1.
func checkK(k int) error {
	if k < 1 {
		return fmt.Errorf("plan: %d cells per key, want at least 1: %w", k, ErrRange)
	}
	return nil
}

// mustKeys panics if there are no keys.
func mustKeys(n uint64) {
	if n == 0 {
		panic("plan: 0 keys, want at least 1")
	}
}

// mustShape panics if no filter has m cells and sets k of them per key.
func mustShape(m uint64, k int) {
	if m == 0 || k < 1 {
		panic(fmt.Sprintf("plan: m=%d and k=%d, want both at least 1", m, k))
	}
}

package cells

import "fmt"

// CheckFold returns an error that wraps [ErrShape], and says by what they do, if
// groups of so many cells don't fold by r: it is zero or doesn't divide groups.
func CheckFold(groups, group, r uint64) error {
	if r == 0 || groups%r != 0 {
		return fmt.Errorf("cells: %d groups of %d cells don't fold by %d, they do by %s: %w",
			groups, group, r, divisorsNear(groups, r), ErrShape)
	}
	return nil
}

// divisorsNear names the divisors of n next to r, below and above it, for an error
// that says what would do. It looks at divisors up to 2^16 and their cofactors
// only, so for n beyond 2^32 there may be nearer ones; the time is bounded.
func divisorsNear(n, r uint64) string {
	below, above := uint64(1), max(n, 1)
	for d := uint64(1); d <= 1<<16 && d <= n/d; d++ {
		if n%d != 0 {
			continue
		}
		for _, f := range [2]uint64{d, n / d} {
			if f < r {
				below = max(below, f)
			} else {
				above = min(above, f)
			}
		}
	}
	if below == above {
		return fmt.Sprint(below)
	}
	return fmt.Sprintf("%d and %d", below, above)
}

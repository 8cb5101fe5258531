package plan

import (
	"fmt"
	"math"

	"github.com/umbel-filters/umbel/internal/number"
)

// DefaultOversize is by how much a base is larger than what its keys need, if
// nothing else is said.
const DefaultOversize = 12

// WordsFrom is the size in cells from which a [Base] is whole words, made to fold by
// whole words at a time. A smaller one has too few words for that: of 131,040 cells
// 144 sizes are reached cell by cell, of the 1980 words of 126,720 cells only 36.
const WordsFrom = 1 << 20

// Base returns the number of cells of a filter to fold from: one that holds up to n
// distinct keys, k cells per key, and folds to sizes at which its rate stays from
// p-eps to p+eps while it holds fewer. It is oversize times as large as some size in
// the [Interval] for n keys, and at most half as large again as oversize times the
// least of them. In that range it has the most divisors; of several that do it is
// the least.
//
// From [WordsFrom] cells on it is a multiple of 64, and what has the divisors is the
// number of words, since folds keep words together: take Ladder(m, 64) then, and
// Ladder(m, 1) below.
//
// An oversize of 0 stands for [DefaultOversize]. A base as large as its keys need
// has only its half, its third and so on below it; 12 times as large it has
// divisors close to every size. For n=1000, k=4, p=0.01, eps=0.002 and all numbers
// of keys up to n, a divisor is inside the interval for 41 % of them and the folds
// are 26 % too large in the mean; with 12 times the size these are 99 % and 4 %.
//
// The error wraps [ErrRange] as that of Interval does, and if oversize is not 0 and
// less than 1, or the size would be above 2^63.
//
// Source: Sailhan and Stehr 2012, section IV: most divisors, without the oversize.
func BaseSize(n uint64, k int, p, eps float64, oversize float64) (m uint64, err error) {
	low, high, err := SizeInterval(n, k, p, eps)
	if err != nil {
		return 0, err
	}
	if oversize == 0 {
		oversize = DefaultOversize
	}
	if !(oversize >= 1) {
		return 0, fmt.Errorf("plan: a base %v times as large as its keys need, want 1 or more, or 0 for %d: %w", oversize, DefaultOversize, ErrRange)
	}
	if float64(high)*oversize > maxCells {
		return 0, fmt.Errorf("plan: a base %v times as large as %d keys need has more than 2^63 cells; accept a smaller one or a higher rate: %w", oversize, n, ErrRange)
	}
	// A wide interval would only make the base larger than was asked for.
	least := math.Ceil(float64(low) * oversize)
	most := math.Floor(min(float64(high)*oversize, least*1.5))
	unit := uint64(1)
	if least >= WordsFrom {
		unit = 64
	} else {
		most = min(most, WordsFrom-1)
	}
	// A narrow interval may lie between two whole numbers of words: take the next.
	lowest := (uint64(least) + unit - 1) / unit
	groups, _ := number.MostDivisors(lowest, max(lowest, uint64(most)/unit))
	return groups * unit, nil
}

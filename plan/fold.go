package plan

import (
	"math"

	"github.com/umbel-filters/umbel/internal/number"
)

// largestUnit is the largest highly composite number that is used as a unit of size.
const largestUnit = 720720

// RoundFoldable rounds groups up to a number that folds well: a multiple of the largest highly
// composite number that is at most groups/128. The result is less than 1 % larger, 0.4 % on
// average, and folds by every divisor of that number: 15,639 groups, which fold by 3, 13, 39
// and 401, become 15,720, which fold by every divisor of 120. Numbers below 256 or above 2^63
// are returned unchanged.
//
// Sailhan and Stehr 2012, section IV, choose among largely composite and smooth numbers for the
// same purpose.
func RoundFoldable(groups uint64) uint64 {
	if groups < 256 || groups > 1<<63 {
		return groups
	}
	units := number.HighlyComposite(min(groups/128, largestUnit))
	unit := units[len(units)-1]
	return (groups + unit - 1) / unit * unit
}

// FoldSizes returns the sizes to which a filter of m cells can be folded, in ascending order and
// with m as the last: all divisors of m that are multiples of unit, the number of cells that
// stay together in a fold (1, a word, a block). It returns none if unit is 0 or doesn't divide
// m, or m is 0. A fold to size s is by the factor m/s.
func FoldSizes(m, unit uint64) []uint64 {
	if unit == 0 || m%unit != 0 {
		return nil
	}
	sizes := number.Divisors(m / unit)
	for i := range sizes {
		sizes[i] *= unit
	}
	return sizes
}

// MeanOvershoot returns the mean overshoot of folds to sizes, as a fraction: the smallest size
// that is at least s, divided by s, less 1, averaged over ln s from a thousandth of the largest
// size, or from 1, up to the largest. The divisors of 2^20 give 0.44, those of 720,720 give
// 0.095. It panics if sizes is empty.
func MeanOvershoot(sizes []uint64) float64 {
	if len(sizes) == 0 {
		panic("plan: no sizes to fold to")
	}
	top := float64(sizes[len(sizes)-1])
	if top == 1 {
		return 0
	}
	bottom := max(top/1000, 1)
	below, sum := bottom, 0.0
	for _, size := range sizes {
		if s := float64(size); s > below {
			// The integral of s/x - 1 over ln x from below to s.
			sum += s/below - 1 - math.Log(s/below)
			below = s
		}
	}
	return sum / math.Log(top/bottom)
}

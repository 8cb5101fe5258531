package plan

import "github.com/umbel-filters/umbel/internal/number"

// largestUnit is the largest highly composite number that is used as a unit of size.
const largestUnit = 720720

// Foldable returns the next number from groups up that folds well: a multiple of
// the largest highly composite number that is at most a 128th of groups, and so
// less than 1 % above it, 0.4 % in the mean. A filter of so many groups of cells
// folds by each divisor of that number: 15,639 groups, which fold by 3, 13, 39 and
// 401, become 15,720, which fold by every divisor of 120. Numbers below 256 come
// back as they are, and so do those above 2^63.
//
// Sailhan and Stehr 2012, section IV, choose among largely composite and smooth
// numbers for the same end.
func RoundFoldable(groups uint64) uint64 {
	if groups < 256 || groups > 1<<63 {
		return groups
	}
	units := number.HighlyComposite(min(groups/128, largestUnit))
	unit := units[len(units)-1]
	return (groups + unit - 1) / unit * unit
}

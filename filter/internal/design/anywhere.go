package design

import "github.com/umbel-filters/umbel/plan"

// Word is the number of cells from which on sizes are planned as whole words of a
// plane of bits, so that folds and unions work on words.
const Word = 64

// Anywhere is the sizing of kinds whose keys have k cells anywhere, of width bits
// each: the formulas are those of the standard filter.
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
		FPRate:   plan.FPRate,
		Size:     plan.Size,
		SizeForK: plan.SizeForK,
	}
}

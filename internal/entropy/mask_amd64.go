//go:build amd64 && !purego && !race

package entropy

import "github.com/klauspost/cpuid/v2"

//go:generate sh -c "cd _gen && GOWORK=off go run ./mask -out ../mask_amd64.s"

// haveMasks tells whether packing under a mask is one fast instruction. Before Zen 3,
// AMD's take a step for each bit.
var haveMasks = cpuid.CPU.Supports(cpuid.POPCNT, cpuid.BMI1, cpuid.BMI2) &&
	(cpuid.CPU.VendorID != cpuid.AMD || cpuid.CPU.Family >= 0x19)

// extractWords packs the bits of n words of src under mask into dst, and returns
// their count, and what belongs into the last word of dst if they don't fill it. dst has
// a word for each bit that is beyond those of any word but the last. n is 1 or more.
//
//go:noescape
func extractWords(dst, src, mask *uint64, n int) (last, count uint64)

// depositWords deposits the bits of src, of so many words, under n words of mask, until
// fewer than two words of src are left. It returns the number of words of mask that
// are left, and of bits that are taken. n is 1 or more.
//
//go:noescape
func depositWords(dst, src, mask *uint64, n, words int) (left int, at uint64)

package entropy

import (
	"fmt"
	"math/bits"
)

// Extract packs the bits of src that lie under mask, in their order, into dst, and
// returns how many there are: those are bits 0 to n-1 of dst, and the rest of dst is
// zero. It panics if src is shorter than mask, or dst than the bits need.
func Extract(dst, src, mask []uint64) uint64 {
	if len(src) < len(mask) {
		panic(fmt.Sprintf("entropy: %d words under a mask of %d", len(src), len(mask)))
	}
	clear(dst)
	n := uint64(0)
	for i, m := range mask {
		w := src[i]
		for ; m != 0; m &= m - 1 {
			bit := uint64(bits.TrailingZeros64(m))
			dst[n/64] |= w >> bit & 1 << (n % 64)
			n++
		}
	}
	return n
}

// Deposit is the inverse of [Extract]: bit k of src becomes the bit of dst under the
// k-th one of mask. Bits of dst outside mask stay. It panics if dst is shorter than
// mask, or src than the ones of mask need.
func Deposit(dst, src, mask []uint64) {
	if len(dst) < len(mask) {
		panic(fmt.Sprintf("entropy: %d words under a mask of %d", len(dst), len(mask)))
	}
	n := uint64(0)
	for i, m := range mask {
		w := dst[i] &^ m
		for ; m != 0; m &= m - 1 {
			w |= src[n/64] >> (n % 64) & 1 << bits.TrailingZeros64(m)
			n++
		}
		dst[i] = w
	}
}

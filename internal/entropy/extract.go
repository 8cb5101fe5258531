package entropy

import (
	"fmt"
	"math/bits"
)

// Extract packs the bits of src that lie under mask, in their order, into dst, and
// returns how many there are: those are bits 0 to n-1 of dst, and the rest of dst is
// zero. It panics if src isn't as long as mask, or dst is shorter than the bits need.
func Extract(dst, src, mask []uint64) uint64 {
	if len(src) != len(mask) {
		panic(fmt.Sprintf("entropy: %d words by a mask of %d", len(src), len(mask)))
	}
	done, at, partial := extract(dst, src, mask)
	if all := at + (Bits{Words: mask[done:]}).Count(); all > 64*uint64(len(dst)) {
		panic(fmt.Sprintf("entropy: %d bits into %d words", all, len(dst)))
	}
	if at%64 != 0 {
		dst[at/64] = partial
	}
	clear(dst[(at+63)/64:])
	return at
}

// extractPlain packs the bits of src under mask, while there is room for another one.
// It returns how many words are done, how many bits there were, and those of them that
// don't fill a word of dst. The bits of the last word that there isn't room for it counts.
func extractPlain(dst, src, mask []uint64) (done int, at, partial uint64) {
	for i, m := range mask {
		if at/64 >= uint64(len(dst)) {
			return i, at, partial
		}
		w := src[i] & m
		if w != 0 && m != ^uint64(0) {
			w = pext(w, m)
		}
		partial |= w << (at % 64)
		end := at + uint64(bits.OnesCount64(m))
		if end/64 > at/64 {
			dst[at/64] = partial
			partial = w >> 1 >> (63 - at%64)
		}
		at = end
	}
	return len(mask), at, partial
}

// Deposit is the inverse of [Extract]: bit k of src becomes the bit of dst under the
// k-th one of mask. Bits of dst outside mask stay. It panics if dst isn't as long as
// mask, or src is shorter than the ones of mask need.
func Deposit(dst, src, mask []uint64) {
	if len(dst) != len(mask) {
		panic(fmt.Sprintf("entropy: %d words by a mask of %d", len(dst), len(mask)))
	}
	done, at := deposit(dst, src, mask)
	for i := done; i < len(mask); i++ {
		count := uint64(bits.OnesCount64(mask[i]))
		if count == 0 {
			continue
		}
		if at+count > 64*uint64(len(src)) {
			panic(fmt.Sprintf("entropy: %d bits and more from %d words", at+count, len(src)))
		}
		w := src[at/64] >> (at % 64)
		if at/64 < (at+count-1)/64 {
			w |= src[at/64+1] << (64 - at%64)
		}
		dst[i] = dst[i]&^mask[i] | pdep(w, mask[i])
		at += count
	}
}

// depositPlain is the inverse of extractPlain. It stops at the last word of src, and
// returns how many words of dst are done with how many bits.
func depositPlain(dst, src, mask []uint64) (done int, at uint64) {
	for i, m := range mask {
		if at/64+1 >= uint64(len(src)) {
			return i, at
		}
		w := src[at/64]>>(at%64) | src[at/64+1]<<1<<(63-at%64)
		if w != 0 && m != ^uint64(0) {
			w = pdep(w, m)
		}
		dst[i] = dst[i]&^m | w&m
		at += uint64(bits.OnesCount64(m))
	}
	return len(mask), at
}

// pext returns the bits of w under m, packed.
func pext(w, m uint64) (packed uint64) {
	for w &= m; w != 0; w &= w - 1 {
		packed |= 1 << bits.OnesCount64(m&(w&-w-1))
	}
	return packed
}

// pdep returns the low bits of w, one under each one of m.
func pdep(w, m uint64) (spread uint64) {
	for ; w != 0 && m != 0; m &= m - 1 {
		spread |= m & -m & -(w & 1)
		w >>= 1
	}
	return spread
}

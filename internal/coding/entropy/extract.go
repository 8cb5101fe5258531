package entropy

import (
	"fmt"
	"math/bits"
)

// Extract packs the bits of src under mask into the low n bits of dst, in order, and returns n.
// It clears the rest of dst. It panics if src and mask have different lengths or dst is too
// short.
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

// extractPlain packs the bits of src under mask while dst has room for one more. It returns the
// number of words done, the number of their bits, and the bits that don't fill a word of dst. It
// also counts the bits of the last word for which dst has no room.
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

// Deposit is the inverse of [Extract]: it sets the bit of dst under the k-th one of mask to bit k
// of src. Other bits of dst are unchanged. It panics if dst and mask have different lengths or
// src is too short.
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

// depositPlain is the inverse of extractPlain. It stops at the last word of src, and returns
// the numbers of words and bits done.
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

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
	for len(mask) > 0 && mask[len(mask)-1] == 0 {
		mask = mask[:len(mask)-1]
	}
	if haveMasks && len(mask) > 0 && len(dst) >= len(mask) {
		last, n := extractWords(&dst[0], &src[0], &mask[0], len(mask))
		if n%64 != 0 {
			dst[n/64] = last
		}
		return n
	}
	return extractPlain(dst, src, mask)
}

// extractPlain is Extract into words that are zero. Words without a one under mask are
// only counted.
func extractPlain(dst, src, mask []uint64) uint64 {
	n := uint64(0)
	for i, m := range mask {
		w := src[i] & m
		switch {
		case w == 0:
		case m == ^uint64(0):
			dst[n/64] |= w << (n % 64)
			if n%64 != 0 && w>>(64-n%64) != 0 {
				dst[n/64+1] = w >> (64 - n%64)
			}
		default:
			for ; w != 0; w &= w - 1 {
				k := n + uint64(bits.OnesCount64(m&(w&-w-1)))
				dst[k/64] |= 1 << (k % 64)
			}
		}
		n += uint64(bits.OnesCount64(m))
	}
	if uint64(len(dst)) < (n+63)/64 {
		panic(fmt.Sprintf("entropy: %d bits into %d words", n, len(dst)))
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
	n, done := 0, 0
	if haveMasks && len(mask) > 0 && len(src) > 1 {
		left, at := depositWords(&dst[0], &src[0], &mask[0], len(mask), len(src))
		n, done = int(at), len(mask)-left
	}
	depositPlain(dst[done:], src, mask[done:], n)
}

// depositPlain is Deposit of the bits of src from bit n on. Words that get no one are
// only counted.
func depositPlain(dst, src, mask []uint64, n int) {
	next := nextOne(src, n)
	for i, m := range mask {
		begin := n
		n += bits.OnesCount64(m)
		if n <= next {
			dst[i] &^= m
			continue
		}
		v := src[begin>>6] >> (begin & 63)
		if after := begin>>6 + 1; begin&63 != 0 && after < len(src) {
			v |= src[after] << (64 - begin&63)
		}
		if m == ^uint64(0) {
			dst[i] = v
		} else {
			w := uint64(0)
			for v &= 1<<(n-begin) - 1; v != 0; v &= v - 1 {
				w |= 1 << nth(m, bits.TrailingZeros64(v))
			}
			dst[i] = dst[i]&^m | w
		}
		next = nextOne(src, n)
	}
	if len(src) < (n+63)/64 {
		panic(fmt.Sprintf("entropy: %d bits from %d words", n, len(src)))
	}
}

// nextOne returns the number of the first one from bit i on, or more than any array
// has if there is none.
func nextOne(words []uint64, i int) int {
	if k := i >> 6; k < len(words) {
		if w := words[k] >> (i & 63); w != 0 {
			return i + bits.TrailingZeros64(w)
		}
		for k++; k < len(words); k++ {
			if w := words[k]; w != 0 {
				return k<<6 + bits.TrailingZeros64(w)
			}
		}
	}
	return int(^uint(0) >> 1)
}

// nth returns the position of the one of w that has n others below it; w has more
// than n. It counts the ones of bytes, and those of all bytes up to each by a product
// (Vigna 2008, "Broadword implementation of rank/select queries").
func nth(w uint64, n int) int {
	const low, high = 0x0101010101010101, 0x8080808080808080
	s := w - w>>1&0x5555555555555555
	s = s&0x3333333333333333 + s>>2&0x3333333333333333
	s = ((s + s>>4) & 0x0f0f0f0f0f0f0f0f) * low
	below := bits.OnesCount64(((uint64(n)*low|high)-s)&high) * 8 // bits of whole bytes
	n -= int(s << 8 >> below & 0xff)
	return below + int(nthOfByte[uint8(w>>below)][n&7])
}

// nthOfByte is nth for all bytes.
var nthOfByte = func() (table [256][8]uint8) {
	for w := range table {
		n := 0
		for i := range uint8(8) {
			if w>>i&1 != 0 {
				table[w][n] = i
				n++
			}
		}
	}
	return table
}()

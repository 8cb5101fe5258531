package model

import (
	"math/bits"

	"github.com/umbel-filters/umbel/cells"
)

// Cost returns about how many bytes a string of n bits with x ones takes, n below
// 2^40: the entropy n·H(x/n), with two bytes for the level and the state. The true
// number is mostly within a byte of it. As it is made of integers, choices that follow
// from it are the same on all machines.
func Cost(n, x uint64) uint64 {
	if x == 0 || x >= n {
		return 2
	}
	h := n*log2(n) - x*log2(x) - (n-x)*log2(n-x)
	return h>>(logBits+3) + 2
}

// DeltaCost returns about how many bytes [Coder.AppendDelta] appends for blocks of
// bits: the cost of its two strings.
func DeltaCost(old, block cells.Array) uint64 {
	alike(old, block)
	ones, gone, come := 0, 0, 0
	for i, w := range old.Words {
		flips := w ^ block.Words[i]
		ones += bits.OnesCount64(w)
		gone += bits.OnesCount64(w & flips)
		come += bits.OnesCount64(flips &^ w)
	}
	return Cost(uint64(ones), uint64(gone)) + Cost(old.Len-uint64(ones), uint64(come))
}

const logBits = 16

// log2 returns 2^16·log2 x, or up to 1 less, for x of at least 1: bit by bit, as the
// square of a number has twice its logarithm.
func log2(x uint64) uint64 {
	whole := uint64(bits.Len64(x) - 1)
	f := x << (63 - whole) // in [1, 2), 63 bits after the point
	log := whole
	for range logBits {
		hi, lo := bits.Mul64(f, f) // in [1, 4), 126 bits after the point
		log <<= 1
		if hi>>63 != 0 {
			log |= 1
			f = hi
		} else {
			f = hi<<1 | lo>>63
		}
	}
	return log
}

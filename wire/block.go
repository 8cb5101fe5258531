package wire

import (
	"iter"

	"github.com/umbel-filters/umbel/cells"
)

// coding chooses the coding of a block; ones is what its last word is when all
// cells are full.
type coding func(words []uint64, ones uint64) byte

// canonical codes all blocks raw.
func canonical([]uint64, uint64) byte { return raw }

// smallest returns the coding in which a block takes the fewest bytes.
func smallest(words []uint64, ones uint64) byte {
	rest, last := words[:len(words)-1], words[len(words)-1]
	switch {
	case last == 0 && all(rest, 0):
		return empty
	case last == ones && all(rest, ^uint64(0)):
		return full
	}
	return raw
}

// all reports whether all words are w.
func all(words []uint64, w uint64) bool {
	for _, x := range words {
		if x != w {
			return false
		}
	}
	return true
}

// fill makes a block full.
func fill(words []uint64, ones uint64) {
	for i := range words {
		words[i] = ^uint64(0)
	}
	words[len(words)-1] = ones
}

// blocks yields the blocks of an array that passes its Check, each with what its
// last word is when all cells are full.
func blocks(a cells.Array) iter.Seq2[[]uint64, uint64] {
	return func(yield func([]uint64, uint64) bool) {
		left := len(a.Words)
		for _, b := range a.Blocks(blockWords) {
			left -= len(b)
			ones := ^uint64(0)
			if left == 0 {
				ones = lastOnes(a)
			}
			if !yield(b, ones) {
				return
			}
		}
	}
}

// lastOnes returns the last word of an array whose cells are all full.
func lastOnes(a cells.Array) uint64 {
	return ^uint64(0) >> (-(a.Len * uint64(max(a.Width, 1))) & 63)
}

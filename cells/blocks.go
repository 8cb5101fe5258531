package cells

import (
	"iter"
	"slices"
)

// Blocks yields the words of the array in blocks of words words, at least 1, each
// with its number; the last block is shorter where they don't divide. The slices
// share the array's memory.
func (a Array) Blocks(words int) iter.Seq2[int, []uint64] {
	return func(yield func(int, []uint64) bool) {
		i := 0
		for b := range slices.Chunk(a.Words, words) {
			if !yield(i, b) {
				return
			}
			i++
		}
	}
}

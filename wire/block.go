package wire

import (
	"iter"

	"github.com/umbel-filters/umbel/cells"
)

// numBlocks returns the number of blocks of an array.
func numBlocks(a cells.Array) uint64 {
	perBlock := blockCells(a)
	n := a.Len / perBlock
	if a.Len%perBlock != 0 {
		n++
	}
	return n
}

// blockCells returns the number of cells of all blocks of an array but its last.
func blockCells(a cells.Array) uint64 { return blockWords * 64 / uint64(max(a.Width, 1)) }

// shapeOf returns block i of an array without its words, and how many these are.
func shapeOf(a cells.Array, i uint64) (b cells.Array, words int) {
	n := blockCells(a)
	b = cells.Array{Len: min(n, a.Len-i*n), Width: max(a.Width, 1)}
	return b, int((b.Len*uint64(b.Width) + 63) / 64)
}

// blockOf returns block i of an array, an array that shares the memory of a.
func blockOf(a cells.Array, i uint64) cells.Array {
	b, words := shapeOf(a, i)
	b.Words = a.Words[i*blockWords:][:words]
	return b
}

// room is memory for blocks of cells that are nowhere else.
type room []uint64

// block returns block i of a plane, its cells zero, as the k-th of up to n blocks of
// that plane that have room together.
func (r *room) block(a cells.Array, i uint64, k, n int) cells.Array {
	_, most := shapeOf(a, 0)
	if most *= n; len(*r) < most {
		*r = make(room, most)
	}
	b, words := shapeOf(a, i)
	b.Words = (*r)[k*blockWords:][:words]
	clear(b.Words)
	return b
}

// blocks yields the blocks of an array that passes its Check.
func blocks(a cells.Array) iter.Seq[cells.Array] {
	return func(yield func(cells.Array) bool) {
		for i := range numBlocks(a) {
			if !yield(blockOf(a, i)) {
				return
			}
		}
	}
}

// coding chooses the coding of a block among those that need no payload.
type coding func(b cells.Array) byte

// canonical codes all blocks raw.
func canonical(cells.Array) byte { return raw }

// plain codes blocks as empty or full where they are, and raw otherwise.
func plain(b cells.Array) byte {
	rest, last := b.Words[:len(b.Words)-1], b.Words[len(b.Words)-1]
	switch {
	case last == 0 && all(rest, 0):
		return empty
	case last == lastOnes(b) && all(rest, ^uint64(0)):
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
func fill(b cells.Array) {
	for i := range b.Words {
		b.Words[i] = ^uint64(0)
	}
	b.Words[len(b.Words)-1] = lastOnes(b)
}

// lastOnes returns the last word of an array whose cells are all full.
func lastOnes(a cells.Array) uint64 {
	return ^uint64(0) >> (-(a.Len * uint64(max(a.Width, 1))) & 63)
}

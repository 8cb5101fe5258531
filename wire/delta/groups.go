package delta

import (
	"math/bits"

	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/internal/coding/entropy"
)

// A list has the cells that change or, if several cells of a key are close together, groups of words that
// change (spec/codings.md, "Lists of changes"). The choices in this file decide how long it is. Any choice is
// correct.

// groupSizes are the words of the groups that are tried: words, and the blocks of common filters.
var groupSizes = []uint64{1, 2, 4, 8, 16}

// groupWords returns the words of the groups with the shortest code, 0 for single cells.
func (k known) groupWords() (words uint64) {
	cell := uint64(k.a.Width)
	changed := uint64(0) // cells
	for range k.changedCells() {
		changed++
	}
	least := changed * gapBits(k.a.Len, changed)
	for _, size := range groupSizes {
		n := uint64(0)
		for range k.changedGroups(size) {
			n++
		}
		if b := n*gapBits(numGroups(k.a, size), n) + changed*gapBits(n*size*64/cell, changed); b < least {
			words, least = size, b
		}
	}
	return words
}

// gapBits returns about 256·(log2(n/x) + 1.44), which a gap between x random ones of n bits takes. Between powers of
// two, a line stands for the logarithm.
func gapBits(n, x uint64) uint64 {
	log := func(v uint64) uint64 {
		e := uint64(bits.Len64(v)) - 1
		return e<<8 + v<<(63-e)<<1>>56
	}
	return log(n) + 369 - log(x)
}

// numGroups returns the number of groups of an array, of which the last one may have fewer words.
func numGroups(a cells.Array, size uint64) uint64 { return (uint64(len(a.Words)) + size - 1) / size }

// changedCells yields the cells that change, each with its flip.
func (k known) changedCells() func(yield func(cell uint64, f Flip) bool) {
	width := uint64(k.a.Width)
	return func(yield func(uint64, Flip) bool) {
		for _, f := range k.list {
			for m := f.Mask; m != 0; {
				i := uint64(bits.TrailingZeros64(m)) / width
				if !yield(f.Word*(64/width)+i, f.Flip) {
					return
				}
				m &^= k.a.Limit() << (i * width)
			}
		}
	}
}

// changedGroups yields the groups that change, each with its flips.
func (k known) changedGroups(size uint64) func(yield func(group uint64, flips []ranked) bool) {
	return func(yield func(uint64, []ranked) bool) {
		for begin, end := 0, 0; begin < len(k.list); begin = end {
			group := k.list[begin].Word / size
			for end < len(k.list) && k.list[end].Word/size == group {
				end++
			}
			if !yield(group, k.list[begin:end]) {
				return
			}
		}
	}
}

// parts returns which groups of words change, or which counters if size is 0, and their cells before and after
// the change.
func (k known) parts(size uint64) (at entropy.Sparse, base, part cells.Array) {
	if size == 0 {
		return k.counters()
	}
	return k.groups(size)
}

// counters returns which cells change, and these cells before and after the change.
func (k known) counters() (at entropy.Sparse, base, part cells.Array) {
	at.Len = k.a.Len
	width := uint64(k.a.Width)
	base.Width, part.Width = k.a.Width, k.a.Width
	for cell, f := range k.changedCells() {
		i := uint64(len(at.Ones))
		at.Ones = append(at.Ones, cell)
		if i*width%64 == 0 {
			base.Words, part.Words = append(base.Words, 0), append(part.Words, 0)
		}
		base.Len, part.Len = i+1, i+1
		v, flips := k.a.Get(cell), f.Mask>>(cell*width%64)&k.a.Limit()
		part.Put(i, v)
		base.Put(i, v^flips)
	}
	return at, base, part
}

// groups returns which groups change, and their cells before and after the change.
func (k known) groups(size uint64) (at entropy.Sparse, base, part cells.Array) {
	at.Len = numGroups(k.a, size)
	width := k.a.Width
	base.Width, part.Width = width, width
	for group, flips := range k.changedGroups(size) {
		at.Ones = append(at.Ones, group)
		words := k.a.Words[group*size : min((group+1)*size, uint64(len(k.a.Words)))]
		part.Words = append(part.Words, words...)
		base.Words = append(base.Words, words...)
		was := base.Words[len(base.Words)-len(words):]
		for _, f := range flips {
			was[f.Word-group*size] ^= f.Mask
		}
		part.Len += min(uint64(len(words))*64/uint64(width), k.a.Len-group*size*64/uint64(width))
	}
	base.Len = part.Len
	return at, base, part
}

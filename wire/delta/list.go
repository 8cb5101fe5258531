package delta

import (
	"iter"
	"math/bits"

	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/internal/coding/entropy"
	"github.com/umbel-filters/umbel/internal/coding/model"
	"github.com/umbel-filters/umbel/wire/internal/block"
)

// A list has the cells that change or, if several cells of a key are close together, groups of words that
// change (spec/codings.md, "Lists of changes"). The choices in this file decide how long it is. Any choice is
// correct.

// list encodes an array as one run with lists. It leaves j.bytes empty if they would have too many words.
func (j *encodeJob) list(d difference) {
	j.bytes = j.bytes[:0]
	j.n = block.Count(d.a)
	j.run = d.run(0, j.n)
	coding := byte(codingList)
	if size := j.groupSize(); size == 0 && d.a.Width <= 1 {
		gone, come := j.split(&j.runMemory)
		j.payload = model.AppendListedBits(j.payload[:0], gone, come)
		if n := len(j.payload); len(gone.Ones)+len(come.Ones) >= gapChanges {
			if j.payload = j.codec.Modeler.AppendGapLists(j.payload, gone, come); len(j.payload) > n && len(j.payload) < 2*n {
				j.payload, coding = append(j.payload[:0], j.payload[n:]...), codingGaps
			} else {
				j.payload = j.payload[:n]
			}
		}
	} else {
		at, base, part := j.parts(size)
		if max(size*uint64(len(at.Ones)), uint64(len(part.Words))) > model.MaxListed {
			return
		}
		j.payload = j.codec.Modeler.AppendListed(j.payload[:0], size, at, base, part)
	}
	j.append(coding)
}

// gapChanges is the number of changes from which a list by gaps may be shorter.
const gapChanges = 100

// maxGroup is the logarithm of the words of the largest groups that are tried: from words to the blocks of common
// filters.
const maxGroup = 4

// groupSize returns the words of the groups with the shortest code, 0 for single cells.
func (r *run) groupSize() (words uint64) {
	changed := uint64(0)            // cells
	var groups [maxGroup + 1]uint64 // of 1<<i words
	last := noWord
	c := r.changes
	for c.next() {
		for range changedCells(c.mask, r.cells) {
			changed++
		}
		for i := range min(bits.Len64(c.word^last), len(groups)) {
			groups[i]++
		}
		last = c.word
	}
	least := changed * gapBits(r.cells.Len, changed)
	for i, n := range groups {
		size := uint64(1) << i
		if b := n*gapBits(numGroups(r.cells, size), n) + changed*gapBits(n*size*64/uint64(r.cells.Width), changed); b < least {
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

// numGroups returns the number of groups of an array. The last group may have fewer words.
func numGroups(a cells.Array, size uint64) uint64 { return (uint64(len(a.Words)) + size - 1) / size }

// changedCells yields the cells of a word that change, and their masks.
func changedCells(mask uint64, a cells.Array) iter.Seq2[uint64, uint64] {
	width := uint64(a.Width)
	return func(yield func(uint64, uint64) bool) {
		for mask != 0 {
			i := uint64(bits.TrailingZeros64(mask)) / width
			cell := mask >> (i * width) & a.Limit()
			if !yield(i, cell) {
				return
			}
			mask &^= cell << (i * width)
		}
	}
}

// parts returns which groups of words change, or which counters if size is 0, and their cells before and after
// the change.
func (r *run) parts(size uint64) (at entropy.Sparse, base, part cells.Array) {
	if size == 0 {
		return r.counters()
	}
	return r.groups(size)
}

// counters returns which cells change, and these cells before and after the change.
func (r *run) counters() (at entropy.Sparse, base, part cells.Array) {
	at.Len = r.cells.Len
	width := uint64(r.cells.Width)
	base.Width, part.Width = r.cells.Width, r.cells.Width
	c := r.changes
	for c.next() {
		for i, flips := range changedCells(c.mask, r.cells) {
			n, cell := uint64(len(at.Ones)), c.word*(64/width)+i
			at.Ones = append(at.Ones, cell)
			if n*width%64 == 0 {
				base.Words, part.Words = append(base.Words, 0), append(part.Words, 0)
			}
			base.Len, part.Len = n+1, n+1
			v := r.cells.Get(cell)
			part.Put(n, v)
			base.Put(n, v^flips)
		}
	}
	return at, base, part
}

// groups returns which groups change, and their cells before and after the change.
func (r *run) groups(size uint64) (at entropy.Sparse, base, part cells.Array) {
	at.Len = numGroups(r.cells, size)
	perWord := 64 / uint64(r.cells.Width)
	base.Width, part.Width = r.cells.Width, r.cells.Width
	c := r.changes
	for c.next() {
		group := c.word / size
		words := r.cells.Words[group*size : min((group+1)*size, uint64(len(r.cells.Words)))]
		if n := len(at.Ones); n == 0 || at.Ones[n-1] != group {
			at.Ones = append(at.Ones, group)
			base.Words, part.Words = append(base.Words, words...), append(part.Words, words...)
			part.Len += min(uint64(len(words))*perWord, r.cells.Len-group*size*perWord)
		}
		base.Words[len(base.Words)-len(words):][c.word-group*size] ^= c.mask
	}
	base.Len = part.Len
	return at, base, part
}

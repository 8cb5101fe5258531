package delta

import (
	"math/bits"
	"slices"

	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/internal/coding/entropy"
	"github.com/umbel-filters/umbel/wire/internal/block"
)

// difference is how an array differs from its prediction: by changes, if they are known or few, or else by comparing
// both.
type difference struct {
	a         cells.Array
	predicted cells.Array // if blocks is nil

	changes packed
	blocks  []blockChanges // and the end
	ones    counts         // of a; none for counters
}

// blockChanges are where the changes of a block begin, and how many bits they are.
type blockChanges struct {
	at    int    // in the packed changes
	after uint64 // the word after the last one before at
	bits  uint64
}

// newDifference returns the difference of an array whose changes are known.
func newDifference(a cells.Array, changes packed, ones counts) difference {
	d := difference{a: a, changes: changes, blocks: make([]blockChanges, block.Count(a)+1), ones: ones}
	n := uint64(0) // blocks that begin before the change
	c := changes.all()
	for at, after := 0, uint64(0); c.next(); at, after = len(changes)-len(c.rest), c.after {
		for ; n*block.Words <= c.word && n < uint64(len(d.blocks)); n++ {
			d.blocks[n] = blockChanges{at: at, after: after}
		}
		d.blocks[n-1].bits += uint64(bits.OnesCount64(c.mask))
	}
	for ; n < uint64(len(d.blocks)); n++ {
		d.blocks[n].at = len(changes)
	}
	return d
}

// compare returns the difference of an array from its prediction.
func compare(a, predicted cells.Array) difference {
	var p packer
	for begin, end := 0, 0; begin < len(a.Words); begin = end {
		end = min(begin+leafWords, len(a.Words))
		if p.compare(predicted.Words, a.Words, begin, end); !isFew(p.bits, a) {
			return difference{a: a, predicted: predicted}
		}
	}
	if len(p.b) == 0 {
		return newDifference(a, nil, counts{})
	}
	return newDifference(a, p.b, count(a))
}

// isFew reports whether so few bits of an array change that lists of them are tried: they save the few
// bytes that begin the code of each other run.
func isFew(n uint64, a cells.Array) bool { return n <= a.Bytes()*8/listFactor }

const listFactor = 1 << 11 // bits per bit that changes

// hasFew reports whether bits change, but few.
func (d *difference) hasFew() bool {
	n := uint64(0)
	for _, b := range d.blocks {
		n += b.bits
	}
	return n > 0 && isFew(n, d.a)
}

// next returns the number of the first block from i on that differs, or that of blocks.
func (d *difference) next(i uint64) uint64 {
	for total := block.Count(d.a); i < total && !d.differs(i); {
		i++
	}
	return i
}

// differs reports whether block i differs.
func (d *difference) differs(i uint64) bool {
	if d.blocks != nil {
		return d.blocks[i].bits > 0
	}
	return !slices.Equal(block.At(d.a, i).Words, block.At(d.predicted, i).Words)
}

// flips returns the number of bits in which block i differs.
func (d *difference) flips(i uint64) uint64 {
	if d.blocks != nil {
		return d.blocks[i].bits
	}
	return flips(block.At(d.a, i), block.At(d.predicted, i))
}

// isRaw reports whether block i, which differs, has zero and other cells. If its changes are known, a word that
// changes suffices, unless it is the last one: there all cells may be set although not all bits are.
func (d *difference) isRaw(i uint64) bool {
	if d.blocks != nil {
		c := d.of(i, 1)
		c.next()
		if w := d.a.Words[c.word]; w != 0 && ^w != 0 && c.word+1 < uint64(len(d.a.Words)) {
			return true
		}
	}
	return block.Plain(block.At(d.a, i)) == block.Raw
}

// of returns a cursor before the changes of n blocks from block i on.
func (d *difference) of(i, n uint64) cursor {
	from, to := d.blocks[i], d.blocks[i+n]
	return cursor{rest: d.changes[from.at:to.at], after: from.after}
}

// run returns the difference of n blocks from block i on.
func (d *difference) run(i, n uint64) run {
	r := run{cells: block.Run(d.a, i, n)}
	if d.blocks == nil {
		r.predicted = block.Run(d.predicted, i, n)
	} else {
		r.changes, r.first, r.ones = d.of(i, n), i*block.Words, d.ones.of(i, n)
	}
	return r
}

// run is the difference of some blocks. It belongs to one goroutine.
type run struct {
	cells     cells.Array
	predicted cells.Array // no words if it was not needed yet
	changes   cursor      // before them, if they are known
	first     uint64      // word of the array with which the run begins
	ones      counts
}

// runMemory is used again by one run after the other.
type runMemory struct{ gone, come, predicted []uint64 }

// prediction returns the cells of the base.
func (r *run) prediction(m *runMemory) cells.Array {
	if r.predicted.Words == nil {
		m.predicted = append(m.predicted[:0], r.cells.Words...)
		c := r.changes
		for c.next() {
			m.predicted[c.word-r.first] ^= c.mask
		}
		r.predicted = r.cells
		r.predicted.Words = m.predicted
	}
	return r.predicted
}

// positions returns the bits that change.
func (r *run) positions(m *runMemory) entropy.Sparse {
	m.come = m.come[:0]
	if r.predicted.Words != nil {
		for i, w := range r.cells.Words {
			m.come = appendOnes(m.come, uint64(i)*64, w^r.predicted.Words[i])
		}
	}
	c := r.changes
	for c.next() {
		m.come = appendOnes(m.come, (c.word-r.first)*64, c.mask)
	}
	return entropy.Sparse{Ones: m.come, Len: r.cells.Len * uint64(r.cells.Width)}
}

// split returns the changes of the ones of the prediction, and those of its zeros, as strings of as many bits.
func (r *run) split(m *runMemory) (gone, come entropy.Sparse) {
	m.gone, m.come = m.gone[:0], m.come[:0]
	more := uint64(0) // ones that the changes so far added, modulo 2^64
	rank := ranker{counts: r.ones, words: r.cells.Words}
	c := r.changes
	for c.next() {
		i := c.word - r.first
		ones := rank.rank(int(i)) - more
		w := r.cells.Words[i] ^ c.mask
		for x := c.mask & w; x != 0; x &= x - 1 {
			m.gone = append(m.gone, ones+uint64(bits.OnesCount64(w&(x&-x-1))))
		}
		for x := c.mask &^ w; x != 0; x &= x - 1 {
			m.come = append(m.come, i*64-ones+uint64(bits.OnesCount64(^w&(x&-x-1))))
		}
		more += uint64(bits.OnesCount64(w^c.mask) - bits.OnesCount64(w))
	}
	ones := rank.all() - more
	return entropy.Sparse{Ones: m.gone, Len: ones}, entropy.Sparse{Ones: m.come, Len: r.cells.Len - ones}
}

// appendOnes appends the positions of the ones of a word that begins at position first.
func appendOnes(list []uint64, first, w uint64) []uint64 {
	for ; w != 0; w &= w - 1 {
		list = append(list, first+uint64(bits.TrailingZeros64(w)))
	}
	return list
}

package counting

import (
	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/probe"
)

// ViewBlock is the number of cells of a block of a View: 512 bytes of bits.
const ViewBlock = 1 << blockLog

const blockLog = 12

// View is the bloom filter of a counting filter, kept up to date as keys come and
// go: what is sent to those who only ask. It takes one bit a counter, and 24 bytes a
// block to tell which blocks changed. It belongs to its filter and is changed by it:
// Filter's answers and Changed may be asked alongside each other, not alongside
// changes of the filter; Mark runs alone, as changes do.
type View struct {
	bloom  bloom.Filter
	bits   cells.Array      // the same cells
	lines  probe.Prefetcher // of the bits
	recent recency
}

// View returns the filter's view, which the first call makes. From then on questions
// are answered by it, from a quarter of the memory or less, and changes take longer.
// A Filter that has a view must not be copied.
func (f *Filter) View() *View {
	if f.view == nil {
		f.view = new(View)
		f.view.follow(f)
	}
	return f.view
}

// Filter returns the view as a filter, which shares its memory: the one to which the
// same keys were added and, but for saturated and copied counters, never one that
// was removed. It is the same one each time, and must not be changed.
func (v *View) Filter() *bloom.Filter { return &v.bloom }

// Mark returns a mark for now, which Changed takes. There may be any number of marks,
// and they cost nothing.
func (v *View) Mark() Mark { return v.recent.mark() }

// Changed appends to dst the numbers of the blocks that changed since the mark, in no
// particular order: block i is the cells from i·ViewBlock on. A block in which a cell
// changed and changed back is among them. The time is that to write them down,
// whatever the size of the filter. Where the filter's size has changed since the
// mark, and for the zero Mark, it is all blocks there are.
func (v *View) Changed(dst []uint64, since Mark) []uint64 { return v.recent.since(dst, since) }

// follow brings the view up to date with the filter, whatever has happened to it. It
// reads the whole filter.
func (v *View) follow(f *Filter) {
	if f.cells.Len == 0 {
		return
	}
	if v.bloom.Shape() != f.shape.Bloom() {
		b, err := bloom.NewShape(f.shape.Bloom())
		if err != nil {
			panic(err) // it is smaller than the filter there is
		}
		v.bloom = *b
		v.bits = b.State().Arrays[0]
		v.lines = probe.NewPrefetcher(v.bits.Words, f.shape.K)
		v.recent.restart(int((v.bits.Len + ViewBlock - 1) / ViewBlock))
	}
	for i, was := range v.bits.Words {
		if now := f.cells.NonzeroWord(i); now != was {
			v.bits.Words[i] = now
			if block := uint64(i) >> (blockLog - 6); v.recent.isOld(block) {
				v.recent.move(block)
			}
		}
	}
}

// add is the add of counters that have a view: the bits are set besides.
func (v *View) add(c *counters, d umbel.Digest) bool {
	c.mustBeMade()
	if !c.common {
		return v.addAny(c, d)
	}
	s, words, bits, groups, left := probe.Start(d), c.words, v.bits.Words, c.groups, c.k
	var x uint64
	for range c.k {
		x, s = s.Next()
		i, one := probe.Reduce(x, groups), uint64(1)<<(x<<2&60)
		bits[i] |= 1 << (x & 63)
		w := &words[i<<2|x>>4&3]
		if block := i >> (blockLog - 6); v.recent.isOld(block) && *w&(one<<4-one) == 0 {
			v.recent.move(block)
		}
		more := *w + one
		if more&(one<<4-one) == 0 { // it was 15
			left--
			continue
		}
		*w = more
	}
	return left != 0
}

// addAny is add for counters of any width.
func (v *View) addAny(c *counters, d umbel.Digest) bool {
	s, words, bits, limit := probe.Start(d), c.words, v.bits.Words, c.limit
	var x, changed uint64
	for range c.k {
		x, s = s.Next()
		bit := c.bit(x)
		w := &words[bit>>6]
		was := *w >> (bit & 63) & limit
		one := (was - limit) >> 63
		*w += one << (bit & 63)
		changed |= one
		cell := bit >> (c.log & 63)
		bits[cell>>6] |= 1 << (cell & 63)
		if block := cell >> blockLog; v.recent.isOld(block) && was == 0 {
			v.recent.move(block)
		}
	}
	return changed != 0
}

// remove is the remove of counters that have a view: the bits of those that become
// zero are cleared besides. It asks first, so that what isn't there changes nothing.
func (v *View) remove(c *counters, d umbel.Digest) bool {
	if !v.bloom.Has(d) {
		return false
	}
	if !c.common {
		return v.removeAny(c, d)
	}
	s, words, bits, groups := probe.Start(d), c.words, v.bits.Words, c.groups
	var x uint64
	for n := range c.k {
		x, s = s.Next()
		i, shift := probe.Reduce(x, groups), x<<2&60
		w := &words[i<<2|x>>4&3]
		was := *w >> shift & 15
		if was == 0 {
			v.putBack(c, d, n)
			return false
		}
		*w -= (was - 15) >> 63 << shift
		gone := (was - 2) >> 63
		bits[i] &^= gone << (x & 63)
		if block := i >> (blockLog - 6); v.recent.isOld(block) && gone != 0 {
			v.recent.move(block)
		}
	}
	return true
}

// removeAny is remove for counters of any width.
func (v *View) removeAny(c *counters, d umbel.Digest) bool {
	s, words, bits, limit := probe.Start(d), c.words, v.bits.Words, c.limit
	var x uint64
	for n := range c.k {
		x, s = s.Next()
		bit := c.bit(x)
		w := &words[bit>>6]
		was := *w >> (bit & 63) & limit
		if was == 0 {
			v.putBack(c, d, n)
			return false
		}
		*w -= (was - limit) >> 63 << (bit & 63)
		cell, gone := bit>>(c.log&63), (was-2)>>63
		bits[cell>>6] &^= gone << (cell & 63)
		if block := cell >> blockLog; v.recent.isOld(block) && gone != 0 {
			v.recent.move(block)
		}
	}
	return true
}

// putBack adds one to each of the first n counters of d, from which one was taken: a
// removal has come to a cell of two of d's positions, at which one was left.
func (v *View) putBack(c *counters, d umbel.Digest, n int) {
	part := *c
	if part.k = n; n > 0 {
		v.add(&part, d)
	}
}

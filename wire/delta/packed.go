package delta

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// packed are the words of an array that change, in ascending order. Each has the number of words between it
// and the one before, as a uvarint, and its mask, the bits that change: the number of its only bit, or
// manyBits plus the number n of its bits and these n in ascending order, or wholeMask and 8 bytes. From one
// version to the next, few bits of a word change, so that this takes about 2 bytes per word instead of 16.
type packed []byte

const (
	manyBits  = 64
	wholeMask = manyBits + 8
)

// all returns a cursor before the first word.
func (p packed) all() cursor { return cursor{rest: p} }

// cursor reads packed words. Its zero value is at the end.
type cursor struct {
	rest  []byte
	after uint64 // the word after the last one that was read
	word  uint64 // noWord at the end
	mask  uint64
}

// noWord follows the last word.
const noWord = ^uint64(0)

// next reads the next word, and reports whether there is one. At a word that is damaged it stops, with bytes left.
func (c *cursor) next() bool {
	if b := c.rest; len(b) > 2 {
		// Most words have one bit, after a gap of one byte or two.
		gap, n := uint64(b[0]), 1
		if gap >= 1<<7 {
			gap, n = gap&(1<<7-1)|uint64(b[1])<<7, 2
		}
		if b[n] < manyBits && (n == 1 || b[1]-1 < 1<<7-1) {
			c.word, c.mask, c.rest = c.after+gap, 1<<b[n], b[n+1:]
			c.after = c.word + 1
			return true
		}
	}
	gap, n := uvarint(c.rest)
	mask, size := readMask(c.rest[n:])
	if n == 0 || size == 0 {
		c.word = noWord
		return false
	}
	c.word, c.mask, c.rest = c.after+gap, mask, c.rest[n+size:]
	c.after = c.word + 1
	return true
}

// uvarint decodes a number in its shortest form, and returns its length: 0 if there is no such number.
func uvarint(b []byte) (v uint64, n int) {
	if v, n = binary.Uvarint(b); n <= 0 || n > 1 && b[n-1] == 0 {
		return 0, 0
	}
	return v, n
}

// readMask decodes a mask, and returns its length: 0 if it is damaged.
func readMask(b []byte) (mask uint64, n int) {
	if len(b) > 0 && b[0] < manyBits {
		return 1 << b[0], 1
	}
	if len(b) > 8 && b[0] == wholeMask {
		return binary.LittleEndian.Uint64(b[1:]), 9
	}
	if len(b) == 0 {
		return 0, 0
	}
	n = int(b[0]) - manyBits
	if n < 2 || n > 7 || len(b) <= n {
		return 0, 0
	}
	for _, bit := range b[1 : 1+n] {
		mask |= 1 << bit
	}
	if bits.OnesCount64(mask) < n {
		return 0, 0
	}
	return mask, 1 + n
}

// packer packs words, which ascend.
type packer struct {
	b     []byte
	after uint64 // the word after the last one
	bits  uint64 // that change
}

// add adds a word. The mask must not be zero.
func (p *packer) add(word, mask uint64) {
	p.b = binary.AppendUvarint(p.b, word-p.after)
	p.after = word + 1
	n := bits.OnesCount64(mask)
	p.bits += uint64(n)
	switch {
	case n >= 8:
		p.b = binary.LittleEndian.AppendUint64(append(p.b, wholeMask), mask)
		return
	case n > 1:
		p.b = append(p.b, manyBits+byte(n))
	}
	for m := mask; m != 0; m &= m - 1 {
		p.b = append(p.b, byte(bits.TrailingZeros64(m)))
	}
}

// compare adds the words from begin to end in which two arrays differ. To compare leaves, which have a fixed
// size, takes half the time of a loop.
func (p *packer) compare(before, after []uint64, begin, end int) {
	for ; begin < end; begin += leafWords {
		x, y := before[begin:min(begin+leafWords, end)], after[begin:min(begin+leafWords, end)]
		if len(x) == leafWords && [leafWords]uint64(x) == [leafWords]uint64(y) {
			continue
		}
		for i, w := range y {
			if mask := w ^ x[i]; mask != 0 {
				p.add(uint64(begin+i), mask)
			}
		}
	}
}

// done returns the words that were added.
func (p *packer) done() packed { return bytes.Clone(p.b) }

// merge returns the changes that have the effect of a and b together. It may share memory with them.
func merge(a, b packed) packed {
	if len(a) == 0 {
		return b
	}
	if len(b) == 0 {
		return a
	}
	p := packer{b: make([]byte, 0, len(a)+len(b))}
	x, y := a.all(), b.all()
	x.next()
	y.next()
	for x.word&y.word != noWord {
		switch {
		case x.word < y.word:
			p.add(x.word, x.mask)
			x.next()
		case x.word > y.word:
			p.add(y.word, y.mask)
			y.next()
		default:
			if mask := x.mask ^ y.mask; mask != 0 {
				p.add(x.word, mask)
			}
			x.next()
			y.next()
		}
	}
	return p.done()
}

// apply flips the bits of words.
func (p packed) apply(words []uint64) {
	c := p.all()
	for c.next() {
		words[c.word] ^= c.mask
	}
}

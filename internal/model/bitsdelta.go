package model

import (
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/internal/entropy"
)

// A block of bits of which the reader has the old one is coded as two strings: for
// each cell that was one, and then for each that was zero, whether it is so no more.
// Ones that go and ones that come have odds of their own. The exclusive or of
// Mitzenmacher 2002, section 3.3, mixes them: it costs H(p·a + (1-p)·b) bits a cell,
// the two strings p·H(a) + (1-p)·H(b), and that is never more. There is no header.

func (c *Modeler) appendBitsDelta(dst []byte, old, block cells.Array) []byte {
	ones := ones(old.Words)
	zeros := old.Len - ones
	gone, come := c.takeZero(wordsFor(ones)), c.takeZero(wordsFor(zeros))
	if !pickFew(gone, come, old.Words, block.Words) {
		flips := c.take(len(old.Words))
		for i, w := range old.Words {
			flips[i] = w ^ block.Words[i]
		}
		entropy.Extract(gone, flips, old.Words)
		entropy.Extract(come, flips, c.zeros(old))
	}
	c.strs = append(c.strs, entropy.Bits{Words: gone, Len: ones}, entropy.Bits{Words: come, Len: zeros})
	return c.coder.Append(dst, c.strs...)
}

func (c *Modeler) decodeBitsDelta(src []byte, old, block cells.Array) error {
	was1 := ones(old.Words)
	was0 := old.Len - was1
	gone, come := c.take(wordsFor(was1)), c.take(wordsFor(was0))
	c.strs = append(c.strs, entropy.Bits{Words: gone, Len: was1}, entropy.Bits{Words: come, Len: was0})
	if err := c.coder.Decode(src, c.strs...); err != nil {
		return corrupt(err)
	}
	if ones(gone)+ones(come) <= uint64(len(old.Words)/quiet) {
		placeFew(block.Words, old.Words, gone, come)
		return nil
	}
	flips, zeros := c.take(len(old.Words)), c.zeros(old)
	entropy.Deposit(flips, gone, old.Words)
	entropy.Deposit(flips, come, zeros)
	for i, w := range old.Words {
		// Between them the two masks have all cells, and beyond the last
		// cell flips is whatever it was.
		block.Words[i] = w ^ flips[i]&(w|zeros[i])
	}
	return nil
}

// zeros returns the cells of an array of bits that are zero.
func (c *Modeler) zeros(a cells.Array) []uint64 {
	words := c.take(len(a.Words))
	for i, w := range a.Words {
		words[i] = ^w
	}
	return trim(words, a.Len)
}

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

func (c *Coder) appendBitsDelta(dst []byte, old, block cells.Array) []byte {
	flips, zeros := c.flips(old, block), c.zeros(old)
	c.give(flips, old.Words)
	c.give(flips, zeros)
	return c.coder.Append(dst, c.strs...)
}

func (c *Coder) decodeBitsDelta(src []byte, old, block cells.Array) error {
	was1 := ones(old.Words)
	was0 := old.Len - was1
	gone := entropy.Bits{Words: c.take(wordsFor(was1)), Len: was1}
	come := entropy.Bits{Words: c.take(wordsFor(was0)), Len: was0}
	c.strs = append(c.strs, gone, come)
	if err := c.coder.Decode(src, c.strs...); err != nil {
		return corrupt(err)
	}
	flips, zeros := c.take(len(old.Words)), c.zeros(old)
	entropy.Deposit(flips, gone.Words, old.Words)
	entropy.Deposit(flips, come.Words, zeros)
	for i, w := range old.Words {
		// Between them the two masks have all cells, and beyond the last
		// cell flips is whatever it was.
		block.Words[i] = w ^ flips[i]&(w|zeros[i])
	}
	return nil
}

// flips returns the bits in which two blocks of any width differ.
func (c *Coder) flips(old, block cells.Array) []uint64 {
	words := c.take(len(old.Words))
	for i, w := range old.Words {
		words[i] = w ^ block.Words[i]
	}
	return words
}

// zeros returns the cells of an array of bits that are zero.
func (c *Coder) zeros(a cells.Array) []uint64 {
	words := c.all(a.Len)
	for i, w := range a.Words {
		words[i] &^= w
	}
	return words
}

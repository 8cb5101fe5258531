package model

import (
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/internal/entropy"
)

// A block of bits of which the reader has the old one is coded as two strings: for
// each cell that was one, and then for each that was zero, whether it is so no more.
// Ones that go and ones that come have odds of their own, which the exclusive or of
// Mitzenmacher 2002, section 3.3, mixes: H(new | old) = p·H(a) + (1-p)·H(b).

func (c *Coder) appendBitsDelta(dst []byte, old, block cells.Array) []byte {
	flips, zeros := c.take(len(old.Words)), c.all(old.Len)
	for i, w := range old.Words {
		flips[i] = w ^ block.Words[i]
		zeros[i] &^= w
	}
	c.give(flips, old.Words)
	c.give(flips, zeros)
	return c.coder.Append(dst, c.strs...)
}

func (c *Coder) decodeBitsDelta(src []byte, old, block cells.Array) error {
	flips, zeros := c.take(len(old.Words)), c.all(old.Len)
	for i, w := range old.Words {
		zeros[i] &^= w
	}
	was1 := ones(old.Words)
	gone := entropy.Bits{Words: c.take(wordsFor(was1)), Len: was1}
	come := entropy.Bits{Words: c.take(wordsFor(old.Len - was1)), Len: old.Len - was1}
	if err := c.coder.Decode(src, gone, come); err != nil {
		return corrupt(err)
	}
	clear(flips)
	entropy.Deposit(flips, gone.Words, old.Words)
	entropy.Deposit(flips, come.Words, zeros)
	for i, f := range flips {
		block.Words[i] = old.Words[i] ^ f
	}
	return nil
}

package model

import (
	"math/bits"

	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/internal/coding/entropy"
)

// A block of bits given the base is coded as two strings: the changes of the base's ones, and
// those of its zeros, which have probabilities of their own (spec/codings.md, "Given the
// block of the base"). The exclusive or of Mitzenmacher 2002, section 3.3, mixes them: it costs
// H(p·a + (1-p)·b) bits per cell, the two strings p·H(a) + (1-p)·H(b), which is never more.

func (c *Modeler) appendBitsDelta(dst []byte, base, block cells.Array) []byte {
	ones := ones(base.Words)
	zeros := base.Len - ones
	gone, come := c.allocZero(wordsFor(ones)), c.allocZero(wordsFor(zeros))
	if !extractSparse(gone, come, base.Words, block.Words) {
		flips := c.alloc(len(base.Words))
		for i, w := range base.Words {
			flips[i] = w ^ block.Words[i]
		}
		entropy.Extract(gone, flips, base.Words)
		entropy.Extract(come, flips, c.zeros(base))
	}
	c.strs = append(c.strs, entropy.Bits{Words: gone, Len: ones}, entropy.Bits{Words: come, Len: zeros})
	return c.coder.Append(dst, c.strs...)
}

// AppendFlips is AppendDelta for a block of bits whose changes are known: gone are those of the base's
// ones, as a string of as many bits as the base has ones, and come those of its zeros.
func (c *Modeler) AppendFlips(dst []byte, gone, come entropy.Sparse) []byte {
	return c.coder.AppendSparse(dst, gone, come)
}

func (c *Modeler) decodeBitsDelta(src []byte, base, block cells.Array) error {
	was1 := ones(base.Words)
	was0 := base.Len - was1
	gone, come := c.alloc(wordsFor(was1)), c.alloc(wordsFor(was0))
	c.strs = append(c.strs, entropy.Bits{Words: gone, Len: was1}, entropy.Bits{Words: come, Len: was0})
	if err := c.coder.Decode(src, c.strs...); err != nil {
		return corrupt(err)
	}
	if ones(gone)+ones(come) <= uint64(len(base.Words)/sparseWords) {
		depositSparse(block.Words, base.Words, gone, come)
		return nil
	}
	flips, zeros := c.alloc(len(base.Words)), c.zeros(base)
	entropy.Deposit(flips, gone, base.Words)
	entropy.Deposit(flips, come, zeros)
	for i, w := range base.Words {
		// The two masks cover all cells; beyond the last cell flips is arbitrary.
		block.Words[i] = w ^ flips[i]&(w|zeros[i])
	}
	return nil
}

// zeros returns a mask of the cells of an array of bits that are zero.
func (c *Modeler) zeros(a cells.Array) []uint64 {
	words := c.alloc(len(a.Words))
	for i, w := range a.Words {
		words[i] = ^w
	}
	return trim(words, a.Len)
}

// A delta is sparse if it changes at most one bit per sparseWords words of a block. It is
// faster then to go from one change to the next than to pack each word under a mask.
const sparseWords = 16

// extractSparse sets gone and come, which are zero, to the changes of the base's ones and
// zeros, as entropy.Extract does. It returns false if the delta isn't sparse; gone and come
// are then arbitrary.
func extractSparse(gone, come, base, block []uint64) bool {
	at, left := 0, len(base)/sparseWords // at: ones so far
	for i, w := range base {
		if flips := w ^ block[i]; flips != 0 {
			if left--; left < 0 {
				return false
			}
			for f := flips & w; f != 0; f &= f - 1 {
				set(gone, at+bits.OnesCount64(w&(f&-f-1)))
			}
			for f := flips &^ w; f != 0; f &= f - 1 {
				set(come, i*64-at+bits.OnesCount64(^w&(f&-f-1)))
			}
		}
		at += bits.OnesCount64(w)
	}
	return true
}

// depositSparse sets block to base with the changes in gone and come.
func depositSparse(block, base, gone, come []uint64) {
	ones, nextGone, nextCome := 0, next(gone, 0), next(come, 0)
	block = block[:len(base)]
	for i, w := range base {
		zeros := i*64 - ones
		n := bits.OnesCount64(w)
		flips := uint64(0)
		for nextGone < ones+n {
			flips |= nth(w, nextGone-ones)
			nextGone = next(gone, nextGone+1)
		}
		for nextCome < zeros+64-n {
			flips |= nth(^w, nextCome-zeros)
			nextCome = next(come, nextCome+1)
		}
		block[i] = w ^ flips
		ones += n
	}
}

// set sets bit i.
func set(words []uint64, i int) { words[i>>6] |= 1 << (i & 63) }

// next returns the position of the first one from bit i on, and the largest int if there is
// none.
func next(words []uint64, i int) int {
	if k := i >> 6; k < len(words) {
		if w := words[k] >> (i & 63); w != 0 {
			return i + bits.TrailingZeros64(w)
		}
		for k++; k < len(words); k++ {
			if w := words[k]; w != 0 {
				return k<<6 + bits.TrailingZeros64(w)
			}
		}
	}
	return int(^uint(0) >> 1)
}

// nth returns the one of w that has n ones below it, or 0.
func nth(w uint64, n int) uint64 {
	for range n {
		w &= w - 1
	}
	return w & -w
}

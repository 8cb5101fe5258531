// Package model describes what is expected of a block of cells, given what the reader has:
// nothing, the block of the base, or its fold. It splits a block into strings of bits such
// that the bits of a string are equally likely to be one; package entropy codes those close
// to their entropy. The strings are described in spec/codings.md.
package model

import (
	"errors"
	"fmt"
	"iter"
	"math/bits"

	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/internal/coding/entropy"
	"github.com/umbel-filters/umbel/internal/sentinel"
)

// ErrCorrupt is wrapped by errors about payloads that aren't the code of a block.
var ErrCorrupt = errors.New("not the code of a block")

// Modeler encodes blocks to payloads and decodes them. It reuses its memory: after some calls
// nothing is allocated. The zero Modeler is ready. It is for one goroutine at a time.
//
// A block is an array of cells of any size and width that passes [cells.Array.Check].
// Methods that decode get its length and width and overwrite its words; after an error the
// words are arbitrary.
type Modeler struct {
	coder entropy.Coder
	in    entropy.Reader
	strs  []entropy.Bits // to be coded
	list  []uint64       // of numbers; of counters that rise
	other []uint64       // of counters that fall

	primes []uint64   // of a refinement: the steps
	order  []int      // of its rows
	rows   [][]uint64 // before and after each step

	listed []uint64 // groups that change
	part   []uint64 // words of these groups

	memory []uint64 // scratch, of which the first used words are allocated
	used   int
}

// Append appends the code of a block.
func (c *Modeler) Append(dst []byte, block cells.Array) []byte {
	c.reset()
	if block.Width > 1 {
		return c.appendCounters(dst, block)
	}
	c.strs = append(c.strs, entropy.Bits{Words: block.Words, Len: block.Len})
	return c.coder.Append(dst, c.strs...)
}

// Decode sets a block to the one whose code is src. Its error wraps [ErrCorrupt].
func (c *Modeler) Decode(src []byte, block cells.Array) error {
	c.reset()
	if block.Width > 1 {
		return c.decodeCounters(src, block)
	}
	c.strs = append(c.strs, entropy.Bits{Words: block.Words, Len: block.Len})
	return corrupt(c.coder.Decode(src, c.strs...))
}

// AppendDelta appends the code of a block given the block of the base. It panics unless the
// two have the same length and width.
func (c *Modeler) AppendDelta(dst []byte, base, block cells.Array) []byte {
	checkShapes(base, block)
	c.reset()
	if block.Width > 1 {
		return c.appendCountersDelta(dst, base, block)
	}
	return c.appendBitsDelta(dst, base, block)
}

// DecodeDelta sets a block to the one whose code given base is src. The two may be one
// array. Its error wraps [ErrCorrupt]; it panics as AppendDelta does.
func (c *Modeler) DecodeDelta(src []byte, base, block cells.Array) error {
	checkShapes(base, block)
	c.reset()
	if block.Width > 1 {
		return c.decodeCountersDelta(src, base, block)
	}
	return c.decodeBitsDelta(src, base, block)
}

// checkShapes panics unless a block and that of the base have the same length and width.
func checkShapes(base, block cells.Array) {
	if !base.SameShape(block) {
		panic(fmt.Sprintf("model: a block of %d cells of %d bits, in the base %d cells of %d bits",
			block.Len, block.Width, base.Len, base.Width))
	}
}

func (c *Modeler) reset() {
	c.strs = c.strs[:0]
	c.list, c.other = c.list[:0], c.other[:0]
	c.used = 0
}

// alloc returns n words of scratch memory, whose contents are arbitrary.
func (c *Modeler) alloc(n int) []uint64 {
	if len(c.memory)-c.used < n {
		c.memory, c.used = make([]uint64, max(2*len(c.memory), n, 1<<10)), 0
	}
	words := c.memory[c.used : c.used+n : c.used+n]
	c.used += n
	return words
}

// allocZero returns n words of scratch memory that are zero.
func (c *Modeler) allocZero(n int) []uint64 {
	words := c.alloc(n)
	clear(words)
	return words
}

// putString makes the bits of src under mask the next string, and returns their number.
func (c *Modeler) putString(src, mask []uint64) uint64 {
	words := c.alloc(len(mask))
	n := entropy.Extract(words, src, mask)
	used := wordsFor(n)
	c.used -= len(mask) - used
	c.strs = append(c.strs, entropy.Bits{Words: words[:used], Len: n})
	return n
}

// getString returns the next string of the payload, of n bits.
func (c *Modeler) getString(n uint64) ([]uint64, error) {
	words := c.alloc(wordsFor(n))
	if err := c.in.Next(entropy.Bits{Words: words, Len: n}); err != nil {
		return nil, corrupt(err)
	}
	return words, nil
}

// getStringUnder sets the bits of dst under mask to the next string of the payload.
func (c *Modeler) getStringUnder(dst, mask []uint64) error {
	at := c.used
	words, err := c.getString(ones(mask))
	if err != nil {
		return err
	}
	entropy.Deposit(dst, words, mask)
	c.used = at
	return nil
}

// begin starts to read a payload of n strings.
func (c *Modeler) begin(src []byte, n int) error {
	var err error
	c.in, err = c.coder.Read(src, n)
	return corrupt(err)
}

// finish returns an error unless the payload was read to its end.
func (c *Modeler) finish() error {
	return corrupt(c.in.End())
}

// corrupt makes an error of package entropy one of this package.
func corrupt(err error) error {
	if err == nil {
		return nil
	}
	return sentinel.Wrap(ErrCorrupt, err)
}

func wordsFor(n uint64) int { return int((n + 63) / 64) }

func ones(words []uint64) uint64 {
	n := 0
	for _, w := range words {
		n += bits.OnesCount64(w)
	}
	return uint64(n)
}

// allOnes returns a string of n ones.
func (c *Modeler) allOnes(n uint64) []uint64 {
	words := c.alloc(wordsFor(n))
	for i := range words {
		words[i] = ^uint64(0)
	}
	return trim(words, n)
}

// trim clears the bits from bit n on in the last word.
func trim(words []uint64, n uint64) []uint64 {
	if n%64 != 0 {
		words[len(words)-1] &= 1<<(n%64) - 1
	}
	return words
}

// under yields the positions of the ones of mask.
func under(mask []uint64) iter.Seq[uint64] {
	return func(yield func(uint64) bool) {
		for i, m := range mask {
			for ; m != 0; m &= m - 1 {
				if !yield(uint64(i*64 + bits.TrailingZeros64(m))) {
					return
				}
			}
		}
	}
}

package model

import (
	"errors"
	"fmt"
	"iter"
	"math/bits"

	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/internal/entropy"
)

// ErrCorrupt is wrapped by errors about payloads that no block gives.
var ErrCorrupt = errors.New("not the code of a block")

// Modeler turns blocks into bytes and back. It holds scratch memory, which grows to
// what the largest block needs and is used again: in the steady state nothing is
// allocated. The zero Modeler is ready. A Modeler serves one goroutine at a time.
//
// A block is an array of cells of any size and width, well formed as
// [cells.Array.Check] has it: in the container one plane's 64 KiB. Methods that
// decode are told its length and width and fill its words, whatever was in them;
// after an error these hold anything.
type Modeler struct {
	coder entropy.Coder
	in    entropy.Reader
	strs  []entropy.Bits // to be coded
	list  []uint64       // numbers that are written by their length
	other []uint64

	primes []uint64   // of a refinement: the steps
	order  []int      // of its rows
	rows   [][]uint64 // before and after each step

	memory []uint64 // of which used words are given out
	used   int
}

// Append appends the code of a block of which nothing is known.
func (c *Modeler) Append(dst []byte, block cells.Array) []byte {
	c.reset()
	if block.Width > 1 {
		return c.appendCounters(dst, block)
	}
	c.strs = append(c.strs, entropy.Bits{Words: block.Words, Len: block.Len})
	return c.coder.Append(dst, c.strs...)
}

// Decode fills a block from the whole of src, which [Modeler.Append] gave. The error
// wraps [ErrCorrupt].
func (c *Modeler) Decode(src []byte, block cells.Array) error {
	c.reset()
	if block.Width > 1 {
		return c.decodeCounters(src, block)
	}
	c.strs = append(c.strs, entropy.Bits{Words: block.Words, Len: block.Len})
	return corrupt(c.coder.Decode(src, c.strs...))
}

// AppendDelta appends the code of block, given old: the same block at another time,
// which the reader has. It panics unless the two have the same length and width.
func (c *Modeler) AppendDelta(dst []byte, old, block cells.Array) []byte {
	alike(old, block)
	c.reset()
	if block.Width > 1 {
		return c.appendCountersDelta(dst, old, block)
	}
	return c.appendBitsDelta(dst, old, block)
}

// DecodeDelta fills block from old and the whole of src, which [Modeler.AppendDelta]
// gave for this old. The two may be one array. The error wraps [ErrCorrupt]; it
// panics as AppendDelta does.
func (c *Modeler) DecodeDelta(src []byte, old, block cells.Array) error {
	alike(old, block)
	c.reset()
	if block.Width > 1 {
		return c.decodeCountersDelta(src, old, block)
	}
	return c.decodeBitsDelta(src, old, block)
}

func alike(old, block cells.Array) {
	if old.Len != block.Len || max(old.Width, 1) != max(block.Width, 1) {
		panic(fmt.Sprintf("model: a block of %d cells of %d bits was one of %d cells of %d bits",
			block.Len, block.Width, old.Len, old.Width))
	}
}

func (c *Modeler) reset() {
	c.strs = c.strs[:0]
	c.list, c.other = c.list[:0], c.other[:0]
	c.used = 0
}

// take returns n words of scratch memory, which may hold anything.
func (c *Modeler) take(n int) []uint64 {
	if len(c.memory)-c.used < n {
		c.memory, c.used = make([]uint64, max(2*len(c.memory), n, 1<<10)), 0
	}
	words := c.memory[c.used : c.used+n : c.used+n]
	c.used += n
	return words
}

// takeZero returns n words of scratch memory that are zero.
func (c *Modeler) takeZero(n int) []uint64 {
	words := c.take(n)
	clear(words)
	return words
}

// give makes the bits of src under mask the next string to be coded, and returns
// how many they are.
func (c *Modeler) give(src, mask []uint64) uint64 {
	words := c.take(len(mask))
	n := entropy.Extract(words, src, mask)
	used := wordsFor(n)
	c.used -= len(mask) - used
	c.strs = append(c.strs, entropy.Bits{Words: words[:used], Len: n})
	return n
}

// get returns the next string of the payload, of n bits.
func (c *Modeler) get(n uint64) ([]uint64, error) {
	words := c.take(wordsFor(n))
	if err := c.in.Next(entropy.Bits{Words: words, Len: n}); err != nil {
		return nil, corrupt(err)
	}
	return words, nil
}

// getUnder puts the next string of the payload where mask has its bits.
func (c *Modeler) getUnder(dst, mask []uint64) error {
	at := c.used
	words, err := c.get(ones(mask))
	if err != nil {
		return err
	}
	entropy.Deposit(dst, words, mask)
	c.used = at
	return nil
}

// start begins a payload of n strings.
func (c *Modeler) start(src []byte, n int) error {
	var err error
	c.in, err = c.coder.Read(src, n)
	return corrupt(err)
}

// end checks that the payload is read to its end.
func (c *Modeler) end() error {
	return corrupt(c.in.End())
}

// corrupt makes an error of the coder one of this package.
func corrupt(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("model: %w: %w", err, ErrCorrupt)
}

func wordsFor(n uint64) int { return int((n + 63) / 64) }

func ones(words []uint64) uint64 {
	n := 0
	for _, w := range words {
		n += bits.OnesCount64(w)
	}
	return uint64(n)
}

// all returns the array of n ones.
func (c *Modeler) all(n uint64) []uint64 {
	words := c.take(wordsFor(n))
	for i := range words {
		words[i] = ^uint64(0)
	}
	return trim(words, n)
}

// trim clears what is beyond bit n in its word.
func trim(words []uint64, n uint64) []uint64 {
	if n%64 != 0 {
		words[len(words)-1] &= 1<<(n%64) - 1
	}
	return words
}

// under yields the numbers of the ones of mask.
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

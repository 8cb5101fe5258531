package model

import (
	"encoding/binary"
	"math/bits"

	"github.com/umbel-filters/umbel/internal/coding/entropy"
	"github.com/umbel-filters/umbel/internal/sentinel"
)

// The cells of a run of blocks that aren't zero, if they are few, are coded together (spec/codings.md, "Rare cells"): the low
// bits of the gaps between them as they are, and the rest of the gaps as a string in which a 32nd to a 16th of the bits are
// ones. Only there are levels precise enough for ones that are rarer than one in some thousand. What is lost by the level,
// and by low bits that aren't quite equally likely, is less than 0.001 bits per cell.

const (
	// MaxRare is the most cells of a run that are coded together. A reader decodes them all for one of them.
	MaxRare = 1 << 14
	// maxCoarse is the most bits of the string of their gaps.
	maxCoarse = 1 << 19
	// maxLow is the most low bits of a gap.
	maxLow = 31
)

// Rare are the cells of a run that aren't zero. The run has at most 2^32 cells.
type Rare struct {
	At     []uint32 // their numbers in the run, ascending
	Values []uint64 // their values, in an array of counters
}

// Reset empties r and keeps its memory.
func (r *Rare) Reset() { r.At, r.Values = r.At[:0], r.Values[:0] }

// lowBits returns the number of low bits of the gaps between x > 0 cells of n.
func lowBits(x, n uint64) uint { return uint(max(bits.Len64(n/x/16), 1) - 1) }

// AppendRare appends the code of the cells of a run of n cells of the given width that aren't zero, at
// most [MaxRare].
func (c *Modeler) AppendRare(dst []byte, r Rare, n uint64, width uint) []byte {
	c.reset()
	x := uint64(len(r.At))
	if x == 0 {
		return append(dst, 0)
	}
	low := lowBits(x, n)
	coarse := entropy.Bits{Words: c.allocZero(wordsFor(x + (n-x)>>low))}
	lows := entropy.Bits{Words: c.allocZero(wordsFor(x * uint64(low)))}
	next := uint64(0)
	for _, at := range r.At {
		gap := uint64(at) - next
		next = uint64(at) + 1
		coarse.Len += gap >> low
		push(&coarse, 1)
		putBits(lows.Words, lows.Len, gap&(1<<low-1))
		lows.Len += uint64(low)
	}
	coarse.Words = coarse.Words[:wordsFor(coarse.Len)]
	c.strs = append(c.strs, coarse, lows)
	dst = append(binary.AppendUvarint(dst, coarse.Len), byte(low))
	if width > 1 {
		dst = append(dst, byte(c.putNumbers(r.Values)))
	}
	return c.coder.Append(dst, c.strs...)
}

// DecodeRare sets r to the cells of a run of n cells of the given width whose code is src. Its error wraps [ErrCorrupt]; r is
// then arbitrary. It takes time and memory for [MaxRare] cells at most.
func (c *Modeler) DecodeRare(src []byte, r *Rare, n uint64, width uint) error {
	c.reset()
	r.Reset()
	length, size := binary.Uvarint(src)
	if size <= 0 || size > 1 && src[size-1] == 0 || length > min(n, maxCoarse) {
		return sentinel.Errorf(ErrCorrupt, "a string of %d bits, want at most %d, in the shortest form", length, min(n, maxCoarse))
	}
	if src = src[size:]; length == 0 {
		if len(src) > 0 {
			return sentinel.Errorf(ErrCorrupt, "%d bytes follow the code", len(src))
		}
		return nil
	}
	head := [2]byte{}
	if src = src[copy(head[:min(width, 2)], src):]; uint(head[1]) >= width || head[0] > maxLow {
		return sentinel.Errorf(ErrCorrupt, "%d low bits and numbers of length %d, want at most %d and fewer than %d", head[0], head[1], maxLow, width)
	}
	longest := int(head[1])
	if err := c.begin(src, 2+2*longest); err != nil {
		return err
	}
	if err := c.rareAt(r, length, uint(head[0]), n); err != nil {
		return err
	}
	if width > 1 {
		var err error
		if r.Values, err = c.getNumbers(r.Values, uint64(len(r.At)), longest); err != nil {
			return err
		}
	}
	return c.finish()
}

// rareAt reads the numbers of cells of a run of n. The string of their gaps has the given length.
func (c *Modeler) rareAt(r *Rare, length uint64, low uint, n uint64) error {
	coarse, err := c.getString(length)
	if err != nil {
		return err
	}
	x := ones(coarse)
	if last := length - 1; x > MaxRare || coarse[last/64]>>(last%64) == 0 {
		return sentinel.Errorf(ErrCorrupt, "%d cells, want at most %d, and no gap after the last one", x, MaxRare)
	}
	lows, err := c.getString(x * uint64(low))
	if err != nil {
		return err
	}
	next, from, read := uint64(0), uint64(0), uint64(0) // of the cells, of coarse and of lows
	for i, w := range coarse {
		for ; w != 0; w &= w - 1 {
			one := uint64(i*64 + bits.TrailingZeros64(w))
			at := next + (one-from)<<low + getBits(lows, read, low)
			if at >= n {
				return sentinel.Errorf(ErrCorrupt, "a cell at %d of %d", at, n)
			}
			r.At = append(r.At, uint32(at))
			next, from, read = at+1, one+1, read+uint64(low)
		}
	}
	return nil
}

// putBits sets the bits from at on, which are zero, to v.
func putBits(words []uint64, at, v uint64) {
	if v == 0 {
		return
	}
	words[at/64] |= v << (at % 64)
	if over := v >> 1 >> (63 - at%64); over != 0 {
		words[at/64+1] |= over
	}
}

// getBits returns n < 64 bits from at on.
func getBits(words []uint64, at uint64, n uint) uint64 {
	if n == 0 {
		return 0
	}
	v := words[at/64] >> (at % 64)
	if at%64+uint64(n) > 64 {
		v |= words[at/64+1] << (64 - at%64)
	}
	return v & (1<<n - 1)
}

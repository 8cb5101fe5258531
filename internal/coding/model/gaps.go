package model

import (
	"encoding/binary"
	"math/bits"

	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/internal/coding/entropy"
	"github.com/umbel-filters/umbel/internal/sentinel"
)

// Ascending numbers are coded by the gaps between them: the low bits of the gaps as they are, and the rest as a string in which a
// 32nd to a 16th of the bits are ones.

// lowBits returns the number of low bits of the gaps between x > 0 cells of n.
func lowBits(x, n uint64) uint { return uint(max(bits.Len64(n/x/16), 1) - 1) }

// appendGaps adds the strings of the gaps between x > 0 numbers below n. It returns the length of the first one and the low bits.
func appendGaps[T uint32 | uint64](c *Modeler, at []T, n uint64) (length uint64, low uint) {
	x := uint64(len(at))
	low = lowBits(x, n)
	coarse := entropy.Bits{Words: c.allocZero(wordsFor(x + (n-x)>>low))}
	lows := entropy.Bits{Words: c.allocZero(wordsFor(x * uint64(low)))}
	next := uint64(0)
	for _, i := range at {
		gap := uint64(i) - next
		next = uint64(i) + 1
		coarse.Len += gap >> low
		push(&coarse, 1)
		putBits(lows.Words, lows.Len, gap&(1<<low-1))
		lows.Len += uint64(low)
	}
	coarse.Words = coarse.Words[:wordsFor(coarse.Len)]
	c.strs = append(c.strs, coarse, lows)
	return coarse.Len, low
}

// readGaps appends to dst numbers below n, at most most, whose gaps are the next strings. The first string has the given length,
// more than 0.
func readGaps[T uint32 | uint64](c *Modeler, dst []T, length uint64, low uint, n, most uint64) ([]T, error) {
	coarse, err := c.getString(length)
	if err != nil {
		return dst, err
	}
	x := ones(coarse)
	if last := length - 1; x > most || coarse[last/64]>>(last%64) == 0 {
		return dst, sentinel.Errorf(ErrCorrupt, "%d numbers, want at most %d, and no gap after the last one", x, most)
	}
	lows, err := c.getString(x * uint64(low))
	if err != nil {
		return dst, err
	}
	next, from, read := uint64(0), uint64(0), uint64(0) // of the numbers, of coarse and of lows
	for i, w := range coarse {
		for ; w != 0; w &= w - 1 {
			one := uint64(i*64 + bits.TrailingZeros64(w))
			at := next + (one-from)<<low + getBits(lows, read, low)
			if at >= n || at < next {
				return dst, sentinel.Errorf(ErrCorrupt, "number %d, want less than %d", at, n)
			}
			dst = append(dst, T(at))
			next, from, read = at+1, one+1, read+uint64(low)
		}
	}
	return dst, nil
}

// A payload of lists has strings in proportion to its own length, so that few bytes don't take much memory.
const (
	gapBits    = 64      // per byte of a payload
	freeBits   = 1 << 10 // besides
	maxListLow = 57
)

// AppendGapLists is AppendListedBits in another form: the gaps of both lists are coded with their probabilities. It is shorter from
// some hundred changes on. It returns dst if the form has no code for them.
func (c *Modeler) AppendGapLists(dst []byte, gone, come entropy.Sparse) []byte {
	c.reset()
	start := len(dst)
	for _, s := range []entropy.Sparse{gone, come} {
		if len(s.Ones) == 0 {
			dst = append(dst, 0)
			c.strs = append(c.strs, entropy.Bits{}, entropy.Bits{})
			continue
		}
		length, low := appendGaps(c, s.Ones, s.Len)
		dst = append(binary.AppendUvarint(dst, length), byte(low))
	}
	dst = c.coder.Append(dst, c.strs...)
	for _, s := range c.strs {
		if s.Len > freeBits+gapBits*uint64(len(dst)-start) {
			return dst[:start]
		}
	}
	return dst
}

// DecodeGapLists changes an array of bits as src states. Its error wraps [ErrCorrupt].
func (c *Modeler) DecodeGapLists(src []byte, a cells.Array) error {
	c.reset()
	most := freeBits + gapBits*uint64(len(src))
	var lengths, lows [2]uint64
	for i := range lengths {
		length, size := binary.Uvarint(src)
		if size <= 0 || size > 1 && src[size-1] == 0 || length > min(a.Len, most) {
			return sentinel.Errorf(ErrCorrupt, "a string of %d bits, want at most %d, in the shortest form", length, min(a.Len, most))
		}
		if src = src[size:]; length == 0 {
			continue
		}
		if len(src) == 0 || src[0] > maxListLow {
			return sentinel.Errorf(ErrCorrupt, "% x, want low bits, at most %d", src[:min(len(src), 1)], maxListLow)
		}
		lengths[i], lows[i], src = length, uint64(src[0]), src[1:]
	}
	if lengths[0]+lengths[1] == 0 {
		return sentinel.Errorf(ErrCorrupt, "no changes")
	}
	if err := c.begin(src, 4); err != nil {
		return err
	}
	var lists [2]numberList
	for i, length := range lengths {
		if length == 0 {
			for range 2 {
				if _, err := c.getString(0); err != nil {
					return err
				}
			}
			continue
		}
		var err error
		if lists[i], err = readGaps(c, lists[i], length, uint(lows[i]), a.Len, most/max(lows[i], 1)); err != nil {
			return err
		}
	}
	if err := c.finish(); err != nil {
		return err
	}
	if !flipListed(a, &lists[0], &lists[1]) {
		return sentinel.Errorf(ErrCorrupt, "a change beyond the last one or zero")
	}
	return nil
}

// numberList is a list that flipListed reads.
type numberList []uint64

// Next returns the next number, and entropy.None at the end.
func (l *numberList) Next() uint64 {
	if len(*l) == 0 {
		return entropy.None
	}
	at := (*l)[0]
	*l = (*l)[1:]
	return at
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

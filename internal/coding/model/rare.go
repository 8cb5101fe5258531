package model

import (
	"encoding/binary"

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

// AppendRare appends the code of the cells of a run of n cells of the given width that aren't zero, at
// most [MaxRare].
func (c *Modeler) AppendRare(dst []byte, r Rare, n uint64, width uint) []byte {
	c.reset()
	x := uint64(len(r.At))
	if x == 0 {
		return append(dst, 0)
	}
	coarse, low := appendGaps(c, r.At, n)
	dst = append(binary.AppendUvarint(dst, coarse), byte(low))
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
	var err error
	if r.At, err = readGaps(c, r.At, length, uint(head[0]), n, MaxRare); err != nil {
		return err
	}
	if width > 1 {
		if r.Values, err = c.getNumbers(r.Values, uint64(len(r.At)), longest); err != nil {
			return err
		}
	}
	return c.finish()
}

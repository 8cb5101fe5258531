package model

import (
	"fmt"

	"github.com/umbel-filters/umbel/cells"
)

// A block of counters is coded by thresholds. String t, for t from 0 to T-1, has a bit
// for each counter of t or more: whether it is t+1 or more. So a string holds what is
// alike, and the strings together cost the entropy of one counter each. What is then
// known to be T or more is T if L is 0; otherwise a list follows of v-T+1 for each such
// counter v.
//
//	header    T + 16·L as unsigned LEB128 of one or two bytes, the shortest form;
//	          T, 0..15, thresholds, not more than the largest value of a counter;
//	          L, below the width, of the list; 0 if T is
//	strings   T: thresholds
//	          2·L: a list as in gamma.go
//
// T = 0 means that all are zero. Otherwise the writer is free in its choice of T: this
// one goes on up to the largest value, and turns to the list at 15, or where few
// counters are left of which some are far above.
const (
	maxThresholds = 15
	few           = 16 // counters left that don't pay for strings of their own
	far           = 5  // so far above, a number is written by its length
)

func (c *Modeler) appendCounters(dst []byte, block cells.Array) []byte {
	rest := block // what the counters are above the thresholds so far
	rest.Words = c.take(len(block.Words))
	copy(rest.Words, block.Words)
	mask, left := c.all(block.Len), block.Len
	t, longest := 0, 0
	for {
		if t == maxThresholds || t > 0 && left < few && farthest(rest, mask) >= far {
			for i := range under(mask) {
				c.list = append(c.list, rest.Get(i)+1)
			}
			longest = c.giveNumbers(c.list)
			break
		}
		above := c.take(len(mask))
		if !peel(above, rest) {
			break
		}
		c.give(above, mask)
		mask, left = above, ones(above)
		t++
	}
	dst = appendHeader(dst, t, longest)
	return c.coder.Append(dst, c.strs...)
}

// farthest returns the largest of the counters under mask.
func farthest(a cells.Array, mask []uint64) uint64 {
	v := uint64(0)
	for i := range under(mask) {
		v = max(v, a.Get(i))
	}
	return v
}

func (c *Modeler) decodeCounters(src []byte, block cells.Array) error {
	thresholds, longest, src, err := header(src)
	if err != nil {
		return err
	}
	if limit := block.Limit(); uint64(thresholds) > limit || longest >= int(block.Width) {
		return fmt.Errorf("model: %d thresholds, lengths up to %d, for counters up to %d: %w", thresholds, longest, limit, ErrCorrupt)
	}
	if err := c.start(src, thresholds+2*longest); err != nil {
		return err
	}
	clear(block.Words)
	mask := c.all(block.Len)
	for range thresholds {
		above := c.takeZero(len(mask))
		if err := c.getUnder(above, mask); err != nil {
			return err
		}
		raise(block, above)
		mask = above
	}
	if longest > 0 {
		if c.list, err = c.getNumbers(c.list, ones(mask), longest); err != nil {
			return err
		}
		list := c.list
		for i := range under(mask) {
			v, more := uint64(thresholds), list[0]-1
			if more > block.Limit()-v {
				return fmt.Errorf("model: a counter of %d + %d, want %d at most: %w", v, more, block.Limit(), ErrCorrupt)
			}
			block.Put(i, v+more)
			list = list[1:]
		}
	}
	return c.end()
}

func appendHeader(dst []byte, thresholds, longest int) []byte {
	h := thresholds + longest<<4
	if h < 128 {
		return append(dst, byte(h))
	}
	return append(dst, byte(h)|128, byte(h>>7))
}

func header(src []byte) (thresholds, longest int, rest []byte, err error) {
	size := 1
	if len(src) > 0 && src[0] >= 128 {
		size = 2
	}
	if len(src) < size {
		return 0, 0, nil, fmt.Errorf("model: header of %d bytes cut at %d: %w", size, len(src), ErrCorrupt)
	}
	h := int(src[0])
	if size == 2 {
		h = h&127 | int(src[1])<<7
	}
	thresholds, longest = h&15, h>>4
	if size == 2 && h < 128 || longest > maxLength || thresholds == 0 && longest > 0 {
		return 0, 0, nil, fmt.Errorf("model: header %#x in %d bytes: %w", h, size, ErrCorrupt)
	}
	return thresholds, longest, src[size:], nil
}

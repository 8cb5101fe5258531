package arrays

import (
	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/internal/probe"
)

// AddMirrored is AddPrefetched that also sets the bits of the counters in mirror, the words of an
// array with one bit for each counter.
func (c *Counters) AddMirrored(mirror []uint64, d umbel.Digest) bool {
	c.mustInit()
	if !c.common {
		return c.addAnyMirrored(mirror, d)
	}
	s, words, groups, left := probe.Start(d), c.array.Cells.Words, c.groups, c.array.Shape.K
	var v uint64
	for range c.array.Shape.K {
		v, s = s.Next()
		i, one := probe.Reduce(v, groups), uint64(1)<<(v<<2&60)
		mirror[i] |= 1 << (v & 63)
		w := &words[i<<2|v>>4&3]
		more := *w + one
		if more&(one<<4-one) == 0 { // it was 15
			left--
			continue
		}
		*w = more
	}
	return left != 0
}

// addAnyMirrored is AddMirrored for counters of any width.
func (c *Counters) addAnyMirrored(mirror []uint64, d umbel.Digest) bool {
	s, words, limit := probe.Start(d), c.array.Cells.Words, c.limit
	var v, changed uint64
	for range c.array.Shape.K {
		v, s = s.Next()
		bit := c.bit(v)
		w := &words[bit>>6]
		one := (*w>>(bit&63)&limit - limit) >> 63
		*w += one << (bit & 63)
		changed |= one
		cell := bit >> (c.log & 63)
		mirror[cell>>6] |= 1 << (cell & 63)
	}
	return changed != 0
}

// RemoveMirrored is Remove, without Prefetch, that also clears the bits in mirror of counters
// that become zero. All bits of d must be set.
func (c *Counters) RemoveMirrored(mirror []uint64, d umbel.Digest) bool {
	if !c.common {
		return c.removeAnyMirrored(mirror, d)
	}
	s, words, groups := probe.Start(d), c.array.Cells.Words, c.groups
	var v, changed uint64
	for n := range c.array.Shape.K {
		v, s = s.Next()
		i, shift := probe.Reduce(v, groups), v<<2&60
		w := &words[i<<2|v>>4&3]
		was := *w >> shift & 15
		if was == 0 {
			c.restoreMirrored(mirror, d, n)
			return false
		}
		one := (was - 15) >> 63 // 0 for a saturated counter
		*w -= one << shift
		changed |= one
		mirror[i] &^= (was - 2) >> 63 << (v & 63)
	}
	return changed != 0
}

// removeAnyMirrored is RemoveMirrored for counters of any width.
func (c *Counters) removeAnyMirrored(mirror []uint64, d umbel.Digest) bool {
	s, words, limit := probe.Start(d), c.array.Cells.Words, c.limit
	var v, changed uint64
	for n := range c.array.Shape.K {
		v, s = s.Next()
		bit := c.bit(v)
		w := &words[bit>>6]
		was := *w >> (bit & 63) & limit
		if was == 0 {
			c.restoreMirrored(mirror, d, n)
			return false
		}
		one := (was - limit) >> 63 // 0 for a saturated counter
		*w -= one << (bit & 63)
		changed |= one
		cell := bit >> (c.log & 63)
		mirror[cell>>6] &^= (was - 2) >> 63 << (cell & 63)
	}
	return changed != 0
}

// restoreMirrored restores the first n counters of d. A removal needs it if several
// positions of d fall on a counter that is smaller than their number.
func (c *Counters) restoreMirrored(mirror []uint64, d umbel.Digest, n int) {
	first := *c
	if first.array.Shape.K = n; n > 0 {
		first.AddMirrored(mirror, d)
	}
}

package counting

import (
	"math"
	"math/bits"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/probe"
)

// counters are the cells of a filter, with what its loops need. The zero counters
// hold nothing.
type counters struct {
	words   []uint64
	k       int
	limit   uint64 // of a counter
	mapping probe.Mapping

	// From a value to its counter's first bit, as mapping does for cells: the group
	// by a multiplication, the cell in it by the low bits, in bits and not in cells.
	groups  uint64
	log     uint64 // log2 of the bits of a counter
	logs    uint64 // of the bits of a group
	inGroup uint64 // mask of those that tell counters of a group apart

	// Counters of 4 bits in groups of 64 cells, as Plan makes: add and remove have
	// loops of their own for them. What waits for a counter is kept short in these: so
	// many misses overlap as the machine can hold instructions that wait.
	common bool
	lines  probe.Prefetcher
}

func newCounters(a cells.Array, m probe.Mapping, k int) counters {
	log := uint64(bits.TrailingZeros(a.Width))
	return counters{
		words: a.Words, k: k, limit: a.Limit(), mapping: m,
		common: a.Width == 4 && m.Log == probe.WordLog,
		groups: m.Groups, log: log, logs: uint64(m.Log) + log, inGroup: (1<<m.Log - 1) << log,
		lines: probe.NewPrefetcher(a.Words, k),
	}
}

// bit returns the first bit of the counter of value v.
func (c *counters) bit(v uint64) uint64 {
	return probe.Reduce(v, c.groups)<<(c.logs&63) | v<<(c.log&63)&c.inGroup
}

// add adds one to each counter of d, once for each position, unless it is saturated,
// and reports whether one changed.
func (c *counters) add(d umbel.Digest) bool {
	c.mustBeMade()
	if !c.common {
		return c.addAny(d)
	}
	s, words, groups, left := probe.Start(d), c.words, c.groups, c.k
	var v uint64
	for range c.k {
		v, s = s.Next()
		w, one := &words[probe.Reduce(v, groups)<<2|v>>4&3], uint64(1)<<(v<<2&60)
		more := *w + one
		if more&(one<<4-one) == 0 { // it was 15
			left--
			continue
		}
		*w = more
	}
	return left != 0
}

// addAny is add for counters of any width.
func (c *counters) addAny(d umbel.Digest) bool {
	s, words, limit := probe.Start(d), c.words, c.limit
	var v, changed uint64
	for range c.k {
		v, s = s.Next()
		bit := c.bit(v)
		w := &words[bit>>6]
		one := (*w>>(bit&63)&limit - limit) >> 63 // 0 if saturated, without a branch
		*w += one << (bit & 63)
		changed |= one
	}
	return changed != 0
}

func (c *counters) mustBeMade() {
	if c.k == 0 {
		panic("umbel: add to a zero filter: make it with New")
	}
}

// few is the number of counters that has looks at together, before the others: half
// full, seven of eight absent keys need no more.
const few = 3

// has reports whether all counters of d are above zero.
func (c *counters) has(d umbel.Digest) bool {
	s, words, limit := probe.Start(d), c.words, c.limit
	var v uint64
	yes := limit + 1 // a bit that limit + x has if x isn't 0
	for n := range c.k {
		v, s = s.Next()
		bit := c.bit(v)
		yes &= words[bit>>6]>>(bit&63)&limit + limit
		if n == few-1 && yes == 0 {
			return false
		}
	}
	return yes != 0 && c.k != 0
}

// remove takes one from each counter of d, once for each position, unless it is
// saturated. If it comes to one that is zero it puts back what it took and returns
// false.
func (c *counters) remove(d umbel.Digest) bool {
	if !c.common {
		return c.removeAny(d)
	}
	s, words, groups := probe.Start(d), c.words, c.groups
	var v uint64
	for n := range c.k {
		v, s = s.Next()
		w, one := &words[probe.Reduce(v, groups)<<2|v>>4&3], uint64(1)<<(v<<2&60)
		was := *w
		if was&(one<<4-one) == 0 {
			c.putBack(d, n)
			return false
		}
		if (was+one)&(one<<4-one) != 0 { // it isn't 15
			*w = was - one
		}
	}
	return c.k != 0
}

// removeAny is remove for counters of any width.
func (c *counters) removeAny(d umbel.Digest) bool {
	s, words, limit := probe.Start(d), c.words, c.limit
	var v uint64
	for n := range c.k {
		v, s = s.Next()
		bit := c.bit(v)
		w := &words[bit>>6]
		x := *w >> (bit & 63) & limit
		if x == 0 {
			c.putBack(d, n)
			return false
		}
		*w -= (x - limit) >> 63 << (bit & 63)
	}
	return c.k != 0
}

// putBack adds one to each of the first n counters of d, from which one was taken
// unless they were saturated. Those that were are those that are: what was taken
// from is below the limit.
func (c *counters) putBack(d umbel.Digest, n int) {
	part := *c
	if part.k = n; n > 0 {
		part.add(d)
	}
}

// count returns the least of d's unsaturated counters, each by the number of d's
// positions at it, and 2^64-1 if there is none.
func (c *counters) count(d umbel.Digest) uint64 {
	if c.k == 0 {
		return 0
	}
	var room [MaxK]uint64
	at := c.mapping.Append(room[:0], d, c.k)
	least := uint64(math.MaxUint64)
	for _, i := range at {
		bit := i << (c.log & 63)
		x := c.words[bit>>6] >> (bit & 63) & c.limit
		if x == c.limit {
			continue
		}
		times := uint64(0)
		for _, j := range at {
			if i == j {
				times++
			}
		}
		least = min(least, x/times)
	}
	return least
}

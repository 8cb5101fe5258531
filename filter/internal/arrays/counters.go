package arrays

import (
	"math"
	"math/bits"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/internal/probe"
)

// Counters is a filter with one array of counters, which keys can be removed from. A
// counter at its maximum is saturated and never changes. The zero Counters contains
// nothing; adding to it panics.
type Counters struct {
	array Array
	limit uint64 // of a counter

	// The position of a value in bits: a multiplication chooses the group, low bits of
	// the value choose the cell in it.
	groups  uint64
	log     uint64 // log2 of the bits of a counter
	logs    uint64 // log2 of the bits of a group
	inGroup uint64 // mask of the bits that choose a counter of a group

	// common is true for counters of 4 bits in groups of 64 cells, as plans have them.
	// Their loops are separate and short: the fewer instructions wait for a counter, the
	// more cache misses overlap.
	common     bool
	prefetcher probe.Prefetcher
}

// RoundWidth returns the least width of counters that is at least bits: 4, 8, 16, or more, which is no width of counters.
func RoundWidth(bits uint64) uint {
	width := uint(4)
	for uint64(width) < bits {
		width *= 2
	}
	return width
}

// NewCounters returns an empty filter with counters of width bits. The error wraps
// umbel.ErrGoal.
func NewCounters(s Shape, width uint) (Counters, error) {
	a, err := Counting.New(s, width)
	if err != nil {
		return Counters{}, err
	}
	return CountersFrom(a), nil
}

// CountersFrom returns the filter with the array a, whose memory it shares.
func CountersFrom(a Array) Counters {
	log := uint64(bits.TrailingZeros(a.Cells.Width))
	return Counters{
		array: a, limit: a.Cells.Limit(),
		common: a.Cells.Width == 4 && a.Shape.Group == WordGroup,
		groups: a.groups(), log: log, logs: uint64(a.Shape.Group) + log, inGroup: (1<<a.Shape.Group - 1) << log,
		prefetcher: probe.NewPrefetcher(a.Cells.Words, a.Shape.K),
	}
}

// OpenCounters returns the filter of a state of kind counting. It shares the memory of
// the state. The error wraps umbel.ErrKind or umbel.ErrCorrupt.
func OpenCounters(s umbel.State) (Counters, error) {
	a, err := Counting.Open(s)
	if err != nil {
		return Counters{}, err
	}
	return CountersFrom(a), nil
}

// bit returns the first bit of the counter of value v.
func (c *Counters) bit(v uint64) uint64 {
	return probe.Reduce(v, c.groups)<<(c.logs&63) | v<<(c.log&63)&c.inGroup
}

// Prefetch loads the counters of d into the cache. It does not wait for them. Add and Remove
// call it; loops over many keys call it earlier, and then AddPrefetched.
func (c *Counters) Prefetch(d umbel.Digest) { c.prefetcher.Prefetch(d) }

// Add increments the counter at each position of d, once per position, unless it is
// saturated. It reports whether a counter changed.
func (c *Counters) Add(d umbel.Digest) bool {
	c.prefetcher.Prefetch(d)
	return c.AddPrefetched(d)
}

// AddPrefetched is Add without Prefetch.
func (c *Counters) AddPrefetched(d umbel.Digest) bool {
	c.mustInit()
	if !c.common {
		return c.addAny(d)
	}
	s, words, groups, left := probe.Start(d), c.array.Cells.Words, c.groups, c.array.Shape.K
	var v uint64
	for range c.array.Shape.K {
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

// addAny is AddPrefetched for counters of any width.
func (c *Counters) addAny(d umbel.Digest) bool {
	s, words, limit := probe.Start(d), c.array.Cells.Words, c.limit
	var v, changed uint64
	for range c.array.Shape.K {
		v, s = s.Next()
		bit := c.bit(v)
		w := &words[bit>>6]
		one := (*w>>(bit&63)&limit - limit) >> 63 // 0 if saturated, without a branch
		*w += one << (bit & 63)
		changed |= one
	}
	return changed != 0
}

func (c *Counters) mustInit() {
	if c.array.Shape.K == 0 {
		panic(probe.AddToZero)
	}
}

// firstProbes is the number of counters that Has reads before it branches. In a filter
// that is half full they are enough for seven of eight absent keys.
const firstProbes = 3

// Has reports whether all counters of d are above zero.
func (c *Counters) Has(d umbel.Digest) bool {
	s, words, limit := probe.Start(d), c.array.Cells.Words, c.limit
	var v uint64
	k := c.array.Shape.K
	yes := limit + 1 // the bit that limit + x has if x is not 0
	for n := range k {
		v, s = s.Next()
		bit := c.bit(v)
		yes &= words[bit>>6]>>(bit&63)&limit + limit
		if n == firstProbes-1 && yes == 0 {
			return false
		}
	}
	return yes != 0 && k != 0
}

// Remove decrements the counter at each position of d, once per position, unless it is
// saturated, and reports whether a counter changed. If it reaches a counter that is zero,
// it restores the others and returns false.
func (c *Counters) Remove(d umbel.Digest) bool {
	c.prefetcher.Prefetch(d)
	if !c.common {
		return c.removeAny(d)
	}
	s, words, groups := probe.Start(d), c.array.Cells.Words, c.groups
	var v uint64
	changed := false
	for n := range c.array.Shape.K {
		v, s = s.Next()
		w, one := &words[probe.Reduce(v, groups)<<2|v>>4&3], uint64(1)<<(v<<2&60)
		was := *w
		if was&(one<<4-one) == 0 {
			c.restore(d, n)
			return false
		}
		if (was+one)&(one<<4-one) != 0 { // it isn't 15
			*w = was - one
			changed = true
		}
	}
	return changed
}

// removeAny is Remove for counters of any width.
func (c *Counters) removeAny(d umbel.Digest) bool {
	s, words, limit := probe.Start(d), c.array.Cells.Words, c.limit
	var v, changed uint64
	for n := range c.array.Shape.K {
		v, s = s.Next()
		bit := c.bit(v)
		w := &words[bit>>6]
		x := *w >> (bit & 63) & limit
		if x == 0 {
			c.restore(d, n)
			return false
		}
		one := (x - limit) >> 63 // 0 for a saturated counter
		*w -= one << (bit & 63)
		changed |= one
	}
	return changed != 0
}

// restore increments the first n counters of d, which were decremented unless they were
// saturated. A decremented counter is below its maximum, so the saturated ones are those
// that are saturated now.
func (c *Counters) restore(d umbel.Digest, n int) {
	first := *c
	if first.array.Shape.K = n; n > 0 {
		first.AddPrefetched(d)
	}
}

// Count returns the minimum over the unsaturated counters of d, each divided by the
// number of positions of d at that counter. If all are saturated, n is 2^64-1 and known is false.
func (c *Counters) Count(d umbel.Digest) (n uint64, known bool) {
	if c.array.Shape.K == 0 {
		return 0, true
	}
	var buffer [MaxK]uint64
	positions := c.Locate(buffer[:0], d)
	n = math.MaxUint64
	for _, i := range positions {
		bit := i << (c.log & 63)
		x := c.array.Cells.Words[bit>>6] >> (bit & 63) & c.limit
		if x == c.limit {
			continue
		}
		times := uint64(0)
		for _, j := range positions {
			if i == j {
				times++
			}
		}
		n, known = min(n, x/times), true
	}
	return n, known
}

// HasAll sets dst[i] to Has(ds[i]). It panics if dst is shorter than ds.
func (c *Counters) HasAll(dst []bool, ds []umbel.Digest) {
	dst = dst[:len(ds):len(dst)]
	c.each(ds, func(i int) { dst[i] = c.Has(ds[i]) })
}

// AddAll adds ds in order. If changed is not nil, it sets changed[i] to the result of Add(ds[i]), and panics if changed
// is shorter than ds.
func (c *Counters) AddAll(changed []bool, ds []umbel.Digest) {
	if changed == nil {
		c.each(ds, func(i int) { c.AddPrefetched(ds[i]) })
		return
	}
	changed = changed[:len(ds):len(changed)]
	c.each(ds, func(i int) { changed[i] = c.AddPrefetched(ds[i]) })
}

// each calls do for the index of each digest in order, and prefetches the digests that follow.
func (c *Counters) each(ds []umbel.Digest, do func(i int)) {
	for _, d := range ds[:min(probe.PrefetchDistance, len(ds))] {
		c.Prefetch(d)
	}
	for i := range ds {
		if next := i + probe.PrefetchDistance; next < len(ds) {
			c.Prefetch(ds[next])
		}
		do(i)
	}
}

// Locate appends the positions of d to dst.
func (c *Counters) Locate(dst []uint64, d umbel.Digest) []uint64 {
	return probe.Mapping{Groups: c.groups, Log: c.array.Shape.Group}.Append(dst, d, c.array.Shape.K)
}

// Clear removes all keys.
func (c *Counters) Clear() {
	c.array.Cells.Clear()
	c.array.Copied = false
}

// Array returns the array, which shares the memory of c.
func (c *Counters) Array() Array { return c.array }

// Planned returns what the filter was made for, to be read and set.
func (c *Counters) Planned() *umbel.Planned { return &c.array.Planned }

// IsZero reports whether c is the zero Counters.
func (c *Counters) IsZero() bool { return c.array.Shape.M == 0 }

// Cells returns the counters, which share the memory of c.
func (c *Counters) Cells() cells.Array { return c.array.Cells }

// Shape returns the shape.
func (c *Counters) Shape() Shape { return c.array.Shape }

// Hasher returns the hasher of Shape, without a copy of the others.
func (c *Counters) Hasher() umbel.Hasher { return c.array.Shape.Hasher }

// Unite adds the counters of b to those of c. The error wraps umbel.ErrMismatch; c is
// then unchanged.
func (c *Counters) Unite(b Array) error { return c.Set(c.array.Merge(b)) }

// Set replaces the array of c unless err is not nil, and returns err.
func (c *Counters) Set(a Array, err error) error {
	if err == nil {
		*c = CountersFrom(a)
	}
	return err
}

// State returns the state, which is of kind counting even if c is the zero Counters.
func (c *Counters) State() umbel.State { return c.array.State(Counting) }

// Stats measures c. It reads all cells.
func (c *Counters) Stats() umbel.Stats { return c.array.Stats() }

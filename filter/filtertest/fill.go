package filtertest

import (
	"errors"
	"fmt"

	"github.com/umbel-filters/umbel"
)

// countsAtEveryFill: a filter that counts or removes counts every addition of a present key,
// by every method, at every fill level, also immediately before it grows and beyond its
// limit. Count returns at least the additions minus the removals. Has is true while the
// additions are more than the removals.
func countsAtEveryFill(t tb, v umbel.Kind) {
	for _, n := range sizes {
		f := make1(t, v, n)
		c := tally{filter: f, keys: digests(2, 40)}
		c.times = make([]uint64, len(c.keys))
		c.counter, _ = f.(umbel.Counter)
		c.remover, _ = f.(umbel.Remover)
		if c.counter == nil && c.remover == nil {
			t.Skipf("%T neither counts nor removes", f)
		}
		for level, d := range digests(1, int(4*n)) {
			f.Add(d)
			at := level % len(c.keys)
			if isFull(f) {
				for way := range waysToAdd {
					c.add(t, at, way)
				}
			} else {
				c.add(t, at, level%waysToAdd)
			}
			if level%5 == 0 {
				c.remove((at + 1) % len(c.keys))
			}
			if n == sizes[0] || level%500 == 0 {
				c.check(t, fmt.Sprintf("n=%d, with %d other keys", n, level+1))
			}
		}
		for at := range c.keys {
			for c.remove(at) {
			}
		}
		c.check(t, fmt.Sprintf("n=%d, after all removals but one", n))
	}
}

// isFull reports whether f forecasts that the next absent key makes it grow or is refused.
func isFull(f umbel.Filter) bool {
	g, ok := f.(umbel.GrowthForecaster)
	if !ok {
		return false
	}
	bytes, err := g.NextGrowth()
	return bytes > 0 || err != nil
}

// tally is a filter with a few keys, and the least count of each.
type tally struct {
	filter  umbel.Filter
	counter umbel.Counter // nil if it doesn't count
	remover umbel.Remover // nil if it doesn't remove
	keys    []umbel.Digest
	times   []uint64 // additions minus removals
}

// waysToAdd is the number of ways in which tally.add adds.
const waysToAdd = 4

// add adds a key in one of the ways, and checks its count.
func (c *tally) add(t tb, at, way int) {
	t.Helper()
	d := c.keys[at]
	took := uint64(1)
	g, refuses := c.filter.(umbel.Grower)
	switch {
	case way == 1 && refuses:
		if _, err := g.TryAdd(d); err != nil {
			if took = 0; !errors.Is(err, umbel.ErrLimit) {
				t.Fatalf("TryAdd(%v): %v", d, err)
			}
		}
	case way == 2:
		umbel.AddAll(c.filter, room(2)[:2], []umbel.Digest{d, d})
		took = 2
	case way == 3:
		umbel.AddAll(c.filter, nil, []umbel.Digest{d, d, d})
		took = 3
	default:
		c.filter.Add(d)
	}
	c.times[at] += took
	c.check1(t, at, "after it was added")
}

// remove removes one addition of a key, except the last, and reports whether it did.
func (c *tally) remove(at int) bool {
	if c.remover == nil || c.times[at] < 2 || !c.remover.Remove(c.keys[at]) {
		return false
	}
	c.times[at]--
	return true
}

// check fails if the count of a key is too low, or the key is absent.
func (c *tally) check(t tb, when string) {
	t.Helper()
	for at := range c.keys {
		c.check1(t, at, when)
	}
}

func (c *tally) check1(t tb, at int, when string) {
	t.Helper()
	d, times := c.keys[at], c.times[at]
	if c.counter != nil {
		if got := c.counter.Count(d); got < times {
			t.Fatalf("%s: Count(%v) is %d, added %d times more than removed", when, d, got, times)
		}
	}
	if times > 0 && !c.filter.Has(d) {
		t.Fatalf("%s: Has(%v) is false, added %d times more than removed: a false negative", when, d, times)
	}
}

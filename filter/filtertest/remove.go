package filtertest

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/umbel-filters/umbel"
)

// removes: a key that is added and removed leaves no trace. Other keys stay. The removal of an
// absent key is refused and changes nothing. A filter may refuse to remove a few present keys,
// if their removal could remove others, and a filter that grew may keep its size.
func removes(t tb, v umbel.Kind) {
	for _, n := range sizes {
		f := newFilter(t, v, n)
		r := as[umbel.Remover](t, f)
		stay, gone := append(digests(1, int(n)/2), extreme...), digests(2, int(n)/4)
		addAll(f, stay)
		before := f.State().Clone()
		removesAbsent(t, f, r)

		addAll(f, gone)
		refused := 0
		slices.Reverse(gone)
		for _, d := range gone {
			was := f.State().Clone()
			if r.Remove(d) {
				continue
			}
			refused++
			wantState(t, f, was, "after Remove returned false")
			if !f.Has(d) {
				t.Fatalf("Remove(%v) is false, and so is Has", d)
			}
		}
		wantAll(t, f, stay, "after others were removed")
		if left := len(gone) - missing(f, gone); left > refused+len(gone)/20+2 {
			t.Errorf("%d of %d keys are present after their removal, which was refused for %d", left, len(gone), refused)
		}
		switch {
		case refused == 0 && !grows(t, v):
			wantState(t, f, before, "added and removed, compared with never added")
		case refused > len(gone)/20:
			t.Errorf("Remove refused %d of %d keys that were added", refused, len(gone))
		}

		twice := digests(3, 10)
		addAll(f, twice)
		addAll(f, twice)
		for _, d := range twice {
			r.Remove(d)
		}
		wantAll(t, f, slices.Concat(stay, twice), "added twice and removed once")
		removesOften(t, f, r, stay)
	}
}

// removesAbsent: Remove returns false for absent keys and changes nothing.
func removesAbsent(t tb, f umbel.Filter, r umbel.Remover) {
	t.Helper()
	before := f.State().Clone()
	for _, d := range digests(4, 200) {
		if !f.Has(d) && r.Remove(d) {
			t.Fatalf("Remove(%v) is true, and Has was false", d)
		}
	}
	wantState(t, f, before, "after removals of absent keys")
}

// removesOften: adding and removing a key more often than a small counter can count removes no
// other key. Remove returns true at most as often as the key was added, and changes nothing when it
// returns false.
func removesOften(t tb, f umbel.Filter, r umbel.Remover, stay []umbel.Digest) {
	t.Helper()
	for _, d := range digests(5, 3) {
		for range 1000 {
			f.Add(d)
		}
		for range 500 {
			r.Remove(d)
		}
		if !f.Has(d) {
			t.Fatalf("added 1000 times and removed 500: Has(%v) is false", d)
		}
		for range 500 {
			r.Remove(d)
		}
		for range 1000 {
			if !r.Remove(d) {
				break
			}
		}
		was := f.State().Clone()
		if r.Remove(d) {
			t.Fatalf("Remove(%v) is true more often than the key was added", d)
		}
		wantState(t, f, was, "after Remove of a key that cannot be removed")
	}
	wantAll(t, f, stay, "after others were added and removed often")
}

// count returns the number that Count returns, which is 2^64-1 exactly if it is unknown.
func count(t tb, c umbel.Counter, d umbel.Digest) uint64 {
	t.Helper()
	n, known := c.Count(d)
	if known != (n < math.MaxUint64) {
		t.Fatalf("Count(%v) is %d, and known is %v", d, n, known)
	}
	return n
}

// counts: Count is never too low, is zero if Has is false, and is seldom too high.
func counts(t tb, v umbel.Kind) {
	for _, n := range sizes {
		f := newFilter(t, v, n)
		c := as[umbel.Counter](t, f)
		ds := append(digests(1, int(n)/2), extreme...)
		for i, d := range ds {
			for range 1 + i%3 {
				f.Add(d)
			}
		}
		high := 0
		for i, d := range ds {
			times := uint64(1 + i%3)
			if got := count(t, c, d); got < times {
				t.Fatalf("Count(%v) is %d, added %d times", d, got, times)
			} else if got > times {
				high++
			}
		}
		if high > len(ds)/20+2 {
			t.Errorf("Count is too high for %d of %d keys", high, len(ds))
		}
		for _, d := range digests(2, 1000) {
			if n := count(t, c, d); n > 0 && !f.Has(d) {
				t.Fatalf("Count(%v) is %d, and Has is false", d, n)
			}
		}
		for times := range uint64(300) {
			if got := count(t, c, ds[0]); got < times {
				t.Fatalf("Count(%v) is %d, added %d times or more", ds[0], got, times)
			}
			f.Add(ds[0])
		}
	}
}

// countsAtEveryFill: a filter that counts or removes counts every addition of a present key,
// by every method, at every fill level, also immediately before it grows and beyond its
// limit. Count returns at least the additions minus the removals. Has is true while the
// additions are more than the removals.
func countsAtEveryFill(t tb, v umbel.Kind) {
	for _, n := range sizes {
		f := newFilter(t, v, n)
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
		c.check(t, fmt.Sprintf("n=%d, after all removals but one of each key", n))
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
	g, limited := c.filter.(umbel.Grower)
	switch {
	case way == 1 && limited:
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
	c.checkKey(t, at, "after it was added")
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
		c.checkKey(t, at, when)
	}
}

func (c *tally) checkKey(t tb, at int, when string) {
	t.Helper()
	d, times := c.keys[at], c.times[at]
	if c.counter != nil {
		if got := count(t, c.counter, d); got < times {
			t.Fatalf("%s: Count(%v) is %d, want at least the %d remaining additions", when, d, got, times)
		}
	}
	if times > 0 && !c.filter.Has(d) {
		t.Fatalf("%s: Has(%v) is false with %d remaining additions: a false negative", when, d, times)
	}
}

// Package counting provides the counting Bloom filter: a Bloom filter whose cells
// are small counters in place of bits, so that keys can be removed (Fan, Cao,
// Almeida and Broder 2000). Its cells are those of package bloom: where a counter
// isn't zero, the bloom filter of the same m, k, group and hasher with the same keys
// has a bit. So its rate is the bloom filter's, and its memory 4, 8 or 16 times that.
//
// # What a counter holds
//
// A key adds one to a counter for each of its k positions, so two where two
// positions are the same cell. To count such a cell once would be as safe; but two
// positions may fall together when the filter is folded, and their counters are then
// added: only if each occurrence counts is the fold the filter built small. It costs
// no time, and a counter is one higher than it need be for k²/2m of the keys.
//
// A counter at its maximum, 2^width-1, is saturated: it no longer knows how many keys
// it stands for, and stays there whatever is added or removed. So no removal of a key
// that was added makes another one disappear. How seldom that happens is
// plan.CounterOverflow.
//
// Its name is a promise: positions are those of probe.Mapping over the stream of
// probe.Start, in groups of 2^group cells (spec/kinds/counting.md).
package counting

import (
	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/probe"
)

// Filter is a counting Bloom filter. Has, HasAll and Count may run alongside
// themselves and each other; changes run alone. The zero Filter holds nothing and
// is a target for UnmarshalBinary; adding to it panics.
type Filter struct {
	shape    Shape
	copied   bool // Unfold has copied counters: some count more than was added
	cells    cells.Array
	counters counters // the same cells
	view     *View    // nil until asked for
}

// Add adds d and reports whether a counter changed: all but where each of its
// counters is saturated.
func (f *Filter) Add(d umbel.Digest) bool {
	f.counters.lines.Prefetch(d)
	if f.view != nil {
		f.view.lines.Prefetch(d)
		return f.view.add(&f.counters, d)
	}
	return f.counters.add(d)
}

// Has reports whether d may have been added, and not removed since. It is never
// false for what was.
func (f *Filter) Has(d umbel.Digest) bool {
	if f.view != nil {
		return f.view.bloom.Has(d)
	}
	return f.counters.has(d)
}

// Remove takes back one addition of d. It returns false, and changes nothing, if
// Count(d) is 0: the filter then knows that d isn't there. Saturated counters stay as
// they are, so a key all of whose counters are saturated stays; Remove is true then.
//
// Removing what was never added, but is there by chance, loses other keys, as in any
// counting filter: remove only what was added.
func (f *Filter) Remove(d umbel.Digest) bool {
	f.counters.lines.Prefetch(d)
	if f.view != nil {
		f.view.lines.Prefetch(d)
		return f.view.remove(&f.counters, d)
	}
	return f.counters.remove(d)
}

// Count returns how often d was added and not removed: never too few, and too many
// with about the probability with which Has is wrong. It is the least of d's
// counters, each divided by how many of d's positions it is at; saturated ones say
// nothing. If all are saturated the filter can't tell and Count is 2^64-1. It may be
// 0 where Has is true.
func (f *Filter) Count(d umbel.Digest) uint64 { return f.counters.count(d) }

// HasAll sets dst[i] to Has(ds[i]): see [umbel.BatchQuerier].
func (f *Filter) HasAll(dst []bool, ds []umbel.Digest) {
	if f.view != nil {
		f.view.bloom.HasAll(dst, ds)
		return
	}
	dst = dst[:len(ds):len(dst)]
	f.each(ds, func(i int) { dst[i] = f.counters.has(ds[i]) })
}

// AddAll adds ds in order: see [umbel.BatchAdder].
func (f *Filter) AddAll(changed []bool, ds []umbel.Digest) {
	if changed == nil {
		f.each(ds, func(i int) { f.add(ds[i]) })
		return
	}
	changed = changed[:len(ds):len(changed)]
	f.each(ds, func(i int) { changed[i] = f.add(ds[i]) })
}

// Locate appends the k positions of d to dst: see [umbel.Locator].
func (f *Filter) Locate(dst []uint64, d umbel.Digest) []uint64 {
	return f.counters.mapping.Append(dst, d, f.counters.k)
}

// Clear forgets all keys.
func (f *Filter) Clear() {
	f.cells.Clear()
	f.copied = false
	f.tell()
}

// IsEmpty reports whether all counters are zero: whether nothing was added that wasn't
// removed since. Saturated and copied counters, which removals don't clear, keep a
// filter from being empty until Clear. It stops at the first counter that isn't zero.
func (f *Filter) IsEmpty() bool {
	for _, w := range f.cells.Words {
		if w != 0 {
			return false
		}
	}
	return true
}

// Additions returns how many additions the filter holds, removals subtracted, of
// which two of one key are two: the sum of its counters by k. It is exact unless a
// counter is saturated, when there may be more, or Unfold has copied counters, when
// there may be fewer. It reads the whole filter.
func (f *Filter) Additions() (n uint64, exact bool) {
	if f.shape.K == 0 {
		return 0, true
	}
	last := int(f.cells.Limit())
	exact = !f.copied
	for v, cells := range f.cells.Histogram(last) {
		n += uint64(v) * cells
		exact = exact && (v < last || cells == 0)
	}
	return n / uint64(f.shape.K), exact
}

// each does what it is told for each of ds in order, and asks ahead for their lines.
func (f *Filter) each(ds []umbel.Digest, do func(i int)) {
	for _, d := range ds[:min(probe.Ahead, len(ds))] {
		f.ask(d)
	}
	for i := range ds {
		if next := i + probe.Ahead; next < len(ds) {
			f.ask(ds[next])
		}
		do(i)
	}
}

// ask asks for the lines of d, of the counters and of the view.
func (f *Filter) ask(d umbel.Digest) {
	f.counters.lines.Prefetch(d)
	if f.view != nil {
		f.view.lines.Prefetch(d)
	}
}

// add is Add without asking.
func (f *Filter) add(d umbel.Digest) bool {
	if f.view != nil {
		return f.view.add(&f.counters, d)
	}
	return f.counters.add(d)
}

// hold makes a, of the filter's own shape but for its size, the filter's cells.
func (f *Filter) hold(a cells.Array) {
	f.shape.M = a.Len
	f.cells = a
	mapping := probe.Mapping{Groups: a.Len >> f.shape.Group, Log: f.shape.Group}
	f.counters = newCounters(a, mapping, f.shape.K)
	f.tell()
}

// tell tells the view, if there is one, that any cells may have changed.
func (f *Filter) tell() {
	if f.view != nil {
		f.view.follow(f)
	}
}

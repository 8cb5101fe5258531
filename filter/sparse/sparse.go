// Package sparse provides Bloom filters of one cell a key that keep the positions of
// the cells that are set, not the cells: a sorted list in the form of Elias and Fano,
// which is asked without decoding it (package internal/eliasfano). With a rate of f and
// n keys that is n·(2 + log2(1/f)) bits in the place of n/f. Mitzenmacher 2002, section
// III-A, proposes a list for those who receive a compressed Bloom filter and lack the
// memory to expand it; there it is a plain sorted one with interpolation search.
//
// Its name is a promise: the positions are those of kind bloom with k = 1 and the same
// m and group, so it answers as that filter does, and each becomes the other bit for bit
// (spec/kinds/sparse.md).
package sparse

import (
	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/internal/eliasfano"
	"github.com/umbel-filters/umbel/probe"
)

// Filter is a sparse filter. What is added waits in a small table until that has a 32nd
// of what the list has; then the two become a new list. Has and HasAll may run
// alongside themselves and each other, Stats and State; changes run alone. The zero
// Filter holds nothing and is a target for UnmarshalBinary; adding to it panics.
type Filter struct {
	shape   Shape
	mapping probe.Mapping
	list    eliasfano.List
	added   pending // positions that aren't in the list
}

// position returns the cell of d.
func (f *Filter) position(d umbel.Digest) uint64 {
	v, _ := probe.Start(d).Next()
	return f.mapping.At(v)
}

// Has reports whether d may have been added. It is never false for what was.
func (f *Filter) Has(d umbel.Digest) bool { return f.has(f.position(d)) }

func (f *Filter) has(x uint64) bool {
	return f.list.Len() != 0 && f.list.Has(x) || f.added.count != 0 && f.added.has(x)
}

// HasAll sets dst[i] to Has(ds[i]): see [umbel.BatchQuerier]. In a filter that outgrows
// the caches it takes a fraction of the time of one by one.
func (f *Filter) HasAll(dst []bool, ds []umbel.Digest) {
	const chunk = 64
	dst = dst[:len(ds):len(dst)]
	var at [chunk]uint64
	for len(ds) > 0 {
		now := min(chunk, len(ds))
		for i, d := range ds[:now] {
			at[i] = f.position(d)
		}
		if f.list.Len() != 0 {
			f.list.HasAll(dst[:now], at[:now])
		} else {
			clear(dst[:now])
		}
		if f.added.count != 0 {
			for i, x := range at[:now] {
				dst[i] = dst[i] || f.added.has(x)
			}
		}
		ds, dst = ds[now:], dst[now:]
	}
}

// Clear forgets all keys.
func (f *Filter) Clear() {
	if f.shape.M != 0 {
		f.hold(must(eliasfano.Build(f.shape.M, 0, nothing)))
	}
}

func nothing(func(uint64) bool) {}

// hold makes l the filter's positions, and its bound the number of cells.
func (f *Filter) hold(l eliasfano.List) {
	f.shape.M = l.Bound()
	f.mapping = probe.Mapping{Groups: f.shape.M >> f.shape.Group, Log: f.shape.Group}
	f.list, f.added = l, pending{}
}

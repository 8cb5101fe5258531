// Package bloom provides the standard Bloom filter: m bits, of which each key sets
// k, independently and anywhere (Bloom 1970). It takes the least memory of the
// kinds that take additions; each question costs up to k cache misses.
//
// Its name is a promise: positions are those of probe.Mapping over the stream of
// probe.Start, in groups of 2^group cells (spec/kinds/bloom.md).
package bloom

import (
	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/probe"
)

// Filter is a standard Bloom filter. Has, HasAll, AddAtomic and AddAllAtomic may
// run alongside themselves and each other; other changes run alone. The zero
// Filter holds nothing and is a target for UnmarshalBinary; adding to it panics.
type Filter struct {
	shape Shape
	cells cells.Array
	bits  probe.Bits // the same cells
}

// Add adds d and reports whether a bit changed.
func (f *Filter) Add(d umbel.Digest) bool { return f.bits.Add(d) }

// Has reports whether d may have been added. It is never false for what was.
func (f *Filter) Has(d umbel.Digest) bool { return f.bits.Has(d) }

// AddAtomic adds d alongside Has and itself: see [umbel.AtomicAdder].
func (f *Filter) AddAtomic(d umbel.Digest) bool { return f.bits.AddAtomic(d) }

// HasAll sets dst[i] to Has(ds[i]): see [umbel.BatchQuerier]. In a filter that
// outgrows the caches it takes a fraction of the time of one by one.
func (f *Filter) HasAll(dst []bool, ds []umbel.Digest) { f.bits.HasAll(dst, ds) }

// AddAll adds ds in order: see [umbel.BatchAdder].
func (f *Filter) AddAll(changed []bool, ds []umbel.Digest) { f.bits.AddAll(changed, ds) }

// AddAllAtomic adds ds alongside Has and itself: see [umbel.AtomicBatchAdder].
func (f *Filter) AddAllAtomic(ds []umbel.Digest) { f.bits.AddAllAtomic(ds) }

// Locate appends the k positions of d to dst: see [umbel.Locator].
func (f *Filter) Locate(dst []uint64, d umbel.Digest) []uint64 { return f.bits.Locate(dst, d) }

// Clear forgets all keys.
func (f *Filter) Clear() { f.cells.Clear() }

// hold makes a, of the filter's own shape but for its size, the filter's cells.
func (f *Filter) hold(a cells.Array) {
	f.shape.M = a.Len
	f.cells = a
	f.bits = probe.NewBits(a, probe.Mapping{Groups: a.Len >> f.shape.Group, Log: f.shape.Group}, f.shape.K, false)
}

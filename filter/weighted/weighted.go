// Package weighted provides the weighted Bloom filter: a standard filter in which the
// number of cells that a key sets depends on its class (Bruck, Gao and Jiang 2006).
// Keys that are often asked for and seldom there get more cells, the others fewer, so
// that of all questions fewer are answered wrongly in the same memory: 72 % fewer
// where questions follow Zipf's law, with 8 bits a key.
//
// A key of class c sets the first k_c positions of the one stream that bloom has too.
// So whoever asks for fewer cells than were set is never wrong to say yes, and Add and
// Has without a class, which set the most and ask for the least, go together with all
// others.
//
// A class comes from one of three: a table of digests in the filter ([Hot]), the
// beginning of the key ([Prefix]), or the program, by [Filter.AddClass] and
// [Filter.HasClass].
//
// The kind's name is a promise: see spec/kinds/weighted.md.
package weighted

import (
	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/probe"
)

// Filter is a weighted Bloom filter. Has, HasClass, HasAll, AddAtomic and
// AddAllAtomic may run alongside themselves and each other; other changes run alone.
// The zero Filter holds nothing and is a target for UnmarshalBinary; adding to it
// panics.
type Filter struct {
	shape    Shape // without Hot and Prefixes, which are below
	cells    cells.Array
	hot      hotTable
	prefixes prefixTable

	of          []probe.Bits // the same cells, for each class
	least, most probe.Bits   // of the fewest cells per key, and of the most
	leastClass  int          // of least
}

// Add adds d and reports whether a bit changed. Where there is a table of digests it
// tells d's class; otherwise d sets as many cells as any class.
func (f *Filter) Add(d umbel.Digest) bool { return f.adds(d).Add(d) }

// Has reports whether d may have been added. It is never false for what was, with
// whatever class. Where there is a table of digests it tells d's class; otherwise Has
// asks for the cells that all classes set.
func (f *Filter) Has(d umbel.Digest) bool {
	// Classes share their first cells, and most of what is absent fails there: the
	// class of the rest only is looked up.
	return f.least.Has(d) && (f.leastClass == 0 && f.hot.cold(d) || f.hasRest(d))
}

// hasRest is Has of a digest that has the cells which all classes set.
func (f *Filter) hasRest(d umbel.Digest) bool {
	if f.hot.empty() {
		return true
	}
	class := f.hot.class(d)
	return class == f.leastClass || f.of[class].Has(d)
}

// AddAtomic adds d alongside Has and itself: see [umbel.AtomicAdder].
func (f *Filter) AddAtomic(d umbel.Digest) bool { return f.adds(d).AddAtomic(d) }

// adds returns the bits through which d is added.
func (f *Filter) adds(d umbel.Digest) *probe.Bits {
	switch {
	case f.hot.empty():
		return &f.most
	case f.hot.cold(d):
		return &f.of[0]
	}
	return &f.of[f.hot.class(d)]
}

// HasAll sets dst[i] to Has(ds[i]): see [umbel.BatchQuerier].
func (f *Filter) HasAll(dst []bool, ds []umbel.Digest) {
	f.least.HasAll(dst, ds)
	if f.hot.empty() {
		return
	}
	glance := f.leastClass == 0
	for i, has := range dst[:len(ds)] {
		if has && !(glance && f.hot.cold(ds[i])) {
			dst[i] = f.hasRest(ds[i])
		}
	}
}

// AddAll adds ds in order: see [umbel.BatchAdder].
func (f *Filter) AddAll(changed []bool, ds []umbel.Digest) {
	if changed != nil {
		changed = changed[:len(ds):len(changed)]
	}
	for len(ds) > 0 {
		bits, n := f.run(ds)
		if changed == nil {
			bits.AddAll(nil, ds[:n])
		} else {
			bits.AddAll(changed[:n], ds[:n])
			changed = changed[n:]
		}
		ds = ds[n:]
	}
}

// AddAllAtomic adds ds alongside Has and itself: see [umbel.AtomicBatchAdder].
func (f *Filter) AddAllAtomic(ds []umbel.Digest) {
	for len(ds) > 0 {
		bits, n := f.run(ds)
		bits.AddAllAtomic(ds[:n])
		ds = ds[n:]
	}
}

// run returns how many of ds, from the first on, are added through the same bits.
// Hot keys being few, runs are long.
func (f *Filter) run(ds []umbel.Digest) (bits *probe.Bits, n int) {
	if f.hot.empty() {
		return &f.most, len(ds)
	}
	bits = f.adds(ds[0])
	for n = 1; n < len(ds) && f.adds(ds[n]) == bits; n++ {
	}
	return bits, n
}

// Locate appends to dst the positions that Has asks for: see [umbel.Locator].
func (f *Filter) Locate(dst []uint64, d umbel.Digest) []uint64 {
	if f.hot.empty() {
		return f.least.Locate(dst, d)
	}
	return f.adds(d).Locate(dst, d)
}

// Clear forgets all keys, and keeps the classes.
func (f *Filter) Clear() { f.cells.Clear() }

// hold makes a, of the filter's own shape but for its size, the filter's cells.
func (f *Filter) hold(a cells.Array) {
	f.shape.M, f.cells = a.Len, a
	mapping := probe.Mapping{Groups: a.Len >> f.shape.Group, Log: f.shape.Group}
	f.of = make([]probe.Bits, len(f.shape.Classes))
	least, most := 0, 0
	for i, c := range f.shape.Classes {
		f.of[i] = probe.NewBits(a, mapping, c.K, false)
		if c.K < f.shape.Classes[least].K {
			least = i
		}
		if c.K > f.shape.Classes[most].K {
			most = i
		}
	}
	f.least, f.most, f.leastClass = f.of[least], f.of[most], least
}

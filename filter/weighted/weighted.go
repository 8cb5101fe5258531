// Package weighted provides the weighted Bloom filter: a standard filter in which the
// number of cells per key depends on the class of the key (Bruck, Gao and Jiang 2006).
// Keys that are often queried and seldom present get more cells, the others fewer, so
// that fewer queries return a false positive from the same memory: 71 % fewer if queries
// follow Zipf's law, with 8 bits per key, and the class of every key is known without a
// table. A table of frequent keys counts as memory, and less remains: 6 to 34 % fewer
// (docs/kinds/weighted.md).
//
// A key of class c sets the first k_c positions of the stream that bloom uses too. A
// query that checks fewer cells than were set never returns a false negative. Therefore
// Add without a class sets the most cells, Has without a class checks the fewest, and
// both can be mixed with all other calls.
//
// A class has one of three sources: a table of digests in the filter ([Hot]), a prefix of
// the key ([Prefix]), or the program, which calls [Filter.AddClass] and [Filter.HasClass].
//
// A [Filter] has bits; a [Counting] has counters, so that keys can be removed with the class with which they were
// added. They are two kinds, whose names stand for their positions: see spec/kinds/weighted.md and
// spec/kinds/weighted-counting.md.
package weighted

import (
	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/internal/arrays"
	"github.com/umbel-filters/umbel/filter/internal/kinds"
	"github.com/umbel-filters/umbel/internal/probe"
)

// Name is the name of the kind of Filter.
const Name = "weighted"

var kind = arrays.Kind{Name: Name}

// Filter is a weighted Bloom filter. All methods that begin with Has or end in Atomic are safe to call
// concurrently. Other methods, among them Stats and WriteTo, may not run while keys are added. A Filter
// must not be copied, since the copies would share memory: use Clone. The zero Filter contains nothing and
// is a target for UnmarshalBinary; adding to it panics.
type Filter struct {
	NoCopy kinds.NoCopy

	keyed
	probes probes // of array
}

func (f *Filter) core() kinds.Core { return f.front() }

// probes find the cells of each class.
type probes struct {
	of          []probe.Bits // by class
	least, most probe.Bits   // of the fewest cells per key, and of the most
	leastClass  int          // the class of least
}

// withProbes returns the filter of an array of bits and its classes.
func withProbes(k keyed, err error) (*Filter, error) {
	if err != nil {
		return nil, err
	}
	f := &Filter{keyed: k}
	f.setArray(k.array)
	return f, nil
}

func (f *Filter) setArray(a arrays.Array) {
	p := probes{of: make([]probe.Bits, len(f.classes)), leastClass: f.least}
	for i, c := range f.classes {
		p.of[i] = a.Probe(c.K)
	}
	p.least, p.most = p.of[f.least], p.of[f.most]
	f.array, f.probes = a, p
}

// Add adds d and reports whether a bit changed. If there is a table of digests, it
// contains the class of d; otherwise d sets as many cells as the class with the most.
func (f *Filter) Add(d umbel.Digest) bool { return f.adder(d).Add(d) }

// Has reports whether d may have been added, with any class. It is never false for a
// digest that was. If there is a table of digests, it contains the class of d; otherwise
// Has checks the cells that all classes set.
func (f *Filter) Has(d umbel.Digest) bool {
	// Classes share their first cells, and most absent keys fail there: only the class
	// of the others is looked up.
	return f.probes.least.Has(d) && (f.probes.leastClass == 0 && f.hot.isCold(d) || f.hasRest(d))
}

// hasRest is Has of a digest that has the cells which all classes set.
func (f *Filter) hasRest(d umbel.Digest) bool {
	if f.hot.isEmpty() {
		return true
	}
	class := f.hot.class(d)
	return class == f.probes.leastClass || f.probes.of[class].Has(d)
}

// AddAtomic adds d concurrently with Has and itself: see [umbel.AtomicAdder].
func (f *Filter) AddAtomic(d umbel.Digest) bool { return f.adder(d).AddAtomic(d) }

// adder returns the probe through which Add adds d.
func (f *Filter) adder(d umbel.Digest) *probe.Bits {
	switch {
	case f.hot.isEmpty():
		return &f.probes.most
	case f.hot.isCold(d):
		return &f.probes.of[0]
	}
	return &f.probes.of[f.hot.class(d)]
}

// HasAll sets dst[i] to Has(ds[i]): see [umbel.BatchQuerier].
func (f *Filter) HasAll(dst []bool, ds []umbel.Digest) {
	f.probes.least.HasAll(dst, ds)
	if f.hot.isEmpty() {
		return
	}
	leastIsCold := f.probes.leastClass == 0
	for i, has := range dst[:len(ds)] {
		if has && !(leastIsCold && f.hot.isCold(ds[i])) {
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

// AddAllAtomic adds ds concurrently with Has and itself: see [umbel.AtomicBatchAdder].
func (f *Filter) AddAllAtomic(ds []umbel.Digest) {
	for len(ds) > 0 {
		bits, n := f.run(ds)
		bits.AddAllAtomic(ds[:n])
		ds = ds[n:]
	}
}

// run returns the number of digests at the beginning of ds that one probe adds, and the
// probe. Hot keys are few, so runs are long.
func (f *Filter) run(ds []umbel.Digest) (bits *probe.Bits, n int) {
	if f.hot.isEmpty() {
		return &f.probes.most, len(ds)
	}
	bits = f.adder(ds[0])
	for n = 1; n < len(ds) && f.adder(ds[n]) == bits; n++ {
	}
	return bits, n
}

// Locate appends to dst the positions that Has checks: see [umbel.Locator].
func (f *Filter) Locate(dst []uint64, d umbel.Digest) []uint64 {
	if f.hot.isEmpty() {
		return f.probes.least.Locate(dst, d)
	}
	return f.adder(d).Locate(dst, d)
}

// AddClass adds d as a key of a class and reports whether a bit changed. Query it with
// the same class or with Has: a class with more cells may miss it. For an unknown class,
// and if there is a table of digests, which contains the class, AddClass is Add.
func (f *Filter) AddClass(d umbel.Digest, class int) bool {
	if !f.isKnown(class) {
		return f.Add(d)
	}
	return f.probes.of[class].Add(d)
}

// AddClassAtomic is AddClass, and is safe to call concurrently with itself, AddAtomic and Has.
func (f *Filter) AddClassAtomic(d umbel.Digest, class int) bool {
	if !f.isKnown(class) {
		return f.AddAtomic(d)
	}
	return f.probes.of[class].AddAtomic(d)
}

// HasClass reports whether d may have been added as a key of that class, or by Add. For
// an unknown class, and if there is a table of digests, which contains the class, HasClass
// is Has. It is safe to call concurrently with itself, Has and AddAtomic.
func (f *Filter) HasClass(d umbel.Digest, class int) bool {
	if !f.isKnown(class) {
		return f.Has(d)
	}
	return f.probes.of[class].Has(d)
}

// LocateClass appends to dst the positions that HasClass checks.
func (f *Filter) LocateClass(dst []uint64, d umbel.Digest, class int) []uint64 {
	if !f.isKnown(class) {
		return f.Locate(dst, d)
	}
	return f.probes.of[class].Locate(dst, d)
}

// Clear removes all keys and keeps the classes.
func (f *Filter) Clear() { f.array.Cells.Clear() }

// Fold shrinks f by factor r: see [umbel.Folder]. The classes stay the same. r must divide
// the number of groups. The error wraps umbel.ErrMismatch; on error f is unchanged.
func (f *Filter) Fold(r uint64) error { return f.set(f.array.Fold(r)) }

// Unfold enlarges f by factor u by copying cells: see [umbel.Folder].
func (f *Filter) Unfold(u uint64) error { return f.set(f.array.Unfold(u)) }

// set makes a the array of f unless err is not nil, and returns err.
func (f *Filter) set(a arrays.Array, err error) error {
	if err == nil {
		f.setArray(a)
	}
	return err
}

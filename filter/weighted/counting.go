package weighted

import (
	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/internal/arrays"
	"github.com/umbel-filters/umbel/filter/internal/kinds"
	"github.com/umbel-filters/umbel/internal/sentinel"
)

// countingName is the name of the kind of Counting.
const countingName = "weighted-counting"

var countingKind = arrays.Kind{Name: countingName, Counters: true}

// Counting is a weighted filter with counters instead of bits, so that keys can be removed (Verma 2015, section 6.3).
// Its nonzero counters are the bits of the [Filter] with the same shape and keys; counters saturate as in package
// counting.
//
// A key is removed with the class with which it was added: RemoveString undoes AddString, Remove undoes Add, and
// RemoveClass undoes AddClass of the same class. A removal with another class is refused if one of the counters that
// it would decrement is zero, which proves that the key was not added with this class. Otherwise, with a class of more
// cells, it decrements counters of other keys, as the removal of a key that was never added does: these may then be
// absent. With a class of fewer cells it removes the key, and its other counters stay until Clear.
//
// All methods that begin with Has or Count are safe to call concurrently; changes require exclusive access. A Counting
// must not be copied, since the copies would share memory: use Clone. The zero Counting contains nothing and is a target
// for UnmarshalBinary; adding to it panics.
type Counting struct {
	NoCopy kinds.NoCopy

	keyed
	of []arrays.Counters // by class, each with its k
}

func (f *Counting) core() kinds.Core { return f.front() }

// NewCountingShape returns an empty filter of shape s, whose Width is that of the counters: 4, 8 or 16. It rounds the
// shares of s to one part in 10^9. The error wraps umbel.ErrGoal if no filter can have that shape. It allocates the
// memory of the shape: for untrusted sizes, check [Shape.Forecast] first.
func NewCountingShape(s Shape) (*Counting, error) {
	if s.Width == 0 {
		return nil, sentinel.Errorf(umbel.ErrGoal, "weighted: cells of one bit, want counters of 4, 8 or 16 bits: set Width, or use NewShape")
	}
	return withCounters(s.make())
}

// OpenCounting is [Open] for a state of kind weighted-counting.
func OpenCounting(s umbel.State) (*Counting, error) { return withCounters(openKeyed(countingKind, s)) }

// withCounters returns the filter of an array of counters and its classes.
func withCounters(k keyed, err error) (*Counting, error) {
	if err != nil {
		return nil, err
	}
	f := &Counting{keyed: k}
	f.setArray(k.array)
	return f, nil
}

func (f *Counting) setArray(a arrays.Array) {
	f.array, f.of = a, make([]arrays.Counters, len(f.classes))
	for i, c := range f.classes {
		a.Shape.K = c.K
		f.of[i] = arrays.CountersFrom(a)
	}
}

// zeroCounters are those of a zero filter.
var zeroCounters arrays.Counters

// added returns the counters that Add increments for d.
func (f *Counting) added(d umbel.Digest) *arrays.Counters {
	switch {
	case f.of == nil:
		return &zeroCounters
	case f.hot.isEmpty():
		return &f.of[f.most]
	case f.hot.isCold(d):
		return &f.of[0]
	}
	return &f.of[f.hot.class(d)]
}

// queried returns the counters that Has reads for d.
func (f *Counting) queried(d umbel.Digest) *arrays.Counters {
	if f.hot.isEmpty() && f.of != nil {
		return &f.of[f.least]
	}
	return f.added(d)
}

// Add adds d and reports whether a counter changed: it returns false only if all counters of d are saturated. If there is
// a table of digests, it contains the class of d; otherwise d has as many counters as the class with the most.
func (f *Counting) Add(d umbel.Digest) bool { return f.added(d).Add(d) }

// Has reports whether d may have been added, with any class, and not removed since. It is never false for a
// digest that was. If there is a table of digests, it contains the class of d; otherwise
// Has reads the counters that all classes increment.
func (f *Counting) Has(d umbel.Digest) bool { return f.queried(d).Has(d) }

// Remove undoes one Add of d and reports whether it did: see counting.Filter.Remove. With prefixes it changes nothing and
// returns false, since a digest does not determine the class with which its key was added: use RemoveString or
// RemoveClass.
func (f *Counting) Remove(d umbel.Digest) bool { return f.prefixes.isEmpty() && f.added(d).Remove(d) }

// Count returns how often d was added, with any class, and not removed, from the counters that Has reads. It never
// returns too little: see counting.Filter.Count.
func (f *Counting) Count(d umbel.Digest) (n uint64, known bool) { return f.queried(d).Count(d) }

// HasAll sets dst[i] to Has(ds[i]): see [umbel.BatchQuerier].
func (f *Counting) HasAll(dst []bool, ds []umbel.Digest) {
	dst = dst[:len(ds):len(dst)]
	for len(ds) > 0 {
		c, n := run(ds, f.queried)
		c.HasAll(dst[:n], ds[:n])
		dst, ds = dst[n:], ds[n:]
	}
}

// AddAll adds ds in order: see [umbel.BatchAdder].
func (f *Counting) AddAll(changed []bool, ds []umbel.Digest) {
	if changed != nil {
		changed = changed[:len(ds):len(changed)]
	}
	for len(ds) > 0 {
		c, n := run(ds, f.added)
		if changed == nil {
			c.AddAll(nil, ds[:n])
		} else {
			c.AddAll(changed[:n], ds[:n])
			changed = changed[n:]
		}
		ds = ds[n:]
	}
}

// run returns the number of digests at the beginning of ds with the same counters, and these.
func run(ds []umbel.Digest, of func(umbel.Digest) *arrays.Counters) (c *arrays.Counters, n int) {
	c = of(ds[0])
	for n = 1; n < len(ds) && of(ds[n]) == c; n++ {
	}
	return c, n
}

// Locate appends to dst the positions that Has reads: see [umbel.Locator].
func (f *Counting) Locate(dst []uint64, d umbel.Digest) []uint64 { return f.queried(d).Locate(dst, d) }

// AddClass adds d as a key of a class and reports whether a counter changed. Query it with
// the same class or with Has, and remove it with the same class. For an unknown class,
// and if there is a table of digests, which contains the class, AddClass is Add.
func (f *Counting) AddClass(d umbel.Digest, class int) bool {
	if !f.isKnown(class) {
		return f.Add(d)
	}
	return f.of[class].Add(d)
}

// HasClass reports whether d may have been added as a key of that class, or by Add, and not removed since. For
// an unknown class, and if there is a table of digests, HasClass is Has.
func (f *Counting) HasClass(d umbel.Digest, class int) bool {
	if !f.isKnown(class) {
		return f.Has(d)
	}
	return f.of[class].Has(d)
}

// RemoveClass undoes one AddClass of d with that class and reports whether it did. For an unknown class,
// and if there is a table of digests, RemoveClass is Remove.
func (f *Counting) RemoveClass(d umbel.Digest, class int) bool {
	if !f.isKnown(class) {
		return f.Remove(d)
	}
	return f.of[class].Remove(d)
}

// CountClass is Count of a digest that was added with that class, or by Add. For an unknown class, and if there is a
// table of digests, CountClass is Count.
func (f *Counting) CountClass(d umbel.Digest, class int) (n uint64, known bool) {
	if !f.isKnown(class) {
		return f.Count(d)
	}
	return f.of[class].Count(d)
}

// LocateClass appends to dst the positions that HasClass reads.
func (f *Counting) LocateClass(dst []uint64, d umbel.Digest, class int) []uint64 {
	if !f.isKnown(class) {
		return f.Locate(dst, d)
	}
	return f.of[class].Locate(dst, d)
}

// Clear removes all keys and keeps the classes.
func (f *Counting) Clear() {
	f.array.Cells.Clear()
	f.array.Copied = false
}

// IsEmpty reports whether all counters are zero: see counting.Filter.IsEmpty.
func (f *Counting) IsEmpty() bool { return f.array.IsEmpty() }

// Bits returns a copy of the filter for readers, which need no counters: the [Filter] whose bits are the nonzero
// counters. It is safe to call concurrently with queries. The error for a zero filter wraps umbel.ErrMismatch.
func (f *Counting) Bits() (*Filter, error) {
	if f.of == nil {
		return nil, arrays.NoSize(countingName)
	}
	k := f.keyed
	var err error
	k.array.Cells, err = f.array.Cells.FoldToBits(1, 1<<f.array.Shape.Group)
	k.array.Kind, k.array.Copied = kind, false
	return withProbes(k, err)
}

// State returns the complete contents of the filter: see [umbel.Filter].
func (f *Counting) State() umbel.State { return f.state(countingKind) }

// Fold shrinks f by factor r by adding counters: see [umbel.Folder]. The classes stay the same. r must divide
// the number of groups. The error wraps umbel.ErrMismatch; on error f is unchanged.
func (f *Counting) Fold(r uint64) error { return f.set(f.array.Fold(r)) }

// Unfold enlarges f by factor u by copying counters: see counting.Filter.Unfold.
func (f *Counting) Unfold(u uint64) error { return f.set(f.array.Unfold(u)) }

// Merge adds the counters of another weighted counting filter with the same hasher, group, width, k of each
// class, and table of digests or prefixes: see [Filter.Merge] and counting.Filter.Merge.
func (f *Counting) Merge(s umbel.State) error {
	g, err := f.other(countingKind, s)
	if err != nil {
		return err
	}
	return f.set(f.array.Merge(g))
}

// Difference subtracts the counters of another filter from f: it undoes Merge, whose conditions apply. See
// counting.Filter.Difference, which has the errors.
func (f *Counting) Difference(s umbel.State) error {
	g, err := f.other(countingKind, s)
	if err != nil {
		return err
	}
	return f.set(f.array.Subtract(g))
}

// set makes a the counters of f unless err is not nil, and returns err.
func (f *Counting) set(a arrays.Array, err error) error {
	if err == nil {
		f.setArray(a)
	}
	return err
}

package umbel

// Filter is the interface of all kinds. What only some kinds can do is one of the
// interfaces below; find it by type assertion.
//
// Has is safe to call concurrently with Has, Stats and State. Add is not safe to call
// concurrently with any method; see AtomicAdder.
type Filter interface {
	// Add adds a digest and reports whether the filter changed. If it returns false, Has
	// was already true.
	Add(Digest) bool
	// Has reports whether a digest may have been added. It is never false for a digest
	// that was added.
	Has(Digest) bool
	// Hasher returns the hasher of the filter's keys.
	Hasher() Hasher
	// Stats measures the filter. It reads all cells.
	Stats() Stats
	// State returns the complete contents of the filter. It shares the filter's memory and
	// is valid until the next change; keep State.Clone instead.
	State() State
}

// AtomicAdder is a filter with concurrent additions. AddAtomic is Add, and is safe to call
// concurrently with itself and with Has, but not with other changes, Stats, or a reader of
// a State. Has is true if it begins after AddAtomic returned. If two calls add the same
// digest at the same time, both may return true.
type AtomicAdder interface{ AddAtomic(Digest) bool }

// Remover is a filter from which digests can be removed. Remove removes one addition of a
// digest and reports whether it did. It returns false and changes nothing if the digest is
// certainly absent, or if it cannot be removed, for example because all its counters are
// saturated. Remove therefore returns true at most as often as the filter was added to.
// To remove a digest that was never added may remove other keys as well.
type Remover interface{ Remove(Digest) bool }

// Counter is a filter that counts additions. Count returns how often a digest was added,
// or a larger number. If all counters of the digest are saturated, its number is unknown:
// then known is false and n is 2^64-1.
type Counter interface {
	Count(Digest) (n uint64, known bool)
}

// Merger is a filter that can add all keys of another filter. The other filter is
// unchanged. If the two do not fit together, the error wraps ErrMismatch and contains the
// first difference, and the filter is unchanged. Kinds that merge filters of different
// sizes fold one or both to a common divisor of their sizes; the result has that size and
// its rate, which may be far above what both were planned for. That is not an error: check
// [Planned.Exceeded] with the rate of [Stats] after each merge.
type Merger interface{ Merge(State) error }

// Folder is a filter that can change its size by an integer factor and keep all keys. If
// the factor does not fit, the error wraps ErrMismatch and lists the factors that do, and
// the filter is unchanged.
type Folder interface {
	// Fold shrinks the filter by factor r. The result equals, bit for bit, the filter made
	// with the smaller size. Fold takes new memory for the cells and does not change the
	// old cells. Sailhan and Stehr 2012, section III.
	Fold(r uint64) error
	// Unfold enlarges the filter by factor u: it copies each cell u times. The rate does
	// not change; keys that are added later have more room. The caller checks that there is
	// memory for u times the filter.
	//
	// Stats finds the copies, because neighboring groups of cells agree, and estimates the keys
	// from a fold that has none: the filter folded by u is the one that was never unfolded. It
	// does not find the copies of very few keys, about the square root of the number of all
	// keys; each of them then counts u times. (redisbloom's FPRate changes by a few percent.)
	Unfold(u uint64) error
}

// Clearer is a filter from which all keys can be removed at once; its shape stays.
type Clearer interface{ Clear() }

// Locator is a filter whose result depends on single cells. Locate appends to dst the cells
// of array 0 that a digest sets, in the order of the stream. A cell may appear twice.
type Locator interface {
	Locate(dst []uint64, d Digest) []uint64
}

// PositionLister is a filter that stores a list of the nonzero cells instead of the cells.
// Its memory depends on the keys, so that a forecast is an upper bound, and the arrays of
// its state are not the cells; Stats returns their number and fill ratio. Positions yields
// the nonzero cells in ascending order.
type PositionLister interface {
	Positions(yield func(position uint64) bool)
}

// Classifier is a filter whose keys belong to classes with different numbers of cells. A
// class is a number from 0.
//
// Class returns the class of a key, and false if the key does not determine it. Code that
// has keys uses AddClass, HasClass and LocateClass with that class instead of Add, Has and
// Locate. The latter have no false negatives either, but don't use the advantage of
// classes. Has is true for a digest that was added with any class; HasClass for one that
// was added with that class or by Add.
type Classifier interface {
	Class(key []byte) (class int, ok bool)
	AddClass(d Digest, class int) bool
	HasClass(d Digest, class int) bool
	LocateClass(dst []uint64, d Digest, class int) []uint64
}

// Grower is a filter that grows or has a maximum size. TryAdd is Add, except that it
// returns an error wrapping ErrLimit, and leaves the filter unchanged, if the filter would
// grow beyond its limit. Add itself never fails: beyond the limit the rate rises.
type Grower interface {
	TryAdd(Digest) (bool, error)
}

// GrowthForecaster is a Grower that can forecast its growth. NextGrowth returns the bytes
// of the arrays that the next addition would allocate, and 0 if it would allocate none. The
// error wraps ErrLimit if TryAdd would fail. It usually takes as long as Has, since the filter remembers the room
// that is left; so, as Add, it is not safe to call concurrently with any method.
type GrowthForecaster interface {
	NextGrowth() (bytes uint64, err error)
}

// Advancer is a filter whose keys expire. Advance sets the time; the program chooses its
// unit and its zero. If the time is before the last one, the error wraps ErrMismatch and
// the filter is unchanged.
type Advancer interface {
	Advance(to uint64) error
}

// Sealer is a filter that is computed from all keys at once. Add collects digests, and Has
// finds them. Seal computes the form that is sent. Digests that are added later are stored
// exactly in addition, at the cost of a digest each; if there are many, build a new filter.
// The methods that write a container of an unsealed filter, as MarshalBinary, write the sealed
// one and leave the filter unchanged; its State has the digests.
// Seal does nothing if no digest was added since. If it fails, the filter is unchanged.
type Sealer interface{ Seal() error }

// BatchQuerier is a filter that queries many digests faster than one by one. HasAll sets
// dst[i] to Has(ds[i]). It panics if dst is shorter than ds.
type BatchQuerier interface {
	HasAll(dst []bool, ds []Digest)
}

// BatchAdder is a filter that adds many digests faster than one by one. AddAll adds them in
// order. If changed isn't nil, AddAll sets changed[i] to the result of Add(ds[i]); it
// panics if changed is shorter than ds.
type BatchAdder interface {
	AddAll(changed []bool, ds []Digest)
}

// AtomicBatchAdder is a filter that adds many digests as safely as AtomicAdder adds one. Calls may
// wait for each other, for microseconds.
type AtomicBatchAdder interface {
	AddAllAtomic(ds []Digest)
}

// BulkAdder is a filter to which a [Loader] adds very many digests faster than an
// AtomicBatchAdder.
type BulkAdder interface {
	// NewLoader returns a Loader that adds to the filter. It needs at most the given bytes of memory, apart from up to a
	// MiB for each goroutine that uses it. It is nil if it would need more, and if the filter is too small to gain from one.
	// Until its Flush returns, the filter may neither be read nor changed otherwise. When
	// the size of the filter changes, as by Fold, the Loader can't be used any more.
	NewLoader(most uint64) Loader
}

// Loader adds digests to a filter that is larger than the caches. It collects cells, and
// sets those of one region of the filter together, while the region is in a cache. The
// filter is then the same, bit for bit, as if AddAll had been called on it.
type Loader interface {
	// AddAll adds digests, and does not keep the slice. It is safe to call concurrently with
	// itself. Digests are in the filter when Flush has returned.
	AddAll(ds []Digest)
	// Flush sets the cells that were collected. It may not run concurrently with AddAll.
	// More digests may be added after it.
	Flush()
}

// HasAll sets dst[i] to f.Has(ds[i]), and uses f's BatchQuerier if it has one. It panics if
// dst is shorter than ds. It allocates nothing.
func HasAll(f Filter, dst []bool, ds []Digest) {
	if b, ok := f.(BatchQuerier); ok {
		b.HasAll(dst, ds)
		return
	}
	dst = dst[:len(ds):len(dst)]
	for i, d := range ds {
		dst[i] = f.Has(d)
	}
}

// AddAll adds ds to f in order, and uses f's BatchAdder if it has one. If changed isn't nil,
// AddAll sets changed[i] to whether ds[i] changed the filter. It allocates nothing.
func AddAll(f Filter, changed []bool, ds []Digest) {
	if b, ok := f.(BatchAdder); ok {
		b.AddAll(changed, ds)
		return
	}
	if changed == nil {
		for _, d := range ds {
			f.Add(d)
		}
		return
	}
	changed = changed[:len(ds):len(changed)]
	for i, d := range ds {
		changed[i] = f.Add(d)
	}
}

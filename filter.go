package umbel

// Filter is what every kind can do. What only some can do is one of the
// interfaces below, found by type assertion.
//
// Has may run alongside itself, Stats and State. Add must run alone, except as
// AtomicAdder says.
type Filter interface {
	// Add adds a digest and reports whether the filter changed. It returns false
	// only if Has was true before.
	Add(Digest) bool
	// Has reports whether a digest may have been added. It is never false for one
	// that was.
	Has(Digest) bool
	// Stats measures the filter as it is now. It reads all of it.
	Stats() Stats
	// State returns all there is of the filter. It shares the filter's memory: it
	// is valid until the next change. State.Clone keeps it.
	State() State
}

// AtomicAdder is a filter that takes additions from many goroutines at once,
// alongside Has and itself, but not alongside other changes, Stats, or who reads a
// State. Once AddAtomic has
// returned, every Has that begins afterwards is true. If the same digest is added
// twice at the same time, both calls may return true.
type AtomicAdder interface{ AddAtomic(Digest) bool }

// Remover is a filter that can forget one addition of a digest. Remove reports
// whether it did; it doesn't if the filter can tell that the digest isn't there.
// Removing what was never added may lose other keys.
type Remover interface{ Remove(Digest) bool }

// Counter is a filter that tells how often a digest was added: never too few.
type Counter interface{ Count(Digest) uint64 }

// Merger is a filter that takes in another one's keys. The other is left as it
// was. Where the two don't go together the error wraps ErrMismatch, says the first
// difference, and nothing has changed. Kinds that take in a filter of another size
// fold the larger, or both, to a size that divides each: the result has that size, and
// its rate.
type Merger interface{ Merge(State) error }

// Folder is a filter that can change its size by an integer factor and keep all
// its keys. Where r doesn't divide the size the error wraps ErrMismatch, says what
// does, and nothing has changed.
type Folder interface {
	// Fold makes the filter r times smaller: bit for bit what it would be had it
	// been built at that size. It takes new memory for its cells and leaves the old
	// as it was. Sailhan and Stehr 2012, section III.
	Fold(r uint64) error
	// Unfold makes the filter u times larger by copying each cell u times. The rate
	// stays that of the smaller one; keys added from now on profit from the room. The
	// caller sees to it that there is memory for u times the filter.
	Unfold(u uint64) error
}

// Clearer is a filter that can forget everything and keep its shape.
type Clearer interface{ Clear() }

// Locator is a filter whose answer rests on single cells. Locate appends to dst
// the cells of plane 0 that a digest sets, in the order of the stream; the same
// cell may appear more than once.
type Locator interface {
	Locate(dst []uint64, d Digest) []uint64
}

// Lister is a filter that keeps, in place of cells, a list of those that are set. Its
// memory follows from the keys, so that a forecast of it is a bound, and the planes of
// its state aren't the cells: Stats tells the cells that it stands for, and their fill.
// Positions yields those that are set, in order.
type PositionLister interface {
	Positions(yield func(position uint64) bool)
}

// Classifier is a filter whose keys are of classes with unlike numbers of cells. Class
// returns the class of a key where the key itself tells, and false where a digest
// tells as much, or nobody but the program. Code that has keys and is told their class
// uses AddClass, HasClass and LocateClass in the place of Add, Has and Locate, which
// are never wrong to say no either, but don't gain what the classes do.
//
// A class is a number from 0. Has is true for what was added with any class, HasClass
// for what was added with that class or with Add.
type Classifier interface {
	Class(key []byte) (class int, ok bool)
	AddClass(d Digest, class int) bool
	HasClass(d Digest, class int) bool
	LocateClass(dst []uint64, d Digest, class int) []uint64
}

// Grower is a filter that grows, or that has a size it is not to pass. TryAdd is
// Add, except that where adding would take the filter beyond its limit it leaves it
// as it was; the error then wraps ErrLimit and says what to do. Add itself never
// refuses: past the limit the rate rises instead.
type Grower interface {
	TryAdd(Digest) (bool, error)
}

// GrowthForecaster is a Grower that tells beforehand when it grows. Growth returns the bytes
// of planes that the next digest takes which the filter doesn't have: 0 while there is
// room for it without. The error wraps ErrLimit where TryAdd would refuse the digest.
// It is as quick as Has, but now and then. A digest for which Has is true takes no bytes.
// A kind that counts additions has to count such a digest too. Its addition changes nothing
// if Kind.Monotone is set.
type GrowthForecaster interface {
	NextGrowth() (bytes uint64, err error)
}

// Advancer is a filter that forgets what is old. Advance tells it the time, in
// units and from a beginning of the program's own choice. Where to is before the
// time that it was told last, the error wraps ErrMismatch and nothing has changed.
type Advancer interface {
	Advance(to uint64) error
}

// Sealer is a filter that is made at once from all its keys. Add collects digests, and
// Has finds them there; Seal turns what was collected into the form that is sent. What
// is added later is kept beside it, exactly, at the cost of a digest each, so nothing is
// lost; a filter with many such keys is better built anew. Seal of a filter with nothing
// new changes nothing. Where it fails the filter is as it was before.
type Sealer interface{ Seal() error }

// BatchQuerier is a filter that answers many digests faster than one by one. HasAll
// sets dst[i] to Has(ds[i]). It panics if dst is shorter than ds.
type BatchQuerier interface {
	HasAll(dst []bool, ds []Digest)
}

// BatchAdder is a filter that adds many digests faster than one by one. AddAll has
// the effect of adding them in order. If changed isn't nil, changed[i] is set to
// what Add(ds[i]) would have returned; it panics if changed is shorter than ds.
type BatchAdder interface {
	AddAll(changed []bool, ds []Digest)
}

// AtomicBatchAdder is AddAtomic for many digests, and as safe.
type AtomicBatchAdder interface {
	AddAllAtomic(ds []Digest)
}

// HasAll sets dst[i] to f.Has(ds[i]), by batch where f can. It panics if dst is
// shorter than ds. It allocates nothing.
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

// AddAll adds ds to f in order, by batch where f can. If changed isn't nil,
// changed[i] tells whether ds[i] changed the filter. It allocates nothing.
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

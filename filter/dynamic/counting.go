package dynamic

import (
	"math"
	"slices"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/counting"
	"github.com/umbel-filters/umbel/filter/internal/row"
)

// Counting is a dynamic Bloom filter of counters: keys can be removed from it. Has,
// HasAll and Count may run alongside themselves and each other; changes run alone. The
// zero Counting holds nothing and is a target for UnmarshalBinary; adding to it
// panics.
type Counting struct {
	shape Shape
	parts []*counting.Filter
	room  row.Room // in the last part
	most  int      // parts that it grows to
}

// Add adds d once more and reports whether a counter changed. A key that a part has
// is counted there, so that Remove finds it in one place; another goes to the last
// part. Where there is no room for another part, by Shape.MaxBytes, the last one takes
// what comes, and the rate rises: TryAdd refuses instead.
func (f *Counting) Add(d umbel.Digest) bool {
	mustBeMade(len(f.parts))
	if p := f.newest(d); p != nil {
		return p.Add(d)
	}
	_ = f.makeRoom() // without, the last part takes it
	return f.put(d)
}

// TryAdd is Add, except that it refuses d, with an error that wraps umbel.ErrLimit,
// where adding it would take a part for which there is no room: see [umbel.Grower].
func (f *Counting) TryAdd(d umbel.Digest) (bool, error) {
	mustBeMade(len(f.parts))
	if p := f.newest(d); p != nil {
		return p.Add(d), nil
	}
	if err := f.makeRoom(); err != nil {
		return false, err
	}
	return f.put(d), nil
}

func mustBeMade(parts int) {
	if parts == 0 {
		panic("umbel: add to a zero filter: make it with New")
	}
}

// newest returns the newest part that has d, or nil.
func (f *Counting) newest(d umbel.Digest) *counting.Filter {
	for i := len(f.parts) - 1; i >= 0; i-- {
		if f.parts[i].Has(d) {
			return f.parts[i]
		}
	}
	return nil
}

// put adds d to the last part.
func (f *Counting) put(d umbel.Digest) bool {
	f.room.Took(1)
	return f.parts[len(f.parts)-1].Add(d)
}

// Growth tells what the next new key takes: see [umbel.GrowthForecaster].
func (f *Counting) NextGrowth() (uint64, error) {
	mustBeMade(len(f.parts))
	if !f.isFull() {
		return 0, nil
	}
	return f.shape.bytes(), f.shape.room(len(f.parts), f.most)
}

// isFull reports whether the last part is.
func (f *Counting) isFull() bool {
	last := f.parts[len(f.parts)-1]
	return f.room.Left(last.State().Arrays[0], f.shape.Full, f.shape.Layer.K) == 0
}

// makeRoom appends an empty part if the last is full. The error wraps umbel.ErrLimit
// where it is, and there is no room for another.
func (f *Counting) makeRoom() error {
	if !f.isFull() {
		return nil
	}
	if err := f.shape.room(len(f.parts), f.most); err != nil {
		return err
	}
	p, err := counting.NewShape(f.shape.counting())
	if err != nil {
		return full(err)
	}
	f.hold(append(f.parts, p))
	return nil
}

// Has reports whether d may have been added, and not removed since. It is never false
// for what was.
func (f *Counting) Has(d umbel.Digest) bool { return f.newest(d) != nil }

// Remove takes back one addition of d and reports whether it did. It does if exactly
// one part has d: where several have it, one of them by chance, the filter can't tell
// which, and to remove it from the wrong one would lose other keys (Guo et al. 2006).
// With s parts of rate p that refuses about one key in 1/((s-1)p); the key then stays.
// A part that becomes empty leaves the row. Remove only what was added: see
// counting.Filter.Remove.
func (f *Counting) Remove(d umbel.Digest) bool {
	only := -1
	for i, p := range f.parts {
		if p.Count(d) == 0 {
			continue
		}
		if only >= 0 {
			return false
		}
		only = i
	}
	if only < 0 || !f.parts[only].Remove(d) {
		return false
	}
	if len(f.parts) > 1 && f.parts[only].IsEmpty() {
		f.parts = slices.Delete(f.parts, only, only+1)
	}
	f.room.Forget()
	return true
}

// Count returns how often d was added and not removed: never too few, and too many
// about as often as Has is wrong. If a part can't tell, since all of d's counters in
// it are saturated, Count is 2^64-1.
func (f *Counting) Count(d umbel.Digest) uint64 {
	n := uint64(0)
	for _, p := range f.parts {
		c := p.Count(d)
		if n += c; n < c {
			return math.MaxUint64
		}
	}
	return n
}

// HasAll sets dst[i] to Has(ds[i]): see [umbel.BatchQuerier].
func (f *Counting) HasAll(dst []bool, ds []umbel.Digest) {
	dst = dst[:len(ds):len(dst)]
	for i, d := range ds {
		dst[i] = f.Has(d)
	}
}

// AddAll adds ds in order: see [umbel.BatchAdder].
func (f *Counting) AddAll(changed []bool, ds []umbel.Digest) {
	if changed != nil {
		changed = changed[:len(ds):len(changed)]
	}
	for i, d := range ds {
		if c := f.Add(d); changed != nil {
			changed[i] = c
		}
	}
}

// Clear forgets all keys, and all parts but an empty one.
func (f *Counting) Clear() {
	if len(f.parts) > 0 {
		f.parts[0].Clear()
		f.hold(f.parts[:1:1])
	}
}

// Parts returns the number of filters in the row.
func (f *Counting) Layers() int { return len(f.parts) }

// hold makes parts those of the filter.
func (f *Counting) hold(parts []*counting.Filter) {
	f.parts = parts
	f.room.Forget()
}

// NewCounting returns an empty filter from which keys can be removed, for the given number
// of distinct keys in its first layer. See [New].
func NewCounting(keys uint64, fpRate float64) (*Counting, error) {
	return NewCountingGoal(umbel.Goal{Keys: keys, FPRate: fpRate})
}

// NewCountingGoal returns an empty filter for g from which keys can be removed, with
// counters of 4 bits. The error wraps umbel.ErrGoal.
func NewCountingGoal(g umbel.Goal) (*Counting, error) {
	s, _, err := planWith(g, umbel.Params{{Name: "width", Value: umbel.Uint(counting.DefaultWidth)}})
	if err != nil {
		return nil, err
	}
	return NewCountingShape(s)
}

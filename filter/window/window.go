// Package window provides the age-partitioned Bloom filter, whose old keys expire (Shtul,
// Baquero and Almeida 2020). It has k+l slices of equal size in a ring, ordered by age. A
// key sets one bit in each of the k newest slices. When a generation ends, the oldest
// slice is cleared and becomes the newest. Has is true if k neighboring slices contain the
// bits of the key. So a key is present for l generations after its own, and a key that is
// added again stays as long as a new one.
//
// A filter by time has generations of a number of ticks, whose unit and zero the program
// chooses; Advance ends them. A filter by keys ends a generation when the newest slice has
// Limit bits.
//
// spec/kinds/window.md defines positions, shifts and parameters. They never change.
package window

import (
	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/filter/internal/kinds"
	"github.com/umbel-filters/umbel/internal/probe"
)

// Filter is an age-partitioned Bloom filter. Stats, State and all methods that begin with Has are safe to
// call concurrently with each other; no other methods are. A Filter must not be copied, since the copies
// would share memory: use Clone. The zero Filter contains nothing and is a target for UnmarshalBinary;
// adding to it panics.
type Filter struct {
	NoCopy kinds.NoCopy

	shape   Shape
	cells   cells.Array
	slice   probe.Mapping // values to cells of one slice
	now     uint64        // the time of the last Advance; by keys, generations so far
	ones    uint64        // bits of the newest slice
	planned umbel.Planned
	tick    uint64 // see umbel.State.Tick
}

func (f *Filter) core() kinds.Core {
	return kinds.Core{Hasher: f.shape.Hasher, Planned: &f.planned, Zero: f.shape.K == 0}
}

// Add adds d to the newest generation and reports whether a bit changed. It returns false
// if d was added shortly before; d then stays as long as if it was added now. A filter by
// keys first ends a generation that is full.
func (f *Filter) Add(d umbel.Digest) bool {
	if f.cells.Len == 0 {
		panic(probe.AddToZero)
	}
	if f.shape.byKeys() && f.ones >= f.shape.Limit && !f.fresh(d) {
		f.shift(1)
		f.now = nextByKeys(f.now, uint64(f.shape.slices()))
	}
	changed, newest := false, f.newest()
	for age := range f.shape.K {
		if f.cells.SetBit(f.at(d, f.place(newest, age))) {
			changed = true
			if age == 0 {
				f.ones++
			}
		}
	}
	return changed
}

// TryAdd is Add, except that a filter by time refuses a new key if its generation contains
// the keys that it is planned for. This keeps the rate. The error wraps umbel.ErrLimit. A
// filter by keys refuses nothing.
func (f *Filter) TryAdd(d umbel.Digest) (bool, error) {
	if f.cells.Len != 0 && !f.shape.byKeys() && f.ones >= f.shape.Limit && !f.fresh(d) {
		return false, f.crowded()
	}
	return f.Add(d), nil
}

// Has reports whether d may have been added within the window. It is never false for a key
// that was.
func (f *Filter) Has(d umbel.Digest) bool {
	// Look at k neighboring ages, from the oldest to the newest. After a slice without
	// the bit, continue with the ages after it; slices that had the bit aren't read twice.
	low, high, newest := 0, f.shape.K-1, f.newest()
	for n := f.shape.slices(); f.cells.Len != 0 && high < n; {
		age := high
		for age >= low && f.cells.Bit(f.at(d, f.place(newest, age))) {
			age--
		}
		if age < low {
			return true
		}
		low, high = high+1, age+f.shape.K
	}
	return false
}

// fresh reports whether d is in all of the newest slices.
func (f *Filter) fresh(d umbel.Digest) bool {
	newest := f.newest()
	for age := range f.shape.K {
		if !f.cells.Bit(f.at(d, f.place(newest, age))) {
			return false
		}
	}
	return true
}

// at returns the cell of d in the slice at a place in the ring. A slice uses the same value
// of the stream at every age.
func (f *Filter) at(d umbel.Digest, place uint64) uint64 {
	v, _ := probe.Start(d).Skip(place).Next()
	return place*f.shape.Slice + f.slice.At(v)
}

// newest returns the place of the newest slice in the ring. It divides, so loops over
// slices call it once.
func (f *Filter) newest() uint64 {
	if f.cells.Len == 0 {
		return 0
	}
	return f.generation() % uint64(f.shape.slices())
}

// place returns the place in the ring of the slice with the given age.
func (f *Filter) place(newest uint64, age int) uint64 {
	if uint64(age) > newest {
		newest += uint64(f.shape.slices())
	}
	return newest - uint64(age)
}

// generation returns the number of the newest generation.
func (f *Filter) generation() uint64 {
	if f.shape.byKeys() {
		return f.now
	}
	return f.now / f.shape.Ticks
}

// Clear removes all keys. The time of a filter by time is unchanged: for one that begins at 0, use NewShape with its
// Shape.
func (f *Filter) Clear() {
	f.cells.Clear()
	f.ones = 0
	if f.shape.byKeys() {
		f.now = 0
	}
}

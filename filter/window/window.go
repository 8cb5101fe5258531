// Package window provides the age-partitioned Bloom filter, which forgets what is
// old (Shtul, Baquero and Almeida 2020): k+l slices of equal size in a ring, by age.
// A key sets one bit in each of the k newest. When a generation ends the slices
// shift: the oldest is cleared and is the newest from then on. A key is there if k
// neighbouring slices have its bits. So it is there, for certain, for l generations
// after its own, and all that was added again lives anew.
//
// What a generation is depends on the filter. By time it is a number of ticks, in
// units and from a beginning of the program's choice, and ends when Advance says so.
// By keys it ends by itself when the newest slice has Limit bits.
//
// Its name is a promise: positions, shifts and parameters are those of
// spec/kinds/window.md.
package window

import (
	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/probe"
)

// Filter is an age-partitioned Bloom filter. Has, Stats and State may run alongside
// themselves; all else runs alone. The zero Filter holds nothing and is a target for
// UnmarshalBinary; adding to it panics.
type Filter struct {
	shape Shape
	cells cells.Array
	slice probe.Mapping // values to cells of one slice
	now   uint64        // the time that was told last; by keys, generations so far
	ones  uint64        // bits of the newest slice
}

// Add adds d to the newest generation and reports whether a bit changed. It doesn't
// if d was added shortly before: then it lives as long as if added now. By keys it
// ends a generation first if that is full.
func (f *Filter) Add(d umbel.Digest) bool {
	if f.cells.Len == 0 {
		panic("umbel: add to a zero filter: make it with New")
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

// TryAdd is Add, except that by time it refuses what would change a filter whose
// generation has the keys it is planned for, so that the rate holds: the error wraps
// umbel.ErrLimit. By keys nothing is refused.
func (f *Filter) TryAdd(d umbel.Digest) (bool, error) {
	if f.cells.Len != 0 && !f.shape.byKeys() && f.ones >= f.shape.Limit && !f.fresh(d) {
		return false, f.crowded()
	}
	return f.Add(d), nil
}

// Has reports whether d may have been added within the window. It is never false
// for what was.
func (f *Filter) Has(d umbel.Digest) bool {
	// The slices asked are a window of k ages, from its oldest to its newest. Where
	// one doesn't match, the window moves on past it; those asked already, which
	// matched, aren't asked again.
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

// at returns the cell of d in the slice at a place in the ring. Slices keep their
// value of the stream as long as they live, whatever their age.
func (f *Filter) at(d umbel.Digest, place uint64) uint64 {
	v, _ := probe.Start(d).Skip(place).Next()
	return place*f.shape.Slice + f.slice.At(v)
}

// newest returns where in the ring the newest slice is. It takes divisions: loops
// over slices ask once.
func (f *Filter) newest() uint64 {
	if f.cells.Len == 0 {
		return 0
	}
	return f.generation() % uint64(f.shape.slices())
}

// place returns where in the ring the slice of an age is.
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

// Clear forgets all keys. By time the clock stays as it is.
func (f *Filter) Clear() {
	f.cells.Clear()
	f.ones = 0
	if f.shape.byKeys() {
		f.now = 0
	}
}

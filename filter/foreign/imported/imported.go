// Package imported provides filters that other libraries made, bit for bit, so that their keys need not be added again:
// those of Guava, of Spark and of greatroar/blobloom are of one kind, which answers queries, takes more keys, is
// published and stored as any other, and is written back as the library's own file. [Form] lists the layouts,
// spec/kinds/imported.md specifies them.
//
// A filter of bits-and-blooms/bloom has a type of its own, [BitsAndBlooms], since its positions follow from 256 bits of a
// key's hash, and a digest has 128.
package imported

import (
	"sync/atomic"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/filter/internal/arrays"
	"github.com/umbel-filters/umbel/filter/internal/doublehash"
	"github.com/umbel-filters/umbel/filter/internal/kinds"
	"github.com/umbel-filters/umbel/internal/mem"
)

// Filter is a filter of bits whose positions are those of another library. Has methods and AddAtomic are safe to call
// concurrently with each other; no other method may run at the same time as one that changes the filter. A Filter must not
// be copied, since the copies would share memory: use Clone. The zero Filter contains nothing and is a target for
// UnmarshalBinary; adding to it panics.
type Filter struct {
	NoCopy kinds.NoCopy

	form    Form
	k       int
	scale   uint64 // doublehash.Scale of the number of bits
	hasher  umbel.Hasher
	bits    cells.Array
	planned umbel.Planned
}

func (f *Filter) core() kinds.Core {
	return kinds.Core{Hasher: f.hasher, Planned: &f.planned, Zero: f.bits.Len == 0}
}

// newFilter returns the filter of shape s over bits, which have been checked.
func newFilter(s Shape, bits cells.Array) *Filter {
	return &Filter{form: s.Form, k: s.K, scale: doublehash.Scale(bits.Len), hasher: s.Hasher, bits: bits}
}

// Add adds d and reports whether a bit changed.
func (f *Filter) Add(d umbel.Digest) bool {
	f.mustHaveSize()
	fresh, w := uint64(0), f.start(d)
	for range f.form.perKey(f.k) {
		at := f.next(&w)
		word, bit := &f.bits.Words[at>>6], uint64(1)<<(at&63)
		fresh |= bit &^ *word
		*word |= bit
	}
	return fresh != 0
}

// Has reports whether d may have been added. It is never false for a digest that was added.
func (f *Filter) Has(d umbel.Digest) bool {
	if f.core().Zero {
		return false
	}
	w := f.start(d)
	for range f.form.perKey(f.k) {
		at := f.next(&w)
		if mem.Load(&f.bits.Words[at>>6])>>(at&63)&1 == 0 {
			return false
		}
	}
	return true
}

// AddAtomic adds d and reports whether a bit changed. It is safe to call concurrently with Has and itself: see
// [umbel.AtomicAdder].
func (f *Filter) AddAtomic(d umbel.Digest) bool {
	f.mustHaveSize()
	fresh, w := uint64(0), f.start(d)
	for range f.form.perKey(f.k) {
		at := f.next(&w)
		word, bit := &f.bits.Words[at>>6], uint64(1)<<(at&63)
		if atomic.LoadUint64(word)&bit == 0 { // otherwise the locked instruction has no effect
			fresh |= bit &^ atomic.OrUint64(word, bit)
		}
	}
	return fresh != 0
}

// Locate appends the positions of d to dst, and none for the zero Filter: see [umbel.Locator].
func (f *Filter) Locate(dst []uint64, d umbel.Digest) []uint64 {
	if f.core().Zero {
		return dst
	}
	w := f.start(d)
	for range f.form.perKey(f.k) {
		dst = append(dst, f.next(&w))
	}
	return dst
}

// Clear removes all keys.
func (f *Filter) Clear() { f.bits.Clear() }

func (f *Filter) mustHaveSize() {
	if f.core().Zero {
		panic(arrays.AddToZero)
	}
}

// Package squid provides the Bloom filter of Squid's cache digests, bit for bit: a key sets four bits,
// each at a 32-bit word of its hash modulo the number of cells. It also reads and writes cache digests,
// version 5 ([Digest]), and makes the keys under which Squid stores an object ([AppendKey]).
//
// The name stands for these positions, which never change. With m cells, they are the high and the low
// half of H1 and then of H2, each modulo m. A filter for Squid must use [Hasher], with which the halves
// are the 16 bytes of Squid's store key. Other filters may use any hasher.
package squid

import (
	"math/bits"
	"sync/atomic"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/filter/internal/arrays"
	"github.com/umbel-filters/umbel/filter/internal/kinds"
	"github.com/umbel-filters/umbel/internal/mem"
)

const (
	// Name is the name of this kind of filter.
	Name = "squid"
	// K is the number of cells set per key.
	K = 4
)

// Hasher is the hasher of Squid's store keys.
var Hasher = umbel.Hasher{Alg: umbel.MD5}

// Filter is a filter with Squid's positions. All methods that begin with Has or end in Atomic are safe to
// call concurrently with each other; no other method may run at the same time as one that changes the
// filter. A Filter must not be copied, since the copies would share memory: use Clone. The zero Filter
// contains nothing and is a target for UnmarshalBinary; adding to it panics.
type Filter struct {
	NoCopy kinds.NoCopy

	words   []uint64 // of bits
	m       uint64   // bits.Len
	inverse uint64   // inverseOf(m)
	hasher  umbel.Hasher
	bits    cells.Array
	planned umbel.Planned
}

func (f *Filter) core() kinds.Core {
	return kinds.Core{Hasher: f.hasher, Planned: &f.planned, Zero: f.m == 0}
}

// newFilter returns the filter over bits, which have been checked.
func newFilter(bits cells.Array, h umbel.Hasher) *Filter {
	return &Filter{words: bits.Words, m: bits.Len, inverse: inverseOf(bits.Len), hasher: h, bits: bits}
}

// inverseOf returns 2^64/m, rounded up, for m from 2 to 2^32.
func inverseOf(m uint64) uint64 { return ^uint64(0)/m + 1 }

// position returns v mod m. The low half of v·inverse is the fraction of v/m, and m times this fraction
// is the remainder: exact for v and m of 32 bits, and several times faster than a division (Lemire,
// Kaser and Kurz 2019, "Faster remainder by direct computation", theorem 1).
func (f *Filter) position(v uint32) uint64 {
	r, _ := bits.Mul64(f.inverse*uint64(v), f.m)
	return r
}

// positions returns the cells of d.
func (f *Filter) positions(d umbel.Digest) [K]uint64 {
	return [K]uint64{
		f.position(uint32(d.H1 >> 32)), f.position(uint32(d.H1)),
		f.position(uint32(d.H2 >> 32)), f.position(uint32(d.H2)),
	}
}

// Add adds d and reports whether a bit changed.
func (f *Filter) Add(d umbel.Digest) bool {
	f.mustInit()
	return f.set(f.positions(d))
}

// Has reports whether d may have been added. It is never false for a digest that was added.
func (f *Filter) Has(d umbel.Digest) bool { return f.m != 0 && f.all(f.positions(d)) }

// AddAtomic adds d and reports whether a bit changed. It is safe to call concurrently with Has and itself:
// see [umbel.AtomicAdder].
func (f *Filter) AddAtomic(d umbel.Digest) bool {
	f.mustInit()
	return f.setAtomic(f.positions(d))
}

func (f *Filter) mustInit() {
	if f.m == 0 {
		panic(arrays.AddToZero)
	}
}

// set sets four cells and reports whether one of them was zero.
func (f *Filter) set(at [K]uint64) bool {
	var fresh uint64
	for _, i := range at {
		w, bit := &f.words[i>>6], uint64(1)<<(i&63)
		fresh |= bit &^ *w
		*w |= bit
	}
	return fresh != 0
}

// setAtomic is set, concurrently with itself and all.
func (f *Filter) setAtomic(at [K]uint64) bool {
	var fresh uint64
	for _, i := range at {
		w, bit := &f.words[i>>6], uint64(1)<<(i&63)
		if atomic.LoadUint64(w)&bit == 0 { // otherwise the locked instruction has no effect
			fresh |= bit &^ atomic.OrUint64(w, bit)
		}
	}
	return fresh != 0
}

// all reports whether four cells are set. It reads two before it branches, because a branch on one cell of a
// half-full filter is unpredictable.
func (f *Filter) all(at [K]uint64) bool {
	return f.cell(at[0])&f.cell(at[1])&1 != 0 && f.cell(at[2])&f.cell(at[3])&1 != 0
}

// cell returns cell i in the lowest bit; the other bits have no meaning.
func (f *Filter) cell(i uint64) uint64 { return mem.Load(&f.words[i>>6]) >> (i & 63) }

// Locate appends the four positions of d to dst, and none for the zero Filter: see [umbel.Locator].
func (f *Filter) Locate(dst []uint64, d umbel.Digest) []uint64 {
	if f.m == 0 {
		return dst
	}
	at := f.positions(d)
	return append(dst, at[:]...)
}

// Clear removes all keys.
func (f *Filter) Clear() { f.bits.Clear() }

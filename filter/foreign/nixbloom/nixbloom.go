// Package nixbloom provides the Bloom filter of Nix binary caches, bit for bit: the file NixBloom, version 1,
// to which the line BloomFilter of a cache's nix-cache-info points. It says which store paths a cache may
// have, so that a client need not request the others.
//
// A key is the hash of a store path, 20 bytes, of which [DigestOf] takes the first 16. Position i of a
// digest in m bits is (H1 + i·H2 mod 2^64) mod m: plain double hashing. spec/kinds/nixbloom.md defines the
// format, which never changes.
//
// Programs that read the file find keys only if the filter has [NixHasher]. Other filters may use any hasher.
package nixbloom

import (
	"fmt"
	"sync/atomic"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/filter/internal/arrays"
	"github.com/umbel-filters/umbel/filter/internal/doublehash"
	"github.com/umbel-filters/umbel/filter/internal/kinds"
	"github.com/umbel-filters/umbel/internal/mem"
)

// NixHasher is the hasher of the filters in files: digests are those of [DigestOf].
var NixHasher = umbel.Hasher{Alg: umbel.Caller}

// Filter is a filter of bits with double hashing. All methods that begin with Has or end in Atomic are safe
// to call concurrently with each other; no other method may run at the same time as one that changes the
// filter. A Filter must not be copied, since the copies would share memory: use Clone. The zero Filter
// contains nothing and is a target for UnmarshalBinary; adding to it panics.
type Filter struct {
	NoCopy kinds.NoCopy

	hasher  umbel.Hasher
	k       int
	scale   uint64 // doublehash.Scale of the number of bits
	bits    cells.Array
	planned umbel.Planned
}

func (f *Filter) core() kinds.Core {
	return kinds.Core{Hasher: f.hasher, Planned: &f.planned, Zero: f.bits.Len == 0}
}

// newFilter returns the filter over bits, which have been checked.
func newFilter(bits cells.Array, k int, h umbel.Hasher) *Filter {
	return &Filter{hasher: h, k: k, scale: doublehash.Scale(bits.Len), bits: bits}
}

// position returns the position of a value of the stream.
func (f *Filter) position(v uint64) uint64 { return doublehash.Position(v, f.bits.Len, f.scale) }

// Add adds d and reports whether a bit changed.
func (f *Filter) Add(d umbel.Digest) bool {
	f.mustHaveSize()
	changed, v := false, d.H1
	for range f.k {
		at := f.position(v)
		w, bit := &f.bits.Words[at>>6], uint64(1)<<(at&63)
		changed = changed || *w&bit == 0
		*w |= bit
		v += d.H2
	}
	return changed
}

// Has reports whether d may have been added. It is never false for a digest that was added.
func (f *Filter) Has(d umbel.Digest) bool { return f.bits.Len != 0 && f.hasFrom(d.H1, d.H2, f.k) }

// together is the number of bits of a key that Has reads before it branches. The first zero bit is
// unpredictable, and a mispredicted branch costs more than reading the other bits.
const together = 3

// hasFrom reports whether n bits are set, at the positions of v and of the values that follow at distance step.
func (f *Filter) hasFrom(v, step uint64, n int) bool {
	for n > 0 {
		all := uint64(1)
		for range min(n, together) {
			all &= f.bit(v)
			v += step
		}
		if all == 0 {
			return false
		}
		n -= together
	}
	return true
}

// bit returns the bit at the position of v, 0 or 1.
func (f *Filter) bit(v uint64) uint64 {
	at := f.position(v)
	return mem.Load(&f.bits.Words[at>>6]) >> (at & 63) & 1
}

// AddAtomic adds d and reports whether a bit changed. It is safe to call concurrently with Has and itself: see
// [umbel.AtomicAdder].
func (f *Filter) AddAtomic(d umbel.Digest) bool {
	f.mustHaveSize()
	changed, v := false, d.H1
	for range f.k {
		at := f.position(v)
		w, bit := &f.bits.Words[at>>6], uint64(1)<<(at&63)
		// The load avoids the locked instruction if the bit is set already.
		if atomic.LoadUint64(w)&bit == 0 && atomic.OrUint64(w, bit)&bit == 0 {
			changed = true
		}
		v += d.H2
	}
	return changed
}

func (f *Filter) mustHaveSize() {
	if f.bits.Len == 0 {
		panic(arrays.AddToZero)
	}
}

// batch is the number of keys whose first bits HasAll reads before it branches: loads of different keys are
// then in flight at once.
const batch = 64

// HasAll sets dst[i] to Has(ds[i]): see [umbel.BatchQuerier].
func (f *Filter) HasAll(dst []bool, ds []umbel.Digest) {
	dst = dst[:len(ds):len(dst)]
	if f.bits.Len == 0 {
		clear(dst)
		return
	}
	for from := 0; from < len(ds); from += batch {
		some := ds[from:min(from+batch, len(ds))]
		first := uint64(0) // the first bits of these keys
		for i, d := range some {
			first |= f.bit(d.H1) << i
		}
		for i, d := range some {
			dst[from+i] = first>>i&1 != 0 && f.hasFrom(d.H1+d.H2, d.H2, f.k-1)
		}
	}
}

// AddAll adds ds in order: see [umbel.BatchAdder].
func (f *Filter) AddAll(changed []bool, ds []umbel.Digest) {
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

// AddAllAtomic adds ds. It is safe to call concurrently with Has and itself: see [umbel.AtomicBatchAdder].
func (f *Filter) AddAllAtomic(ds []umbel.Digest) {
	for _, d := range ds {
		f.AddAtomic(d)
	}
}

// Locate appends the k positions of d to dst, and none for the zero Filter: see [umbel.Locator].
func (f *Filter) Locate(dst []uint64, d umbel.Digest) []uint64 {
	v := d.H1
	for range f.k {
		dst = append(dst, f.position(v))
		v += d.H2
	}
	return dst
}

// Clear removes all keys.
func (f *Filter) Clear() { f.bits.Clear() }

// description describes the filter by its type, shape and hash algorithm.
func (f *Filter) description() string {
	if f.core().Zero {
		return "nixbloom.Filter{}"
	}
	return fmt.Sprintf("nixbloom.Filter{m:%d k:%d hash:%s}", f.bits.Len, f.k, f.hasher.Alg)
}

// Package splitblock provides Parquet's split-block Bloom filter, bit for bit: a key sets one bit in each
// of the eight 32-bit words of one block of 256 bits. A query costs one cache miss and few instructions.
//
// The name stands for the positions of apache/parquet-format, BloomFilter.md, which never change. With h
// the H1 of a digest and z blocks, the block is ⌊(h >> 32)·z / 2^32⌋, and the bit in word i is
// (uint32(h)·salt_i mod 2^32) >> 27. H2 isn't used.
//
// A filter for Parquet must use [ParquetHasher]. Other filters may use any hasher.
package splitblock

import (
	"sync/atomic"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/filter/internal/arrays"
	"github.com/umbel-filters/umbel/filter/internal/kinds"
	"github.com/umbel-filters/umbel/internal/cpucache"
	"github.com/umbel-filters/umbel/internal/mem"
)

const (
	// K is the number of cells set per key.
	K = 8
	// BlockBits is the number of cells in a block.
	BlockBits = 256

	blockWords = BlockBits / 64
)

// Parquet's salts, one for each 32-bit word of a block. They are odd.
const (
	salt0 = 0x47b6137b
	salt1 = 0x44974d91
	salt2 = 0x8824ad5b
	salt3 = 0xa2b7289d
	salt4 = 0x705495c7
	salt5 = 0x2df1424b
	salt6 = 0x9efc4947
	salt7 = 0x5c6bfb31
)

// Filter is a split-block Bloom filter. All methods that begin with Has or end in Atomic are safe to call
// concurrently. Other methods, among them Stats and WriteTo, may not run while keys are added. A Filter
// must not be copied, since the copies would share memory: use Clone. The zero Filter contains nothing and
// is a target for UnmarshalBinary; adding to it panics.
type Filter struct {
	NoCopy kinds.NoCopy

	// The kernels know the offsets of these.
	words *uint64 // the first of bits.Words
	fast  uint64  // blocks if the machine has AVX2; otherwise 0
	wide  uint64  // blocks if the machine has AVX-512VL; otherwise 0

	blocks  uint64
	hasher  umbel.Hasher
	bits    cells.Array
	planned umbel.Planned
	lock    *mem.BatchLock
}

func (f *Filter) core() kinds.Core {
	return kinds.Core{Hasher: f.hasher, Planned: &f.planned, Zero: f.blocks == 0}
}

// newFilter returns the filter over bits, which have been checked.
func newFilter(bits cells.Array, h umbel.Hasher) *Filter {
	f := &Filter{words: &bits.Words[0], blocks: bits.Len / BlockBits, hasher: h, bits: bits, lock: mem.BatchLockOf(&bits.Words[0])}
	f.setKernels()
	return f
}

// Add adds d and reports whether a bit changed.
func (f *Filter) Add(d umbel.Digest) bool { return add(f, d.H1) }

// Has reports whether d may have been added. It is never false for a digest that was added.
func (f *Filter) Has(d umbel.Digest) bool { return has(f, d.H1) }

// AddAtomic adds d and reports whether a bit changed. It is safe to call concurrently with Has, AddAllAtomic
// and itself: see [umbel.AtomicAdder]. It takes up to four locked instructions.
func (f *Filter) AddAtomic(d umbel.Digest) bool {
	b, x := f.block(d.H1), uint32(d.H1)
	before := f.lock.Before()
	changed := addAtomic(b, x)
	if f.lock.Ran(before) {
		f.lock.Lock()
		changed = addAtomic(b, x) || changed
		f.lock.Unlock()
	}
	return changed
}

// addAtomic sets the bits of x in block b by atomic operations.
func addAtomic(b *[blockWords]uint64, x uint32) bool {
	c0 := orAtomic(&b[0], pair(x, salt0, salt1))
	c1 := orAtomic(&b[1], pair(x, salt2, salt3))
	c2 := orAtomic(&b[2], pair(x, salt4, salt5))
	c3 := orAtomic(&b[3], pair(x, salt6, salt7))
	return c0 || c1 || c2 || c3
}

// orAtomic sets bits of a word and reports whether one of them was zero. The load avoids the locked
// instruction if all are set already. The result of OrUint64 is not used, since it would take a loop of
// locked instructions.
func orAtomic(w *uint64, bits uint64) bool {
	if atomic.LoadUint64(w)&bits == bits {
		return false
	}
	atomic.OrUint64(w, bits)
	return true
}

// addPlain and hasPlain are Add and Has in plain Go, and for the zero filter.
func addPlain(f *Filter, hash uint64) bool {
	b, x := f.block(hash), uint32(hash)
	m0, m1 := pair(x, salt0, salt1), pair(x, salt2, salt3)
	m2, m3 := pair(x, salt4, salt5), pair(x, salt6, salt7)
	fresh := m0&^b[0] | m1&^b[1] | m2&^b[2] | m3&^b[3]
	b[0] |= m0
	b[1] |= m1
	b[2] |= m2
	b[3] |= m3
	return fresh != 0
}

func hasPlain(f *Filter, hash uint64) bool {
	if f.blocks == 0 {
		return false
	}
	b, x := f.block(hash), uint32(hash)
	return pair(x, salt0, salt1)&^mem.Load(&b[0])|
		pair(x, salt2, salt3)&^mem.Load(&b[1])|
		pair(x, salt4, salt5)&^mem.Load(&b[2])|
		pair(x, salt6, salt7)&^mem.Load(&b[3]) == 0
}

// block returns the block of a hash.
func (f *Filter) block(hash uint64) *[blockWords]uint64 {
	if f.blocks == 0 {
		panic(arrays.AddToZero)
	}
	i := f.first(hash)
	return (*[blockWords]uint64)(f.bits.Words[i : i+blockWords])
}

// first returns the index of the first 64-bit word of a hash's block.
func (f *Filter) first(hash uint64) uint64 { return hash >> 32 * f.blocks >> 32 * blockWords }

// pair returns the bits of x in two neighboring 32-bit words.
func pair(x, low, high uint32) uint64 { return 1<<(x*low>>27) | 1<<(32+x*high>>27) }

// Locate appends the eight positions of d to dst, and none for the zero Filter: see [umbel.Locator].
func (f *Filter) Locate(dst []uint64, d umbel.Digest) []uint64 {
	if f.blocks == 0 {
		return dst
	}
	start := f.first(d.H1) * 64
	for i, salt := range [K]uint32{salt0, salt1, salt2, salt3, salt4, salt5, salt6, salt7} {
		dst = append(dst, start+uint64(i)*32+uint64(uint32(d.H1)*salt>>27))
	}
	return dst
}

// Clear removes all keys.
func (f *Filter) Clear() { f.bits.Clear() }

const (
	// prefetchDistance is the number of keys between the prefetch of a block and its use. The kernels have the
	// same number.
	prefetchDistance = 64
	// maxBatch is the largest number of keys for one call of a kernel, since the scheduler can't interrupt
	// it: about ten microseconds.
	maxBatch = 1 << 12
	// lockedBatch is the number of keys for which AddAllAtomic acquires the lock: enough for the price of
	// passing it to another core, and few enough that their blocks fit into the second-level cache.
	lockedBatch = 1 << 10
	// fewKeys is the number of keys from which on AddAllAtomic acquires the lock.
	fewKeys = 8
)

// prefetchFrom is the number of blocks from which prefetching pays: a smaller filter is in the second-level
// cache.
var prefetchFrom = cpucache.L2 / (BlockBits / 8)

// HasAll sets dst[i] to Has(ds[i]): see [umbel.BatchQuerier].
func (f *Filter) HasAll(dst []bool, ds []umbel.Digest) {
	dst = dst[:len(ds):len(dst)]
	f.prefetch(ds, 0)
	for done := 0; done < len(ds); {
		n := min(len(ds)-done, maxBatch)
		hasMany(f, dst[done:done+n], ds[done:])
		done += n
	}
}

// AddAll adds ds in order: see [umbel.BatchAdder].
func (f *Filter) AddAll(changed []bool, ds []umbel.Digest) {
	if changed != nil {
		changed = changed[:len(ds):len(changed)]
	}
	f.prefetch(ds, 0)
	for done := 0; done < len(ds); {
		n := min(len(ds)-done, maxBatch)
		if changed == nil {
			addMany(f, n, ds[done:])
		} else {
			addManyChanged(f, changed[done:done+n], ds[done:])
		}
		done += n
	}
}

// AddAllAtomic adds ds. It is safe to call concurrently with Has, AddAtomic and itself: see
// [umbel.AtomicBatchAdder]. With kernels, calls for the same filter wait for each other, for up to
// lockedBatch keys.
func (f *Filter) AddAllAtomic(ds []umbel.Digest) {
	if f.fast == 0 || len(ds) < fewKeys {
		for _, d := range ds {
			f.AddAtomic(d)
		}
		return
	}
	for len(ds) > 0 {
		n := min(lockedBatch, len(ds))
		if f.blocks >= prefetchFrom {
			prefetchMany(f, ds[:n]) // without the lock, since that takes most of the time
		}
		f.lock.Begin()
		addMany(f, n, ds[:n])
		f.lock.End()
		ds = ds[n:]
	}
}

// prefetch prefetches the blocks of up to prefetchDistance keys from ds[from] on, if the filter is so large that this
// pays.
func (f *Filter) prefetch(ds []umbel.Digest, from int) {
	if f.blocks >= prefetchFrom && from < len(ds) {
		prefetchMany(f, ds[from:min(from+prefetchDistance, len(ds))])
	}
}

// The plain versions of the kernels for many keys. ds may contain more keys than are queried or added.

func hasManyPlain(f *Filter, dst []bool, ds []umbel.Digest) {
	for i := range dst {
		dst[i] = hasPlain(f, ds[i].H1)
	}
}

func addManyPlain(f *Filter, n int, ds []umbel.Digest) {
	for _, d := range ds[:n] {
		addPlain(f, d.H1)
	}
}

func addManyChangedPlain(f *Filter, changed []bool, ds []umbel.Digest) {
	for i := range changed {
		changed[i] = addPlain(f, ds[i].H1)
	}
}

package probe

import (
	"fmt"
	"sync/atomic"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/internal/cpucache"
	"github.com/umbel-filters/umbel/internal/mem"
)

// WordLog is the Log of mappings whose groups are words of bits. Only they have kernels; arrays of
// more than a few cells should use it.
const WordLog = 6

// largeWords is the size in words from which plain Go tests a few bits of a key before the others.
var largeWords = int(prefetchFrom * cpucache.L2 / 8)

// Bits is an array of bits in which each key sets k: value i of its stream sets one cell of slice i,
// or of the whole array if it isn't sliced. Its methods are those of the same names in the interfaces
// of package umbel. The zero Bits contains nothing; adding to it panics.
type Bits struct {
	table  table // the kernels take a *Bits for it
	words  []uint64
	slice  Mapping // values to cells of one slice
	stride uint64  // cells from one slice to the next, 0 if not sliced
	lock   *mem.BatchLock
}

// table is what the kernels need. They know its layout.
type table struct {
	first  *uint64 // nil if the groups aren't words or the machine has no kernels
	groups uint64  // words that a value chooses from
	stride uint64  // bytes from one slice to the next
	k      uint64
	wide   uint64 // 1 if hasBits and addBits use vectors
	lanes  uint8  // values in the vectors that batches use: 8, 4, or 0 if they use none
	far    bool   // whether batches prefetch
}

// NewBits returns Bits that share the cells of a, with k bits per key, at least 1. m maps to all cells
// of a, or, if sliced, to those of each of k slices of it. It panics if a has too few cells, since no
// other method checks them.
func NewBits(a cells.Array, m Mapping, k int, sliced bool) Bits {
	b := Bits{words: a.Words, slice: m}
	slices := uint64(1)
	if sliced {
		b.stride, slices = m.Groups<<(m.Log&63), uint64(k)
	}
	if size := m.Groups << (m.Log & 63); k < 1 || m.Groups == 0 || m.Log > 63 || size>>(m.Log&63) != m.Groups ||
		size > a.Len/slices || a.Width > 1 || a.Check() != nil {
		panic(fmt.Sprintf("probe: %d groups of 2^%d bits in each of %d slices, k = %d, don't fit %d cells of %d bits",
			m.Groups, m.Log, slices, k, a.Len, a.Width))
	}
	b.lock = mem.BatchLockOf(&a.Words[0])
	b.table = table{groups: m.Groups, stride: b.stride / 8, k: uint64(k)}
	if haveKernels && m.Log == WordLog {
		b.table.first = &a.Words[0]
		b.table.choose(8*uint64(len(a.Words)), haveLanes)
	}
	return b
}

// choose chooses the kernels for an array of size bytes, on a machine with vectors of at most lanes values.
func (t *table) choose(size uint64, lanes uint8) {
	size /= cpucache.L2
	t.lanes, t.wide, t.far = 0, 0, size >= prefetchFrom
	if t.groups >= 1<<32 {
		return
	}
	if lanes == 8 && t.k <= maxWide && size >= wideFrom {
		t.wide = 1
	}
	switch {
	case t.k > maxEights:
	case lanes == 8:
		t.lanes, t.far = 8, size >= wideFrom
	case lanes == 4 && size >= foursFrom:
		t.lanes = 4
	}
}

// Has reports whether all bits of d are set. It tests the first few together, so that their loads
// overlap, and then the others.
func (b *Bits) Has(d umbel.Digest) bool { return hasBits(b, d.H1, d.H2) }

// Add sets all bits of d and reports whether one was zero.
func (b *Bits) Add(d umbel.Digest) bool { return addBits(b, d.H1, d.H2) }

// AddAtomic sets all bits of d and reports whether one was zero. It is safe to call concurrently with
// Has, AddAllAtomic and itself.
func (b *Bits) AddAtomic(d umbel.Digest) bool {
	b.mustInit()
	before := b.lock.Before()
	changed := b.addAtomic(d)
	if b.lock.Ran(before) {
		b.lock.Lock()
		changed = b.addAtomic(d) || changed
		b.lock.Unlock()
	}
	return changed
}

// addAtomic sets all bits of d by atomic operations.
func (b *Bits) addAtomic(d umbel.Digest) (changed bool) {
	s, words := Start(d), b.words
	var v, base uint64
	for range b.table.k {
		v, s = s.Next()
		i := base + b.slice.At(v)
		w, bit := &words[i>>6], uint64(1)<<(i&63)
		// The load avoids the locked instruction if the bit is already set. The result of OrUint64 is
		// not used, since it would take a loop of locked instructions.
		if atomic.LoadUint64(w)&bit == 0 {
			changed = true
			atomic.OrUint64(w, bit)
		}
		base += b.stride
	}
	return changed
}

// Locate appends the positions of d's bits to dst.
func (b *Bits) Locate(dst []uint64, d umbel.Digest) []uint64 {
	s := Start(d)
	var v, base uint64
	for range b.table.k {
		v, s = s.Next()
		dst = append(dst, base+b.slice.At(v))
		base += b.stride
	}
	return dst
}

// hasPlain is Has in plain Go, for any mapping and machine. It has no branch for each bit, so that the processor finds
// the loads of later bits and keys while it waits for the first ones.
//
//lint:ignore U1000 the kernel jumps to it
func hasPlain(b *Bits, h1, h2 uint64) bool {
	s := Stream{h1, h2}
	if b.slice.Log == WordLog {
		return b.hasWords(s)
	}
	words := b.words
	var v, base uint64
	all := min(b.table.k, 1)
	for range b.table.k {
		v, s = s.Next()
		i := base + b.slice.At(v)
		all &= mem.Load(&words[i>>6]) >> (i & 63)
		base += b.stride
	}
	return all != 0
}

// hasWords is Has if the groups are words. In a large array it tests the first few bits before the others: for most
// absent keys the others are then not needed.
func (b *Bits) hasWords(s Stream) bool {
	words, groups, stride, k := b.words, b.slice.Groups, b.stride>>WordLog, b.table.k
	var v, base uint64
	all := uint64(1)
	if len(words) > largeWords && k > firstProbes {
		for range uint64(firstProbes) {
			v, s = s.Next()
			all &= mem.Load(&words[base+Reduce(v, groups)]) >> (v & 63)
			base += stride
		}
		if all == 0 {
			return false
		}
		k -= firstProbes
	}
	for range k {
		v, s = s.Next()
		all &= mem.Load(&words[base+Reduce(v, groups)]) >> (v & 63)
		base += stride
	}
	return all != 0
}

// addPlain is Add in plain Go.
//
//lint:ignore U1000 the kernel jumps to it
func addPlain(b *Bits, h1, h2 uint64) bool {
	b.mustInit()
	s := Stream{h1, h2}
	if b.slice.Log == WordLog {
		return b.addWords(s)
	}
	words := b.words
	var v, base, fresh uint64
	for range b.table.k {
		v, s = s.Next()
		i := base + b.slice.At(v)
		w, bit := &words[i>>6], uint64(1)<<(i&63)
		fresh |= bit &^ *w
		*w |= bit
		base += b.stride
	}
	return fresh != 0
}

// addWords is Add if the groups are words.
func (b *Bits) addWords(s Stream) bool {
	words, groups, stride := b.words, b.slice.Groups, b.stride>>WordLog
	var v, base, fresh uint64
	for range b.table.k {
		v, s = s.Next()
		w, bit := &words[base+Reduce(v, groups)], uint64(1)<<(v&63)
		fresh |= bit &^ *w
		*w |= bit
		base += stride
	}
	return fresh != 0
}

// AddToZero is the text of the panic of every method that adds to a zero filter.
const AddToZero = "umbel: add to a zero filter: make it with New"

func (b *Bits) mustInit() {
	if b.table.k == 0 {
		panic(AddToZero)
	}
}

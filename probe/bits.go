package probe

import (
	"fmt"
	"unsafe"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
)

// WordLog is the Log of mappings whose groups are words of bits. Only they have
// fast paths; planes of more than a few cells should use it.
const WordLog = 6

// Bits is an array of bits in which each key sets k: value i of its stream sets
// one cell of slice i, or of the whole array if it isn't sliced. Every method is
// the one of that name of umbel's interfaces and holds its promise. The zero Bits
// holds nothing; adding to it panics.
type Bits struct {
	table  table // the kernels take a Bits for it
	words  []uint64
	slice  Mapping // values to cells of one slice
	stride uint64  // cells from one slice to the next, 0 if not sliced
}

// table is what the kernels need; they know its layout.
type table struct {
	first  *uint64 // nil if the groups aren't words or the machine has no kernels
	groups uint64  // words a value chooses from
	stride uint64  // bytes from one slice to the next
	step1  uint64  // the constants of that name
	step2  uint64
	k      uint64
}

// NewBits returns a as Bits with k bits per key, at least 1. The mapping's cells are
// those of a, or, if sliced, those of each of k slices of it. It panics if they
// aren't there: nothing is checked later. a is shared.
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
	b.table = table{nil, m.Groups, b.stride / 8, step1, step2, uint64(k)}
	if haveKernels && m.Log == WordLog {
		b.table.first = &a.Words[0]
	}
	return b
}

// Has reports whether all bits of d are set. It looks at the first few together, so
// that the loads overlap, and then at the others.
func (b *Bits) Has(d umbel.Digest) bool { return hasBits(b, d.H1, d.H2) }

// Add sets all bits of d and reports whether one was zero.
func (b *Bits) Add(d umbel.Digest) bool { return addBits(b, d.H1, d.H2) }

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

// upTo returns the table of the first k slices.
func (t table) upTo(k uint64) table {
	t.k = k
	return t
}

// from returns the table of the slices from slice i on.
func (t table) from(i uint64) table {
	t.first = (*uint64)(unsafe.Add(unsafe.Pointer(t.first), i*t.stride))
	t.k -= i
	return t
}

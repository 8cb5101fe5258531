package probe

import (
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
	table   table
	words   []uint64
	slice   Mapping // values to cells of one slice
	stride  uint64  // cells from one slice to the next, 0 if not sliced
	k       uint64
	kernels bool // groups are words and the machine has what the kernels need
}

// table is what the kernels need of Bits; they know its layout.
type table struct {
	first  *uint64
	groups uint64 // words a value chooses from
	stride uint64 // bytes from one slice to the next
	step1  uint64 // the constants of that name
	step2  uint64
}

// from returns the table of the slices from slice i on.
func (t table) from(i uint64) table {
	t.first = (*uint64)(unsafe.Add(unsafe.Pointer(t.first), i*t.stride))
	return t
}

// NewBits returns a as Bits. The mapping's cells must be those of a, or of each of
// its k slices if sliced: what doesn't fit panics later. a is shared.
func NewBits(a cells.Array, m Mapping, k int, sliced bool) Bits {
	b := Bits{words: a.Words, slice: m, k: uint64(k), kernels: haveKernels && m.Log == WordLog}
	if sliced {
		b.stride = m.Groups << m.Log
	}
	if b.kernels {
		b.table = table{&a.Words[0], m.Groups, b.stride / 8, step1, step2}
	}
	return b
}

// Has reports whether all bits of d are set. It looks at the first few together, so
// that the loads overlap, and then at the others.
func (b *Bits) Has(d umbel.Digest) bool {
	if b.kernels {
		return hasBits(&b.table, d.H1, d.H2, b.k)
	}
	return b.hasPlain(d)
}

// Add sets all bits of d and reports whether one was zero.
func (b *Bits) Add(d umbel.Digest) bool {
	if b.kernels {
		return addBits(&b.table, d.H1, d.H2, b.k)
	}
	return b.addPlain(d)
}

// Locate appends the positions of d's bits to dst.
func (b *Bits) Locate(dst []uint64, d umbel.Digest) []uint64 {
	s := Start(d)
	var v, base uint64
	for range b.k {
		v, s = s.Next()
		dst = append(dst, base+b.slice.At(v))
		base += b.stride
	}
	return dst
}

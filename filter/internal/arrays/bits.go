package arrays

import (
	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/internal/probe"
)

// Bits is a filter with one array of bits. Each method has the contract of the method of
// that name in package umbel. The zero Bits contains nothing; adding to it panics.
type Bits struct {
	probe.Bits // adds and queries
	array      Array
}

// NewBits returns an empty filter. The error wraps umbel.ErrGoal.
func NewBits(k Kind, s Shape) (Bits, error) {
	a, err := k.New(s, 1)
	if err != nil {
		return Bits{}, err
	}
	return BitsFrom(a), nil
}

// BitsFrom returns the filter with the array a, whose memory it shares. It panics if the
// cells do not have the shape of a.
func BitsFrom(a Array) Bits { return Bits{a.Probe(a.Shape.K), a} }

// Probe returns the probe of keys with k cells in a.
func (a Array) Probe(k int) probe.Bits {
	return probe.NewBits(a.Cells, a.Mapping(), k, a.Kind.Sliced)
}

// OpenBits returns the filter of a state of kind k. It shares the memory of the state.
// The error wraps umbel.ErrKind or umbel.ErrCorrupt.
func OpenBits(k Kind, s umbel.State) (Bits, error) {
	a, err := k.Open(s)
	if err != nil {
		return Bits{}, err
	}
	return BitsFrom(a), nil
}

// Clear removes all keys.
func (b *Bits) Clear() { b.array.Cells.Clear() }

// Array returns the array, which shares the memory of b.
func (b *Bits) Array() Array { return b.array }

// IsZero reports whether b is the zero Bits.
func (b *Bits) IsZero() bool { return b.array.Shape.M == 0 }

// Planned returns what the filter was made for, to be read and set.
func (b *Bits) Planned() *umbel.Planned { return &b.array.Planned }

// Cells returns the cells, which share the memory of b.
func (b *Bits) Cells() cells.Array { return b.array.Cells }

// Shape returns the shape.
func (b *Bits) Shape() Shape { return b.array.Shape }

// Hasher returns the hasher of Shape, without a copy of the others.
func (b *Bits) Hasher() umbel.Hasher { return b.array.Shape.Hasher }

// Fold shrinks b by factor r. The error wraps umbel.ErrMismatch; b is then unchanged.
func (b *Bits) Fold(r uint64) error { return b.set(b.array.Fold(r)) }

// Unfold enlarges b by factor u. The error wraps umbel.ErrMismatch; b is then unchanged.
func (b *Bits) Unfold(u uint64) error { return b.set(b.array.Unfold(u)) }

// Unite adds the keys of c to b. The error wraps umbel.ErrMismatch; b is then unchanged.
func (b *Bits) Unite(c Array) error { return b.set(b.array.Merge(c)) }

// Merge adds the keys of the filter with state s to b. On error b is unchanged.
func (b *Bits) Merge(s umbel.State) error {
	c, err := b.array.Other(s)
	if err != nil {
		return err
	}
	return b.Unite(c)
}

func (b *Bits) set(a Array, err error) error {
	if err == nil {
		*b = BitsFrom(a)
	}
	return err
}

// State returns the state, which is of kind k even if b is the zero Bits.
func (b *Bits) State(k Kind) umbel.State { return b.array.State(k) }

// Stats measures b. It reads all cells.
func (b *Bits) Stats() umbel.Stats { return b.array.Stats() }

package nixbloom

import (
	"fmt"
	"math/bits"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/filter/internal/arrays"
	"github.com/umbel-filters/umbel/filter/internal/doublehash"
	"github.com/umbel-filters/umbel/internal/sentinel"
	"github.com/umbel-filters/umbel/plan"
)

// Name is the name of this kind of filter.
const Name = "nixbloom"

var (
	kind       = arrays.Kind{Name: Name}
	paramNames = []string{"k"}
)

// State returns the complete contents of the filter: see [umbel.Filter].
func (f *Filter) State() umbel.State {
	return umbel.State{
		Kind: Name, Hasher: f.hasher,
		Params: umbel.Params{{Name: paramNames[0], Value: umbel.Uint(uint64(f.k))}},
		Arrays: []cells.Array{f.bits},
		Notes:  umbel.Notes{Planned: f.planned},
	}
}

// Open returns the filter with state s, and takes over its memory. It returns an error wrapping
// umbel.ErrKind or umbel.ErrCorrupt.
func Open(s umbel.State) (*Filter, error) {
	var k uint64
	bits, err := kind.OpenCells(s, paramNames, &k)
	if err != nil {
		return nil, err
	}
	shape := Shape{M: bits.Len, K: int(min(k, maxK+1)), Hasher: s.Hasher}
	if err := sentinel.Wrap(umbel.ErrCorrupt, shape.check()); err != nil {
		return nil, err
	}
	f := newFilter(bits, shape.K, s.Hasher)
	f.planned = s.Planned
	return f, nil
}

// Fold shrinks f by factor r, keeping all keys: position h mod m becomes h mod m/r (Sailhan and Stehr 2012,
// equation (3), as printed). The result is bit for bit the filter that is built at that size. Fold returns an
// error wrapping umbel.ErrMismatch if r doesn't divide m/8; on error f is unchanged. It reads the filter once
// and allocates the smaller array.
func (f *Filter) Fold(r uint64) error {
	if f.core().Zero {
		return errZero
	}
	if err := cells.CheckFold(f.bits.Len/byteBits, byteBits, r); err != nil {
		return mismatch(err)
	}
	return f.setBits(f.bits.Fold(r, f.bits.Len/r))
}

// Unfold enlarges f by factor u, keeping all keys: see [umbel.Folder].
func (f *Filter) Unfold(u uint64) error {
	if f.core().Zero {
		return errZero
	}
	if u == 0 || u > maxM/f.bits.Len {
		return mismatch(fmt.Errorf("%d cells don't unfold by %d, want 1 or more and at most 2^56 cells", f.bits.Len, u))
	}
	return f.setBits(f.bits.Unfold(u, f.bits.Len))
}

// setBits makes a the cells of f unless err is not nil, and returns err.
func (f *Filter) setBits(a cells.Array, err error) error {
	if err != nil {
		return mismatch(err)
	}
	f.bits, f.scale = a, doublehash.Scale(a.Len)
	return nil
}

// Merge adds the keys of another filter of this kind with the same k and hasher. If the sizes differ, the larger
// one must be a multiple of the smaller one: it is folded, and the result has the smaller size and its rate.
// Merge returns an error wrapping umbel.ErrMismatch with the first difference; on error f is unchanged.
func (f *Filter) Merge(s umbel.State) error {
	g, err := arrays.Other(f.State(), s, Open)
	if err != nil {
		return err
	}
	if f.k != g.k {
		return mismatch(fmt.Errorf("k is %d in one filter and %d in the other", f.k, g.k))
	}
	own, other := f.bits, g.bits
	switch m, n := own.Len, other.Len; {
	case m == n:
	case m%n == 0:
		own, err = own.Fold(m/n, n)
	case n%m == 0:
		other, err = other.Fold(n/m, m)
	default:
		err = fmt.Errorf("one filter has %d cells, the other %d, and neither divides the other: make both with the same number of keys", m, n)
	}
	if err == nil {
		err = own.Sum(other)
	}
	return f.setBits(own, err)
}

var errZero = arrays.NoSize(Name)

func mismatch(err error) error { return sentinel.Errorf(umbel.ErrMismatch, "nixbloom: %w", err) }

// Stats measures the filter: see [umbel.Filter]. Its rate includes the excess due to double hashing. It reads all
// cells. The Stats of the zero Filter are zero.
func (f *Filter) Stats() umbel.Stats {
	if f.core().Zero {
		return umbel.Stats{}
	}
	m := f.bits.Len
	ones := f.bits.Nonzero()
	n := arrays.EstimateKeys(f.copies(), func(r uint64) plan.Estimate {
		folded := f.bits
		if r > 1 {
			folded, _ = f.bits.Fold(r, m/r) // copies returns factors by which it folds
		}
		return doublehash.Keys(m/r, f.k, folded.Nonzero())
	})
	fill := float64(ones) / float64(m)
	return umbel.Stats{
		Keys: n.Value, Low: n.Low, High: n.High,
		Fill: fill, FPRate: doublehash.FPRateAtFill(m, f.k, fill),
		Cells: m, K: float64(f.k), Bytes: f.bits.Bytes(),
	}
}

const (
	// maxCopies is the largest factor of an Unfold that copies finds.
	maxCopies = 64
	// sampleBytes is the number of bytes that it compares for each factor.
	sampleBytes = 1 << 15
)

// copies returns the factor by which the filter was unfolded, or 1 if it finds none. After Unfold(u) the cells of
// keys that were present repeat after m/u cells, while no other distance makes two cells agree more often than
// by chance.
func (f *Filter) copies() uint64 {
	u, size := uint64(1), f.bits.Len/byteBits
	for r := uint64(2); r <= min(maxCopies, size); r++ {
		if size%r != 0 {
			continue
		}
		var p arrays.Pairs
		for i := uint64(0); i < min(sampleBytes, size-size/r); i++ {
			x, y := f.byteAt(i), f.byteAt(i+size/r)
			p.Left += uint64(bits.OnesCount8(x))
			p.Right += uint64(bits.OnesCount8(y))
			p.Both += uint64(bits.OnesCount8(x & y))
			p.All += byteBits
		}
		if p.IsExcessive() {
			u = r
		}
	}
	return u
}

// byteAt returns byte i of the bits, cell 8·i in its lowest bit.
func (f *Filter) byteAt(i uint64) byte { return byte(f.bits.Words[i/8] >> (i % 8 * 8)) }

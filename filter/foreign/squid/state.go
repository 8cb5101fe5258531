package squid

import (
	"math/bits"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/filter/internal/arrays"
	"github.com/umbel-filters/umbel/filter/internal/kinds"
	"github.com/umbel-filters/umbel/internal/sentinel"
	"github.com/umbel-filters/umbel/plan"
)

// State returns the complete contents of the filter: see [umbel.Filter]. It has no parameters.
func (f *Filter) State() umbel.State {
	return umbel.State{Kind: Name, Hasher: f.hasher, Arrays: []cells.Array{f.bits}, Notes: umbel.Notes{Planned: f.planned}}
}

// Open returns the filter with state s, and takes over its memory. It returns an error wrapping
// umbel.ErrKind or umbel.ErrCorrupt.
func Open(s umbel.State) (*Filter, error) {
	bits, err := kind.OpenCells(s, nil)
	if err != nil {
		return nil, err
	}
	shape := Shape{M: bits.Len, Hasher: s.Hasher}
	if err := sentinel.Wrap(umbel.ErrCorrupt, shape.check()); err != nil {
		return nil, err
	}
	f := newFilter(bits, s.Hasher)
	f.planned = s.Planned
	return f, nil
}

var kind = arrays.Kind{Name: Name}

// unitLog is log2 of unit.
const unitLog = 3

// array returns the cells with bytes as groups, for the sizes to which they fold. Only the sizes: a fold of
// positions by remainder joins cells that are m/r apart, which fold does.
func (f *Filter) array() arrays.Array {
	return arrays.Array{Kind: kind, Shape: arrays.Shape{M: f.m, K: K, Group: unitLog}, Cells: f.bits}
}

// fold returns the cells folded by r, which divides the bytes: position h mod m becomes h mod m/r.
func (f *Filter) fold(r uint64) (cells.Array, error) { return f.bits.Fold(r, f.m/r) }

// Fold shrinks f by factor r, keeping all keys: position h mod m becomes h mod m/r (Sailhan and Stehr 2012,
// equation (3), as printed). The result is bit for bit the filter that is built at that size. Fold returns an
// error wrapping umbel.ErrMismatch if r doesn't divide the number of bytes; on error f is unchanged. It reads
// the filter once and allocates the smaller array.
func (f *Filter) Fold(r uint64) error {
	if err := f.array().CheckFold(r); err != nil {
		return err
	}
	return f.setCells(f.fold(r))
}

// Unfold enlarges f by factor u, keeping all keys: see [umbel.Folder]. It returns an error wrapping
// umbel.ErrMismatch if the result had more than maxM cells.
func (f *Filter) Unfold(u uint64) error {
	if u == 0 || u > maxM/max(f.m, 1) {
		return sentinel.Errorf(umbel.ErrMismatch, "squid: %d cells don't unfold by %d, want a factor of at least 1 and at most 2^31 cells", f.m, u)
	}
	return f.setCells(f.bits.Unfold(u, f.m))
}

// setCells makes a the cells of f unless err is not nil. It returns err with umbel.ErrMismatch.
func (f *Filter) setCells(a cells.Array, err error) error {
	if err != nil {
		return sentinel.Errorf(umbel.ErrMismatch, "squid: %w", err)
	}
	g := newFilter(a, f.hasher)
	g.planned = f.planned
	kinds.Move(f, g)
	return nil
}

// Merge adds the keys of another filter of this kind with the same hasher. Different sizes are handled as by
// bloom.Filter.Merge. It returns an error wrapping umbel.ErrMismatch with the first difference; on error f is
// unchanged.
func (f *Filter) Merge(s umbel.State) error {
	g, err := arrays.Other(f.State(), s, Open)
	if err != nil {
		return err
	}
	common, err := f.array().Common(g.array())
	if err != nil {
		return err
	}
	theirs := g.bits
	if r := g.m / unit / common; r > 1 {
		if theirs, err = g.fold(r); err != nil {
			return f.setCells(theirs, err)
		}
	}
	if r := f.m / unit / common; r > 1 {
		if err := f.Fold(r); err != nil {
			return err
		}
	}
	return f.setCells(f.bits, f.bits.Sum(theirs))
}

// Stats measures the filter: see [umbel.Filter]. It reads all cells. The Stats of the zero Filter are zero.
func (f *Filter) Stats() umbel.Stats {
	if f.m == 0 {
		return umbel.Stats{}
	}
	ones := f.bits.Nonzero()
	fill := float64(ones) / float64(f.m)
	n := arrays.EstimateKeys(f.copies(), func(r uint64) plan.Estimate {
		if r == 1 {
			return plan.Filter{M: f.m, K: K}.Keys(ones)
		}
		folded, err := f.fold(r)
		if err != nil {
			panic(err) // copies divides the number of bytes
		}
		return plan.Filter{M: f.m / r, K: K}.Keys(folded.Nonzero())
	})
	return umbel.Stats{
		Keys: n.Value, Low: n.Low, High: n.High,
		Fill: fill, FPRate: plan.FPRateAtFill(fill, K), Cells: f.m, K: K, Bytes: f.bits.Bytes(),
	}
}

// copies returns the factor by which the filter was unfolded, or 1 if it finds none: see [arrays.Repeats].
func (f *Filter) copies() uint64 {
	const sample = 1 << 12 // words
	return arrays.Repeats(f.m/unit, func(r uint64) (p arrays.Pairs) {
		distance := f.m / r
		for i := range min(sample, (f.m-distance)/64) {
			x, y := f.words[i], f.wordAt(distance+64*i)
			p.Left += uint64(bits.OnesCount64(x))
			p.Right += uint64(bits.OnesCount64(y))
			p.Both += uint64(bits.OnesCount64(x & y))
			p.All += 64
		}
		return p
	})
}

// wordAt returns the 64 cells from i on. The array contains all of them.
func (f *Filter) wordAt(i uint64) uint64 {
	w := f.words[i>>6] >> (i & 63)
	if i&63 != 0 {
		w |= f.words[i>>6+1] << (64 - i&63)
	}
	return w
}

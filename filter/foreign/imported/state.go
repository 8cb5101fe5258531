package imported

import (
	"github.com/umbel-filters/umbel/internal/sentinel"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/filter/internal/arrays"
)

// Name is the name of this kind of filter.
const Name = "imported"

var (
	kind       = arrays.Kind{Name: Name}
	paramNames = []string{"form", "k"}
)

// State returns the complete contents of the filter: see [umbel.Filter].
func (f *Filter) State() umbel.State {
	return umbel.State{
		Kind: Name, Hasher: f.hasher,
		Params: umbel.Params{
			{Name: paramNames[0], Value: umbel.Uint(uint64(f.form))},
			{Name: paramNames[1], Value: umbel.Uint(uint64(f.k))},
		},
		Arrays: []cells.Array{f.bits},
		Notes:  umbel.Notes{Planned: f.planned},
	}
}

// Open returns the filter with state s, and takes over its memory. It returns an error wrapping umbel.ErrKind or
// umbel.ErrCorrupt.
func Open(s umbel.State) (*Filter, error) {
	var form, k uint64
	bits, err := kind.OpenCells(s, paramNames, &form, &k)
	if err != nil {
		return nil, err
	}
	shape := Shape{Form: Form(min(form, forms)), M: bits.Len, K: int(min(k, maxK+1)), Hasher: s.Hasher}
	if err := sentinel.Wrap(umbel.ErrCorrupt, shape.check()); err != nil {
		return nil, err
	}
	f := newFilter(shape, bits)
	f.planned = s.Planned
	return f, nil
}

// Merge adds the keys of another filter of the same form, size, k and hasher. It returns an error wrapping
// umbel.ErrMismatch with the first difference; on error f is unchanged.
func (f *Filter) Merge(s umbel.State) error {
	g, err := arrays.Other(f.State(), s, Open)
	if err != nil {
		return err
	}
	if a, b := f.Shape(), g.Shape(); a != b {
		return sentinel.Errorf(umbel.ErrMismatch,
			"imported: one filter has the form %v with %d bits and k = %d, the other %v with %d and %d: want the same", a.Form, a.M, a.K, b.Form, b.M, b.K)
	}
	return f.bits.Sum(g.bits)
}

// Stats measures the filter: see [umbel.Filter]. It reads all cells. The Stats of the zero Filter are zero.
func (f *Filter) Stats() umbel.Stats {
	if f.core().Zero {
		return umbel.Stats{}
	}
	ones := f.bits.Nonzero()
	n := f.Shape().keys(ones)
	return umbel.Stats{
		Keys: n.Value, Low: n.Low, High: n.High,
		Fill: float64(ones) / float64(f.bits.Len), FPRate: f.rate(ones, n.Value),
		Cells: f.bits.Len, K: float64(f.form.perKey(f.k)), Bytes: f.bits.Bytes(),
	}
}

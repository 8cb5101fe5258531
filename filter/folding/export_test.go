package folding

import (
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/filter/internal/arrays"
)

// FoldedBy returns the base folded by r, for any interval.
func (f *Filter) FoldedBy(r uint64) (*bloom.Filter, error) {
	if err := f.base.Array().CheckFold(r); err != nil {
		return nil, err
	}
	a, err := f.base.Array().Cells.FoldToBits(r, 1<<f.shape.Group)
	if err != nil {
		return nil, err
	}
	b := arrays.Array{Kind: arrays.Bloom, Shape: arrays.Shape(f.shape.bits())}.With(a)
	return bloom.Open(b.State(arrays.Bloom))
}

// FoldedBy is Filter.FoldedBy.
func (f *Counting) FoldedBy(r uint64) (*bloom.Filter, error) { return f.filter.FoldedBy(r) }

package partitioned

import (
	"fmt"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/internal/plane"
)

// Fold makes the filter r times smaller: bit for bit the filter built at that
// size, each slice folding for itself. r must divide the number of groups in a
// slice; the error wraps umbel.ErrMismatch otherwise and nothing has changed. It
// takes the time to read the filter once. It allocates the smaller array.
func (f *Filter) Fold(r uint64) error {
	folded, err := f.grouped().Fold(r)
	if err != nil {
		return err
	}
	f.hold(folded)
	return nil
}

// Unfold makes the filter u times larger by copying: see [umbel.Folder].
func (f *Filter) Unfold(u uint64) error {
	unfolded, err := f.grouped().Unfold(u)
	if err != nil {
		return err
	}
	f.hold(unfolded)
	return nil
}

// Merge takes in the keys of another partitioned filter with the same k, hasher
// and group. Sizes that differ are as in bloom.Filter.Merge. The error wraps
// umbel.ErrMismatch and says the first difference.
func (f *Filter) Merge(s umbel.State) error {
	g, err := plane.Other(f.State(), s, Open)
	if err != nil {
		return err
	}
	if f.shape.K != g.shape.K {
		return fmt.Errorf("partitioned: one filter has %d slices, the other %d: %w", f.shape.K, g.shape.K, umbel.ErrMismatch)
	}
	if f.shape.Group != g.shape.Group {
		return fmt.Errorf("partitioned: one filter has groups of %d cells, the other of %d: %w", 1<<f.shape.Group, 1<<g.shape.Group, umbel.ErrMismatch)
	}
	union, err := f.grouped().Merge(g.grouped())
	if err != nil {
		return err
	}
	f.hold(union)
	return nil
}

func (f *Filter) grouped() plane.Grouped {
	return plane.Grouped{Kind: Name, Bits: f.cells, Group: 1 << f.shape.Group, Groups: f.shape.groups()}
}

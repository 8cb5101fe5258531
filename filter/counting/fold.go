package counting

import (
	"fmt"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/internal/plane"
)

// Fold makes the filter r times smaller by adding counters: cell for cell the filter
// built at that size, saturated counters included. r must divide the number of
// groups; the error wraps umbel.ErrMismatch otherwise and nothing has changed. It
// takes the time to read the filter once. It allocates the smaller array.
func (f *Filter) Fold(r uint64) error {
	folded, err := f.grouped().Fold(r)
	if err != nil {
		return err
	}
	f.hold(folded)
	return nil
}

// Unfold makes the filter u times larger by copying: see [umbel.Folder]. A removal
// of a key that was there before then takes from one copy of its counters, and the
// others stay: no key is lost, but the room isn't all won back, Count may be too
// high, and a fold adds the copies together.
func (f *Filter) Unfold(u uint64) error {
	unfolded, err := f.grouped().Unfold(u)
	if err != nil {
		return err
	}
	f.copied = f.copied || u > 1 && !f.IsEmpty()
	f.hold(unfolded)
	return nil
}

// Merge adds to the filter what another one holds: a key that is in both is there as
// often as in the two together, sums saturate, and the other's keys can then be
// removed here. The other is a counting filter with the same k, hasher, width and
// group. Sizes that differ are as in bloom.Filter.Merge. The error wraps
// umbel.ErrMismatch and says the first difference.
func (f *Filter) Merge(s umbel.State) error {
	g, err := f.other(s)
	if err != nil {
		return err
	}
	sum, err := f.grouped().Merge(g.grouped())
	if err != nil {
		return err
	}
	f.copied = f.copied || g.copied
	f.hold(sum)
	return nil
}

// other opens the state of a filter that goes together with f but for its size.
func (f *Filter) other(s umbel.State) (*Filter, error) {
	g, err := plane.Other(f.State(), s, Open)
	if err != nil {
		return nil, err
	}
	switch a, b := f.shape, g.shape; {
	case a.K != b.K:
		err = fmt.Errorf("counting: one filter sets %d cells per key, the other %d: %w", a.K, b.K, umbel.ErrMismatch)
	case a.Width != b.Width:
		err = fmt.Errorf("counting: one filter has counters of %d bits, the other of %d: %w", a.Width, b.Width, umbel.ErrMismatch)
	case a.Group != b.Group:
		err = fmt.Errorf("counting: one filter has groups of %d cells, the other of %d: %w", 1<<a.Group, 1<<b.Group, umbel.ErrMismatch)
	}
	return g, err
}

func (f *Filter) grouped() plane.Grouped {
	return plane.Grouped{Kind: Name, Bits: f.cells, Group: 1 << f.shape.Group, Groups: f.cells.Len >> f.shape.Group}
}

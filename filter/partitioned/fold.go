package partitioned

import (
	"fmt"

	"github.com/umbel-filters/umbel"
)

// Fold makes the filter r times smaller: bit for bit the filter built at that
// size. r must divide the number of groups in a slice; the error wraps
// umbel.ErrMismatch otherwise and nothing has changed. It takes the time to read
// the filter once. It allocates the smaller array.
func (f *Filter) Fold(r uint64) error {
	// Each slice folds for itself: it begins at a multiple of r groups.
	if r == 0 || f.shape.groups()%r != 0 {
		return fmt.Errorf("partitioned: slices of %d groups don't fold by %d, which must divide %d: %w",
			f.shape.groups(), r, f.shape.groups(), umbel.ErrMismatch)
	}
	folded, err := f.cells.Fold(r, 1<<f.shape.Group)
	if err != nil {
		return fmt.Errorf("partitioned: %w: %w", err, umbel.ErrMismatch)
	}
	f.hold(folded)
	return nil
}

// Unfold makes the filter u times larger by copying: see [umbel.Folder].
func (f *Filter) Unfold(u uint64) error {
	unfolded, err := f.cells.Unfold(u, 1<<f.shape.Group)
	if err != nil {
		return fmt.Errorf("partitioned: %w: %w", err, umbel.ErrMismatch)
	}
	f.hold(unfolded)
	return nil
}

// Merge takes in the keys of another partitioned filter with the same k, hasher
// and group. Where the sizes differ, one being a multiple of the other, the larger
// is folded: the result has the smaller size. The error wraps umbel.ErrMismatch
// and says the first difference.
func (f *Filter) Merge(s umbel.State) error {
	if err := f.State().Alike(s); err != nil {
		return err
	}
	g, err := Open(s)
	if err != nil {
		return err
	}
	if f.shape.K != g.shape.K {
		return fmt.Errorf("partitioned: one filter has %d slices, the other %d: %w", f.shape.K, g.shape.K, umbel.ErrMismatch)
	}
	if f.shape.Group != g.shape.Group {
		return fmt.Errorf("partitioned: one filter has groups of %d cells, the other of %d: %w", 1<<f.shape.Group, 1<<g.shape.Group, umbel.ErrMismatch)
	}
	a, b := f.cells, g.cells
	switch {
	case a.Len > b.Len && a.Len%b.Len == 0:
		a, err = a.Fold(a.Len/b.Len, 1<<f.shape.Group)
	case b.Len > a.Len && b.Len%a.Len == 0:
		b, err = b.Fold(b.Len/a.Len, 1<<f.shape.Group)
	case a.Len != b.Len:
		return fmt.Errorf("partitioned: %d cells and %d: neither size divides the other; fold both to a common divisor first: %w", a.Len, b.Len, umbel.ErrMismatch)
	}
	if err == nil {
		err = a.Sum(b)
	}
	if err != nil {
		return fmt.Errorf("partitioned: %w: %w", err, umbel.ErrMismatch)
	}
	f.hold(a)
	return nil
}

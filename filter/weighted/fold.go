package weighted

import (
	"fmt"
	"slices"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/internal/plane"
)

// Fold makes the filter r times smaller: see [umbel.Folder]. Classes stay as they
// are. r must divide the number of groups; the error wraps umbel.ErrMismatch
// otherwise and nothing has changed.
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

// Merge takes in the keys of another weighted filter with the same hasher, group,
// cells per key of each class, and table of digests or prefixes; the shares that were
// planned with may differ, and stay those of f. Sizes that differ are as in
// bloom.Filter.Merge. The error wraps umbel.ErrMismatch and says the first difference.
func (f *Filter) Merge(s umbel.State) error {
	g, err := plane.Other(f.State(), s, Open)
	if err != nil {
		return err
	}
	if err := f.alike(g); err != nil {
		return fmt.Errorf("%w: %w", err, umbel.ErrMismatch)
	}
	union, err := f.grouped().Merge(g.grouped())
	if err != nil {
		return err
	}
	f.hold(union)
	return nil
}

// alike returns the first difference that keeps two filters apart.
func (f *Filter) alike(g *Filter) error {
	if a, b := len(f.shape.Classes), len(g.shape.Classes); a != b {
		return fmt.Errorf("weighted: one filter has %d classes, the other %d", a, b)
	}
	for i, c := range f.shape.Classes {
		if d := g.shape.Classes[i]; c.K != d.K {
			return fmt.Errorf("weighted: class %d of one filter sets %d cells per key, of the other %d", i, c.K, d.K)
		}
	}
	if f.shape.Group != g.shape.Group {
		return fmt.Errorf("weighted: one filter has groups of %d cells, the other of %d", 1<<f.shape.Group, 1<<g.shape.Group)
	}
	if !slices.Equal(f.hot.words, g.hot.words) {
		return fmt.Errorf("weighted: the filters have tables of %d and of %d digests, which aren't the same", len(f.hot.words), len(g.hot.words))
	}
	if !slices.Equal(f.prefixes.list, g.prefixes.list) {
		return fmt.Errorf("weighted: the filters have %d and %d prefixes, which aren't the same", len(f.prefixes.list), len(g.prefixes.list))
	}
	return nil
}

func (f *Filter) grouped() plane.Grouped {
	return plane.Grouped{Kind: Name, Bits: f.cells, Group: 1 << f.shape.Group, Groups: f.cells.Len >> f.shape.Group}
}

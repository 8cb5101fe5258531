package blocked

import (
	"fmt"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/internal/plane"
)

// Fold makes the filter r times smaller: bit for bit the filter built at that
// size, since the block of a key among B/r is ⌊its block among B / r⌋ and its place
// in the block doesn't depend on B. r must divide the number of blocks; the error
// wraps umbel.ErrMismatch otherwise and nothing has changed. It takes the time to
// read the filter once. It allocates the smaller array.
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

// Merge takes in the keys of another filter of this kind with the same words, bits
// and hasher. Sizes that differ are as in bloom.Filter.Merge. The error wraps
// umbel.ErrMismatch and says the first difference.
func (f *Filter) Merge(s umbel.State) error {
	g, err := plane.Other(f.State(), s, Open)
	if err != nil {
		return err
	}
	if f.shape.Words != g.shape.Words || f.shape.Bits != g.shape.Bits {
		return fmt.Errorf("blocked: one filter sets %d bits in each of %d words per key, the other %d in each of %d: %w",
			f.shape.Bits, f.shape.Words, g.shape.Bits, g.shape.Words, umbel.ErrMismatch)
	}
	union, err := f.grouped().Merge(g.grouped())
	if err != nil {
		return err
	}
	f.hold(union)
	return nil
}

func (f *Filter) grouped() plane.Grouped {
	return plane.Grouped{Kind: Name, Bits: f.cells, Group: BlockBits, Groups: f.cells.Len / BlockBits}
}

package splitblock

import (
	"fmt"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/filter/internal/plane"
)

// Fold makes the filter r times smaller: bit for bit the filter built at that
// size, since the block of a hash with z/r blocks is ⌊block with z / r⌋. r must
// divide the number of blocks; the error wraps umbel.ErrMismatch otherwise and
// nothing has changed. It takes the time to read the filter once. It allocates the
// smaller array.
func (f *Filter) Fold(r uint64) error {
	folded, err := f.grouped().Fold(r)
	if err != nil {
		return err
	}
	f.hold(folded)
	return nil
}

// Unfold makes the filter u times larger by copying: see [umbel.Folder]. The error
// wraps umbel.ErrMismatch if that would be more than MaxBlocks.
func (f *Filter) Unfold(u uint64) error {
	if u > MaxBlocks/max(f.blocks, 1) {
		return fmt.Errorf("splitblock: %d blocks don't unfold by %d: there may be 2^32: %w", f.blocks, u, umbel.ErrMismatch)
	}
	unfolded, err := f.grouped().Unfold(u)
	if err != nil {
		return err
	}
	f.hold(unfolded)
	return nil
}

// Merge takes in the keys of another filter of this kind with the same hasher.
// Sizes that differ are as in bloom.Filter.Merge. The error wraps umbel.ErrMismatch and
// says the first difference.
func (f *Filter) Merge(s umbel.State) error {
	g, err := plane.Other(f.State(), s, Open)
	if err != nil {
		return err
	}
	union, err := f.grouped().Merge(g.grouped())
	if err != nil {
		return err
	}
	f.hold(union)
	return nil
}

func (f *Filter) grouped() plane.Grouped {
	return plane.Grouped{Kind: Name, Bits: f.bits, Group: BlockBits, Groups: f.blocks}
}

// hold makes a the filter's cells.
func (f *Filter) hold(a cells.Array) { *f = *made(a, f.hasher) }

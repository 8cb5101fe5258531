package splitblock

import (
	"fmt"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/filter/internal/core"
)

var kind = core.Kind{Name: Name}

// blockLog is log2 of BlockBits.
const blockLog = 8

// Fold makes the filter r times smaller: bit for bit the filter built at that
// size, since the block of a hash with z/r blocks is ⌊block with z / r⌋. r must
// divide the number of blocks; the error wraps umbel.ErrMismatch otherwise and
// nothing has changed. It takes the time to read the filter once. It allocates the
// smaller array.
func (f *Filter) Fold(r uint64) error {
	return f.set(f.array().Fold(r))
}

// Unfold makes the filter u times larger by copying: see [umbel.Folder]. The error
// wraps umbel.ErrMismatch if that would be more than MaxBlocks.
func (f *Filter) Unfold(u uint64) error {
	if u > MaxBlocks/max(f.blocks, 1) {
		return fmt.Errorf("splitblock: %d blocks don't unfold by %d: there may be 2^32: %w", f.blocks, u, umbel.ErrMismatch)
	}
	return f.set(f.array().Unfold(u))
}

// Merge takes in the keys of another filter of this kind with the same hasher.
// Sizes that differ are as in bloom.Filter.Merge. The error wraps umbel.ErrMismatch and
// says the first difference.
func (f *Filter) Merge(s umbel.State) error {
	g, err := core.Other(f.State(), s, Open)
	if err != nil {
		return err
	}
	return f.set(f.array().Merge(g.array()))
}

// array returns the cells with blocks as groups.
func (f *Filter) array() core.Array {
	return core.Array{Kind: kind, Shape: core.Shape{M: f.bits.Len, Group: blockLog}, Cells: f.bits}
}

// set makes a the cells of f unless err is not nil, and returns err.
func (f *Filter) set(a core.Array, err error) error {
	if err == nil {
		f.hold(a.Cells)
	}
	return err
}

// hold makes a the filter's cells.
func (f *Filter) hold(a cells.Array) { *f = *made(a, f.hasher) }

package blocked

import (
	"fmt"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/internal/core"
)

var kind = core.Kind{Name: Name}

// blockLog is log2 of BlockBits.
const blockLog = 9

// Fold makes the filter r times smaller: bit for bit the filter built at that
// size, since the block of a key among B/r is ⌊its block among B / r⌋ and its place
// in the block doesn't depend on B. r must divide the number of blocks; the error
// wraps umbel.ErrMismatch otherwise and nothing has changed. It takes the time to
// read the filter once. It allocates the smaller array.
func (f *Filter) Fold(r uint64) error {
	return f.set(f.array().Fold(r))
}

// Unfold makes the filter u times larger by copying: see [umbel.Folder].
func (f *Filter) Unfold(u uint64) error {
	return f.set(f.array().Unfold(u))
}

// Merge takes in the keys of another filter of this kind with the same words, bits
// and hasher. Sizes that differ are as in bloom.Filter.Merge. The error wraps
// umbel.ErrMismatch and says the first difference.
func (f *Filter) Merge(s umbel.State) error {
	g, err := core.Other(f.State(), s, Open)
	if err != nil {
		return err
	}
	if f.shape.Words != g.shape.Words || f.shape.Bits != g.shape.Bits {
		return fmt.Errorf("blocked: one filter sets %d bits in each of %d words per key, the other %d in each of %d: %w",
			f.shape.Bits, f.shape.Words, g.shape.Bits, g.shape.Words, umbel.ErrMismatch)
	}
	return f.set(f.array().Merge(g.array()))
}

// array returns the cells with blocks as groups.
func (f *Filter) array() core.Array {
	return core.Array{Kind: kind, Shape: core.Shape{M: f.cells.Len, Group: blockLog}, Cells: f.cells}
}

// set makes a the cells of f unless err is not nil, and returns err.
func (f *Filter) set(a core.Array, err error) error {
	if err == nil {
		f.hold(a.Cells)
	}
	return err
}

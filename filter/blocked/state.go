package blocked

import (
	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/filter/internal/arrays"
	"github.com/umbel-filters/umbel/internal/sentinel"
)

var kind = arrays.Kind{Name: Name}

// paramNames are the parameters of a state, in order.
var paramNames = []string{"words", "bits"}

// State returns the complete contents of the filter: see [umbel.Filter].
func (f *Filter) State() umbel.State {
	return umbel.State{
		Kind:   Name,
		Hasher: f.shape.Hasher,
		Params: umbel.Params{
			{Name: "words", Value: umbel.Uint(uint64(f.shape.Words))},
			{Name: "bits", Value: umbel.Uint(uint64(f.shape.Bits))},
		},
		Arrays: []cells.Array{f.cells},
		Notes:  umbel.Notes{Planned: f.planned},
	}
}

// Open returns the filter with state s, and takes over its memory. It returns an error wrapping
// umbel.ErrKind or umbel.ErrCorrupt.
func Open(s umbel.State) (*Filter, error) {
	var words, bits uint64
	a, err := kind.OpenCells(s, paramNames, &words, &bits)
	if err != nil {
		return nil, err
	}
	shape := Shape{M: a.Len, Words: int(min(words, blockWords+1)), Bits: int(min(bits, maxBits+1)), Hasher: s.Hasher}
	if err := sentinel.Wrap(umbel.ErrCorrupt, shape.check()); err != nil {
		return nil, err
	}
	f := &Filter{shape: shape, planned: s.Planned}
	f.setCells(a)
	return f, nil
}

// Fold shrinks f by factor r, keeping all keys. The result is bit for bit the filter that is built at
// that size, since the block of a key among B/r is ⌊its block among B / r⌋ and its place in the block
// doesn't depend on B. Fold returns an error wrapping umbel.ErrMismatch if r doesn't divide the number of
// blocks; on error f is unchanged. It reads the filter once and allocates the smaller array.
func (f *Filter) Fold(r uint64) error {
	return f.setArray(f.array().Fold(r))
}

// Unfold enlarges f by factor u, keeping all keys: see [umbel.Folder].
func (f *Filter) Unfold(u uint64) error {
	return f.setArray(f.array().Unfold(u))
}

// Merge adds the keys of another filter of this kind with the same words, bits and hasher. Different
// sizes are handled as by bloom.Filter.Merge. It returns an error wrapping umbel.ErrMismatch with the
// first difference.
func (f *Filter) Merge(s umbel.State) error {
	g, err := arrays.Other(f.State(), s, Open)
	if err != nil {
		return err
	}
	if f.shape.Words != g.shape.Words || f.shape.Bits != g.shape.Bits {
		return sentinel.Errorf(umbel.ErrMismatch, "blocked: one filter sets %d bits in each of %d words per key, the other %d in each of %d",
			f.shape.Bits, f.shape.Words, g.shape.Bits, g.shape.Words)
	}
	return f.setArray(f.array().Merge(g.array()))
}

// blockLog is log2 of BlockBits.
const blockLog = 9

// array returns the cells with blocks as groups.
func (f *Filter) array() arrays.Array {
	return arrays.Array{Kind: kind, Shape: arrays.Shape{M: f.cells.Len, Group: blockLog}, Cells: f.cells}
}

// setArray makes a the cells of f unless err is not nil, and returns err.
func (f *Filter) setArray(a arrays.Array, err error) error {
	if err == nil {
		f.setCells(a.Cells)
	}
	return err
}

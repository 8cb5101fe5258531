package blocked

import (
	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/filter/internal/design"
)

// Kind is the name of this kind of filter.
const Name = "blocked"

// paramNames are the parameters of a state, in order.
var paramNames = []string{"words", "bits"}

// State returns all there is of the filter: see [umbel.Filter].
func (f *Filter) State() umbel.State {
	return umbel.State{
		Kind:   Name,
		Hasher: f.shape.Hasher,
		Params: umbel.Params{
			{Name: "words", Value: umbel.Uint(uint64(f.shape.Words))},
			{Name: "bits", Value: umbel.Uint(uint64(f.shape.Bits))},
		},
		Arrays: []cells.Array{f.cells},
	}
}

// Open makes the filter that s describes and takes over its memory. The error
// wraps umbel.ErrKind or umbel.ErrCorrupt.
func Open(s umbel.State) (*Filter, error) {
	var words, bits uint64
	a, err := kind.OpenCells(s, paramNames, &words, &bits)
	if err != nil {
		return nil, err
	}
	shape := Shape{M: a.Len, Words: int(min(words, blockWords+1)), Bits: int(min(bits, MaxBits+1)), Hasher: s.Hasher}
	if err := design.Wrap(shape.check(), umbel.ErrCorrupt); err != nil {
		return nil, err
	}
	f := &Filter{shape: shape}
	f.hold(a)
	return f, nil
}

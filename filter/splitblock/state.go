package splitblock

import (
	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/filter/internal/design"
)

// Kind is the name of this kind of filter.
const Name = "splitblock"

// State returns all there is of the filter: see [umbel.Filter]. It has no
// parameters; the number of blocks is that of the plane.
func (f *Filter) State() umbel.State {
	return umbel.State{Kind: Name, Hasher: f.hasher, Arrays: []cells.Array{f.bits}}
}

// Open makes the filter that s describes and takes over its memory. The error
// wraps umbel.ErrKind or umbel.ErrCorrupt.
func Open(s umbel.State) (*Filter, error) {
	bits, err := kind.OpenCells(s, nil)
	if err != nil {
		return nil, err
	}
	shape := Shape{M: bits.Len, Hasher: s.Hasher}
	if err := design.Wrap(shape.check(), umbel.ErrCorrupt); err != nil {
		return nil, err
	}
	return made(bits, s.Hasher), nil
}

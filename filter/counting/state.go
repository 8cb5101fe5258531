package counting

import (
	"fmt"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/filter/internal/design"
	"github.com/umbel-filters/umbel/filter/internal/plane"
)

// Kind is the name of this kind of filter.
const Name = "counting"

// paramNames are the parameters of a state, in order.
var paramNames = []string{"k", "group", "copied"}

// State returns all there is of the filter: see [umbel.Filter].
func (f *Filter) State() umbel.State {
	copied := uint64(0)
	if f.copied {
		copied = 1
	}
	return umbel.State{
		Kind:   Name,
		Hasher: f.shape.Hasher,
		Params: umbel.Params{
			{Name: "k", Value: umbel.Uint(uint64(f.shape.K))},
			{Name: "group", Value: umbel.Uint(uint64(f.shape.Group))},
			{Name: "copied", Value: umbel.Uint(copied)},
		},
		Arrays: []cells.Array{f.cells},
	}
}

// Open makes the filter that s describes and takes over its memory. The error
// wraps umbel.ErrKind or umbel.ErrCorrupt.
func Open(s umbel.State) (*Filter, error) {
	var k, group, copied uint64
	a, err := plane.OpenCells(Name, s, paramNames, &k, &group, &copied)
	if err != nil {
		return nil, err
	}
	shape := Shape{M: a.Len, K: int(min(k, MaxK+1)), Width: a.Width, Group: uint8(min(group, 64)), Hasher: s.Hasher}
	if err := design.Wrap(shape.check(), umbel.ErrCorrupt); err != nil {
		return nil, err
	}
	if copied > 1 {
		return nil, fmt.Errorf("counting: copied is %d, want 0 or 1: %w", copied, umbel.ErrCorrupt)
	}
	f := &Filter{shape: shape, copied: copied == 1}
	f.hold(a)
	return f, nil
}

// Stats measures the filter: see [umbel.Filter]. It counts the cells that aren't
// zero; keys that were added more than once count once. The zero Filter's are zero.
func (f *Filter) Stats() umbel.Stats { return plane.Stats(f.cells, f.shape.K) }

// AppendBinary appends the filter's container to dst: see package wire. On error,
// which the zero Filter is, dst comes back as it was.
func (f *Filter) AppendBinary(dst []byte) ([]byte, error) { return plane.Append(dst, f.State()) }

// MarshalBinary is AppendBinary(nil).
func (f *Filter) MarshalBinary() ([]byte, error) { return f.AppendBinary(nil) }

// UnmarshalBinary makes f the filter in a container, within the zero wire.Limits; for
// a larger one there are wire.Parse and Open. On error f is as it was.
func (f *Filter) UnmarshalBinary(b []byte) error {
	view := f.view
	if err := plane.Unmarshal(f, b, Open); err != nil {
		return err
	}
	f.view = view
	f.tell()
	return nil
}

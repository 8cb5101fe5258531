package splitblock

import (
	"fmt"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/filter/internal/plane"
	"github.com/umbel-filters/umbel/wire"
)

// Kind is the name of this kind of filter.
const Kind = "splitblock"

// State returns all there is of the filter: see [umbel.Filter]. It has no
// parameters; the number of blocks is that of the plane.
func (f *Filter) State() umbel.State {
	return umbel.State{Kind: Kind, Hasher: f.hasher, Planes: []cells.Array{f.bits}}
}

// Open makes the filter that s describes and takes over its memory. The error
// wraps umbel.ErrKind or umbel.ErrCorrupt.
func Open(s umbel.State) (*Filter, error) {
	bits, err := plane.Open(Kind, s, nil)
	if err != nil {
		return nil, err
	}
	shape := Shape{M: bits.Len, Hasher: s.Hasher}
	if err := shape.Check(); err != nil {
		return nil, fmt.Errorf("%w: %w", err, umbel.ErrCorrupt)
	}
	return made(bits, s.Hasher), nil
}

// AppendBinary appends the filter's container to dst: see package wire. On error
// dst comes back as it was.
func (f *Filter) AppendBinary(dst []byte) ([]byte, error) { return wire.Append(dst, f.State()) }

// MarshalBinary is AppendBinary(nil).
func (f *Filter) MarshalBinary() ([]byte, error) { return f.AppendBinary(nil) }

// UnmarshalBinary makes f the filter in a container, within wire.DefaultLimits. On
// error f is as it was.
func (f *Filter) UnmarshalBinary(b []byte) error { return plane.Unmarshal(f, b, Open) }

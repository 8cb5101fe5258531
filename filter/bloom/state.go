package bloom

import (
	"fmt"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/filter/internal/plane"
	"github.com/umbel-filters/umbel/plan"
	"github.com/umbel-filters/umbel/wire"
)

// Kind is the name of this kind of filter.
const Kind = "bloom"

// paramNames are the parameters of a state, in order.
var paramNames = []string{"k", "group"}

// State returns all there is of the filter: see [umbel.Filter].
func (f *Filter) State() umbel.State {
	return umbel.State{
		Kind:   Kind,
		Hasher: f.shape.Hasher,
		Params: umbel.Params{
			{Name: "k", Value: umbel.Uint(uint64(f.shape.K))},
			{Name: "group", Value: umbel.Uint(uint64(f.shape.Group))},
		},
		Planes: []cells.Array{f.cells},
	}
}

// Open makes the filter that s describes and takes over its memory. The error
// wraps umbel.ErrKind or umbel.ErrCorrupt.
func Open(s umbel.State) (*Filter, error) {
	var k, group uint64
	bits, err := plane.Open(Kind, s, paramNames, &k, &group)
	if err != nil {
		return nil, err
	}
	shape := Shape{M: bits.Len, K: int(min(k, MaxK+1)), Group: uint8(min(group, 64)), Hasher: s.Hasher}
	if err := shape.Check(); err != nil {
		return nil, fmt.Errorf("%w: %w", err, umbel.ErrCorrupt)
	}
	f := &Filter{shape: shape}
	f.hold(bits)
	return f, nil
}

// Stats measures the filter: see [umbel.Filter]. It counts the bits. The zero
// Filter's are zero.
func (f *Filter) Stats() umbel.Stats {
	if f.shape.M == 0 {
		return umbel.Stats{}
	}
	ones := f.cells.Nonzero()
	n := plan.KeysInterval(f.shape.M, f.shape.K, ones)
	fill := float64(ones) / float64(f.shape.M)
	return umbel.Stats{
		Keys: n.Value, Low: n.Low, High: n.High,
		Fill: fill, FPRate: plan.FPRateAtFill(fill, f.shape.K),
		Cells: f.shape.M, K: float64(f.shape.K), Bytes: f.cells.Bytes(),
	}
}

// AppendBinary appends the filter's container to dst: see package wire. On error
// dst comes back as it was.
func (f *Filter) AppendBinary(dst []byte) ([]byte, error) { return wire.Append(dst, f.State()) }

// MarshalBinary is AppendBinary(nil).
func (f *Filter) MarshalBinary() ([]byte, error) { return f.AppendBinary(nil) }

// UnmarshalBinary makes f the filter in a container, within wire.DefaultLimits. On
// error f is as it was.
func (f *Filter) UnmarshalBinary(b []byte) error { return plane.Unmarshal(f, b, Open) }

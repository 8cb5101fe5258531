package sparse

import (
	"fmt"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/filter/internal/design"
	"github.com/umbel-filters/umbel/internal/eliasfano"
	"github.com/umbel-filters/umbel/plan"
)

// Kind is the name of this kind of filter.
const Name = "sparse"

// paramNames are the parameters of a state, in order.
var paramNames = []string{"m", "group"}

// State returns all there is of the filter: see [umbel.Filter]. It follows from the
// shape and the set of keys, whatever the order in which they came. Where additions
// wait for a new list it makes that list anew each time, and the state is in memory of
// its own: see Settle.
func (f *Filter) State() umbel.State {
	l := f.all()
	high, low := l.Planes()
	return umbel.State{
		Kind:   Name,
		Hasher: f.shape.Hasher,
		Params: umbel.Params{
			{Name: "m", Value: umbel.Uint(f.shape.M)},
			{Name: "group", Value: umbel.Uint(uint64(f.shape.Group))},
		},
		Arrays: []cells.Array{high, low},
	}
}

// Open makes the filter that s describes and takes over its memory. It goes through the
// list once: positions must rise and lie below m. The error wraps umbel.ErrKind or
// umbel.ErrCorrupt.
func Open(s umbel.State) (*Filter, error) {
	if s.Kind != Name {
		return nil, fmt.Errorf("sparse: a state of kind %.40q: %w", s.Kind, umbel.ErrKind)
	}
	if err := s.Check(); err != nil {
		return nil, err
	}
	var m, group uint64
	if err := s.Params.Uints(paramNames, &m, &group); err != nil {
		return nil, err
	}
	if len(s.Arrays) != 2 || len(s.Parts) != 0 {
		return nil, fmt.Errorf("sparse: %d planes and %d parts, want two planes: %w", len(s.Arrays), len(s.Parts), umbel.ErrCorrupt)
	}
	shape := Shape{M: m, Group: uint8(min(group, 64)), Hasher: s.Hasher}
	if err := design.Wrap(shape.check(), umbel.ErrCorrupt); err != nil {
		return nil, err
	}
	l, err := eliasfano.Open(m, s.Arrays[0], s.Arrays[1])
	if err != nil {
		return nil, fmt.Errorf("sparse: %w: %w", err, umbel.ErrCorrupt)
	}
	f := &Filter{shape: shape}
	f.hold(l)
	return f, nil
}

// Positions yields the positions of the cells that are set, in order.
func (f *Filter) Positions(yield func(uint64) bool) { union(&f.list, f.added.all)(yield) }

// Stats measures the filter: see [umbel.Filter]. Cells and fill are those of the cells
// that it stands for, bytes those of its state; what is kept beside that to find
// positions takes up to five eighths of a bit a key, and what waits to be put into the
// list up to three and a half bits.
func (f *Filter) Stats() umbel.Stats {
	if f.shape.M == 0 {
		return umbel.Stats{}
	}
	m, ones := f.shape.M, f.ones()
	n := plan.KeysInterval(m, 1, ones)
	fill := float64(ones) / float64(m)
	return umbel.Stats{
		Keys: n.Value, Low: n.Low, High: n.High,
		Fill: fill, FPRate: plan.FPRateAtFill(fill, 1),
		Cells: m, K: 1, Bytes: plan.SparseBits(m, ones) / 8,
	}
}

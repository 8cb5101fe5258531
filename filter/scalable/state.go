package scalable

import (
	"fmt"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/internal/design"
	"github.com/umbel-filters/umbel/filter/internal/row"
	"github.com/umbel-filters/umbel/filter/partitioned"
	"github.com/umbel-filters/umbel/probe"
)

// Kind is the name of this kind of filter.
const Name = "scalable"

// paramNames are the parameters of a state, in order.
var paramNames = []string{"slice", "first-log2", "tightening-log2", "growth", "max-bytes"}

// State returns all there is of the filter: see [umbel.Filter]. Its parts are the
// layers, the oldest first.
func (f *Filter) State() umbel.State {
	s := f.shape
	values := [...]uint64{s.Slice, uint64(s.First), uint64(s.Tightening), s.Growth, s.MaxBytes}
	state := umbel.State{Kind: Name, Hasher: s.Hasher, Params: make(umbel.Params, len(values))}
	for i, v := range values {
		state.Params[i] = umbel.Param{Name: paramNames[i], Value: umbel.Uint(v)}
	}
	for _, l := range f.layers {
		state.Parts = append(state.Parts, l.State())
	}
	return state
}

// Open makes the filter that s describes and takes over its memory. It counts the
// ones of the last layer when a key comes. The error wraps umbel.ErrKind or
// umbel.ErrCorrupt.
func Open(s umbel.State) (*Filter, error) {
	var size, first, tightening, growth, limit uint64
	layers, err := row.Open(Name, s, partitioned.Open, paramNames, &size, &first, &tightening, &growth, &limit)
	if err != nil {
		return nil, err
	}
	f := &Filter{shape: Shape{size, Log(first), Log(tightening), growth, limit, s.Hasher}}
	if err := design.Wrap(f.shape.check(), umbel.ErrCorrupt); err != nil {
		return nil, err
	}
	largest := uint64(0)
	for i, l := range layers {
		s := l.Shape()
		if s.Group != probe.WordLog {
			return nil, fmt.Errorf("scalable: layer %d has groups of 2^%d cells, want 2^%d: %w", i, s.Group, probe.WordLog, umbel.ErrCorrupt)
		}
		if slice(s) < largest {
			return nil, fmt.Errorf("scalable: layer %d has slices of %d cells, the one before of %d: %w", i, slice(s), largest, umbel.ErrCorrupt)
		}
		largest = slice(s)
	}
	// So a layer that is added is at most Growth times as long as what is there.
	if size > largest {
		return nil, fmt.Errorf("scalable: no layer has slices of the %d cells of the first: %w", size, umbel.ErrCorrupt)
	}
	f.hold(layers)
	return f, nil
}

// Stats measures the filter: see [umbel.Filter]. It counts the bits. K is that of the
// last layer. The zero Filter's are zero.
func (f *Filter) Stats() umbel.Stats {
	parts := make([]umbel.Stats, len(f.layers))
	for i, l := range f.layers {
		parts[i] = l.Stats()
	}
	return row.Stats(parts)
}

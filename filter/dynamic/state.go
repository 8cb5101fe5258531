package dynamic

import (
	"fmt"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/filter/counting"
	"github.com/umbel-filters/umbel/filter/internal/design"
	"github.com/umbel-filters/umbel/filter/internal/row"
)

// Kind is the name of this kind of filter.
const Name = "dynamic"

// paramNames are the parameters of a state, in order.
var paramNames = []string{"full", "max-bytes"}

// State returns all there is of the filter: see [umbel.Filter].
func (f *Filter) State() umbel.State { return state(f.shape, f.parts) }

// State returns all there is of the filter: see [umbel.Filter].
func (f *Counting) State() umbel.State { return state(f.shape, f.parts) }

func state[P umbel.Filter](s Shape, parts []P) umbel.State {
	state := umbel.State{Kind: Name, Hasher: s.Layer.Hasher, Params: umbel.Params{
		{Name: paramNames[0], Value: umbel.Uint(s.Full)},
		{Name: paramNames[1], Value: umbel.Uint(s.MaxBytes)},
	}}
	for _, p := range parts {
		state.Parts = append(state.Parts, p.State())
	}
	return state
}

// Open makes the filter of bits that s describes and takes over its memory. The error
// wraps umbel.ErrKind or umbel.ErrCorrupt.
func Open(s umbel.State) (*Filter, error) {
	f := new(Filter)
	parts, err := row.Open(Name, s, bloom.Open, paramNames, &f.shape.Full, &f.shape.MaxBytes)
	if err != nil {
		return nil, err
	}
	f.shape.Layer = parts[0].Shape()
	for i, p := range parts {
		if p.Shape() != f.shape.Layer {
			return nil, unlike(i)
		}
	}
	if err := design.Wrap(f.shape.check(), umbel.ErrCorrupt); err != nil {
		return nil, err
	}
	f.most = f.shape.partsFor(len(parts))
	f.hold(parts)
	return f, nil
}

// OpenCounting is Open for filters of counters.
func OpenCounting(s umbel.State) (*Counting, error) {
	f := new(Counting)
	parts, err := row.Open(Name, s, counting.Open, paramNames, &f.shape.Full, &f.shape.MaxBytes)
	if err != nil {
		return nil, err
	}
	first := parts[0].Shape()
	f.shape.Layer, f.shape.Width = first.Bloom(), first.Width
	for i, p := range parts {
		if p.Shape() != first {
			return nil, unlike(i)
		}
	}
	if err := design.Wrap(f.shape.check(), umbel.ErrCorrupt); err != nil {
		return nil, err
	}
	f.most = f.shape.partsFor(len(parts))
	f.hold(parts)
	return f, nil
}

func unlike(i int) error {
	return fmt.Errorf("dynamic: part %d isn't of the shape of part 0: %w", i, umbel.ErrCorrupt)
}

// Stats measures the filter: see [umbel.Filter]. It counts the bits. The zero
// Filter's are zero.
func (f *Filter) Stats() umbel.Stats { return stats(f.parts) }

// Stats measures the filter: see [umbel.Filter]. It counts the cells that aren't zero;
// keys that were added more than once count once. The zero Counting's are zero.
func (f *Counting) Stats() umbel.Stats { return stats(f.parts) }

func stats[P umbel.Filter](parts []P) umbel.Stats {
	all := make([]umbel.Stats, len(parts))
	for i, p := range parts {
		all[i] = p.Stats()
	}
	return row.Stats(all)
}

package window

import (
	"fmt"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/filter/internal/core"
	"github.com/umbel-filters/umbel/filter/internal/design"
)

// Kind is the name of this kind of filter.
const Name = "window"

// paramNames are the parameters of a state, in order.
var paramNames = []string{"k", "l", "group", "limit", "ticks", "now"}

// State returns all there is of the filter: see [umbel.Filter].
func (f *Filter) State() umbel.State {
	s := f.shape
	return umbel.State{
		Kind:   Name,
		Hasher: s.Hasher,
		Params: umbel.Params{
			{Name: "k", Value: umbel.Uint(uint64(s.K))},
			{Name: "l", Value: umbel.Uint(uint64(s.L))},
			{Name: "group", Value: umbel.Uint(uint64(s.Group))},
			{Name: "limit", Value: umbel.Uint(s.Limit)},
			{Name: "ticks", Value: umbel.Uint(s.Ticks)},
			{Name: "now", Value: umbel.Uint(f.now)},
		},
		Arrays: []cells.Array{f.cells},
	}
}

// Open makes the filter that s describes and takes over its memory. The error
// wraps umbel.ErrKind or umbel.ErrCorrupt.
func Open(s umbel.State) (*Filter, error) {
	var k, l, group, limit, ticks, now uint64
	bits, err := core.Kind{Name: Name}.OpenCells(s, paramNames, &k, &l, &group, &limit, &ticks, &now)
	if err != nil {
		return nil, err
	}
	shape := Shape{
		K: int(min(k, MaxSlices)), L: int(min(l, MaxSlices)), Group: uint8(min(group, 64)),
		Limit: limit, Ticks: ticks, Hasher: s.Hasher,
	}
	n := uint64(max(shape.slices(), 1))
	shape.Slice = bits.Len / n
	if err := design.Wrap(shape.check(), umbel.ErrCorrupt); err != nil {
		return nil, err
	}
	switch {
	case bits.Len%n != 0:
		return nil, fmt.Errorf("window: %d cells don't make %d equal slices: %w", bits.Len, n, umbel.ErrCorrupt)
	case ticks == 0 && now > maxGenerations:
		return nil, fmt.Errorf("window: %d generations by keys, want at most %d: %w", now, uint64(maxGenerations), umbel.ErrCorrupt)
	}
	return hold(shape, bits, now), nil
}

// maxGenerations is the largest generation by keys that a state may have. No filter reaches
// it by additions alone, but an untrusted state may have it.
const maxGenerations = 1 << 62

// nextByKeys returns the next generation of a ring of n slices: generation + 1, and
// generation + 1 - n at maxGenerations. The slices keep their order, and the state still
// opens.
func nextByKeys(generation, n uint64) uint64 {
	if generation >= maxGenerations {
		generation -= n
	}
	return generation + 1
}

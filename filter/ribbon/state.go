package ribbon

import (
	"fmt"
	"math"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/internal/sentinel"
)

// Name is the name of this kind.
const Name = "ribbon"

// paramNames are the parameters of a state, in order.
var paramNames = []string{"steps", "low", "keys", "listed"}

// State returns the complete contents of the filter: see [umbel.Filter]. If keys were
// solved, the first arrays are the solution and the table of shards. If keys are listed, the
// last array contains their digests in the order of their addition.
func (f *Filter) State() umbel.State {
	return umbel.State{
		Kind:   Name,
		Hasher: f.shape.Hasher,
		Params: umbel.Params{
			{Name: "steps", Value: umbel.Uint(uint64(f.shape.Steps))},
			{Name: "low", Value: umbel.Uint(f.solved.low)},
			{Name: "keys", Value: umbel.Uint(f.keys)},
			{Name: "listed", Value: umbel.Uint(uint64(f.list.len()))},
		},
		Arrays: f.arrays(),
		Notes:  umbel.Notes{Planned: f.planned},
	}
}

func (f *Filter) arrays() []cells.Array {
	var as []cells.Array
	if f.keys > 0 {
		as = append(as, f.solved.bits, f.solved.table)
	}
	if n := len(f.list.words); n > 0 {
		as = append(as, cells.Array{Len: uint64(n), Width: 64, Words: f.list.words})
	}
	return as
}

// Open returns the filter with state s and takes over its memory. The error wraps
// umbel.ErrKind or umbel.ErrCorrupt.
func Open(s umbel.State) (*Filter, error) {
	if s.Kind != Name {
		return nil, sentinel.Errorf(umbel.ErrKind, "ribbon: the state has kind %.40q, want %q", s.Kind, Name)
	}
	if err := s.Check(); err != nil {
		return nil, err
	}
	f, err := open(s)
	if err != nil {
		return nil, sentinel.Errorf(umbel.ErrCorrupt, "ribbon: %w", err)
	}
	return f, nil
}

// open is Open for a well-formed state of this kind. Its error may wrap no sentinel.
func open(s umbel.State) (*Filter, error) {
	var steps, low, keys, listed uint64
	if err := s.Params.Uints(paramNames, &steps, &low, &keys, &listed); err != nil {
		return nil, err
	}
	shape := Shape{Steps: int(min(steps, maxSteps+1)), Hasher: s.Hasher}
	if err := shape.check(); err != nil {
		return nil, err
	}
	want := 0
	if keys > 0 {
		want += 2
	}
	if listed > 0 {
		want++
	}
	if len(s.Arrays) != want || len(s.Parts) != 0 {
		return nil, fmt.Errorf("%d arrays and %d parts, with %d keys solved and %d listed, want %d arrays", len(s.Arrays), len(s.Parts), keys, listed, want)
	}
	f := &Filter{shape: shape, keys: keys, planned: s.Planned}
	if keys > 0 {
		var err error
		if f.solved, err = newSolution(shape.Steps, low, s.Arrays[0], s.Arrays[1]); err != nil {
			return nil, err
		}
	} else if low != 0 {
		return nil, fmt.Errorf("%d blocks, with no keys solved", low)
	}
	if listed > 0 {
		a, ok := s.Arrays[want-1], false
		if a.Width != 64 || a.Len%2 != 0 || a.Len/2 != listed {
			return nil, fmt.Errorf("%d cells of %d bits for %d digests, want 2 of 64 for each", a.Len, a.Width, listed)
		}
		if f.list, ok = openList(a.Words); !ok {
			return nil, fmt.Errorf("a digest is listed twice")
		}
	}
	return f, nil
}

// sigmas is the half-width of the central 95 % of a normal distribution.
const sigmas = 1.96

// Stats measures the filter: see [umbel.Filter]. The rate is 1/2 for each column of a key,
// on average over its possible first slots. The list contains whole digests and adds
// nothing to the rate. The number of keys is exact, except for keys added after Seal that
// were false positives. The fill ratio is that of all arrays, about 1/2, since a solution
// looks like noise. The Stats of the zero Filter are zero.
func (f *Filter) Stats() umbel.Stats {
	var s umbel.Stats
	ones := uint64(0)
	for _, a := range f.arrays() {
		s.Cells += a.Len
		s.Bytes += a.Bytes()
		ones += a.Nonzero()
	}
	if s.Cells > 0 {
		s.Fill = float64(ones) / float64(s.Cells)
	}
	s.K = f.shape.k()
	s.FPRate = f.solved.rate()
	// Of the absent keys that were added, a share of FPRate is not counted; the others are in the list.
	listed, missed := float64(f.list.len()), s.FPRate
	if missed < 1 {
		s.Keys = float64(f.keys) + listed/(1-missed)
		off := sigmas * math.Sqrt(listed*missed) / (1 - missed)
		s.Low, s.High = max(s.Keys-off, float64(f.keys)+listed), s.Keys+off
	}
	return s
}

// rate returns the share of absent digests for which has is true.
func (s *solution) rate() float64 {
	if len(s.shards) == 0 {
		return 0
	}
	slots := make([]uint64, len(s.shards))
	for i, h := range s.shards {
		slots[i] = uint64(h.slots)
	}
	return math.Ldexp(1-upperShare(slots, s.low)/2, -int(s.columns))
}

package ribbon

import (
	"fmt"
	"math"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/plan"
)

// Kind is the name of this kind of filter.
const Name = "ribbon"

// paramNames are the parameters of a state, in order.
var paramNames = []string{"steps", "low", "keys", "listed"}

// State returns all there is of the filter: see [umbel.Filter]. If keys were solved,
// the first planes are the solution and the table of shards. If others are listed, the
// last plane has their digests, in the order in which they were added.
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
		Arrays: f.planes(),
	}
}

func (f *Filter) planes() []cells.Array {
	var as []cells.Array
	if f.keys > 0 {
		as = append(as, f.solved.bits, f.solved.table)
	}
	if n := len(f.list.words); n > 0 {
		as = append(as, cells.Array{Len: uint64(n), Width: 64, Words: f.list.words})
	}
	return as
}

// Open makes the filter that s describes and takes over its memory. The error
// wraps umbel.ErrKind or umbel.ErrCorrupt.
func Open(s umbel.State) (*Filter, error) {
	if s.Kind != Name {
		return nil, fmt.Errorf("ribbon: a state of kind %.40q: %w", s.Kind, umbel.ErrKind)
	}
	if err := s.Check(); err != nil {
		return nil, err
	}
	f, err := open(s)
	if err != nil {
		return nil, fmt.Errorf("ribbon: %w: %w", err, umbel.ErrCorrupt)
	}
	return f, nil
}

// open is Open of a state of the kind, well formed. The error need not wrap a sentinel.
func open(s umbel.State) (*Filter, error) {
	var steps, low, keys, listed uint64
	if err := s.Params.Uints(paramNames, &steps, &low, &keys, &listed); err != nil {
		return nil, err
	}
	shape := Shape{Steps: int(min(steps, plan.RibbonMaxSteps+1)), Hasher: s.Hasher}
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
		return nil, fmt.Errorf("%d planes and %d parts, with %d keys solved and %d listed, want %d planes", len(s.Arrays), len(s.Parts), keys, listed, want)
	}
	f := &Filter{shape: shape, keys: keys}
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

// sigmas is how many standard deviations hold 95 % to both sides.
const sigmas = 1.96

// Stats measures the filter: see [umbel.Filter]. Its rate is that of the equations: a
// half for each column that a key has, in the mean over the places at which it may begin.
// The list adds nothing to it, since it holds whole digests. The number of keys is known,
// but for those that were added after Seal and that the filter had by chance. The fill
// is that of all planes: about a half, since what was solved looks like noise.
// The zero Filter's are zero.
func (f *Filter) Stats() umbel.Stats {
	var s umbel.Stats
	ones := uint64(0)
	for _, a := range f.planes() {
		s.Cells += a.Len
		s.Bytes += a.Bytes()
		ones += a.Nonzero()
	}
	if s.Cells > 0 {
		s.Fill = float64(ones) / float64(s.Cells)
	}
	s.K = f.shape.k()
	s.FPRate = f.solved.rate()
	// Of m keys that weren't there a share of FPRate is missed, and the others are in the list.
	listed, missed := float64(f.list.len()), s.FPRate
	if missed < 1 {
		s.Keys = float64(f.keys) + listed/(1-missed)
		off := sigmas * math.Sqrt(listed*missed) / (1 - missed)
		s.Low, s.High = max(s.Keys-off, float64(f.keys)+listed), s.Keys+off
	}
	return s
}

// rate returns the share of digests for which has is true, but for those solved.
func (s *solution) rate() float64 {
	if len(s.shards) == 0 {
		return 0
	}
	slots := make([]uint64, len(s.shards))
	for i, h := range s.shards {
		slots[i] = uint64(h.slots)
	}
	return math.Ldexp(1-plan.RibbonUpperShare(slots, s.low)/2, -int(s.columns))
}

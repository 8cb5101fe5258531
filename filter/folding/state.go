package folding

import (
	"fmt"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/filter/counting"
	"github.com/umbel-filters/umbel/filter/internal/design"
)

// Kind is the name of this kind of filter.
const Name = "folding"

// paramNames are the parameters of a state, in order.
var paramNames = []string{"fold", "low", "high"}

// State returns all there is of the filter: see [umbel.Filter]. Its one part is the
// base; the face is the base folded by "fold".
func (f *Filter) State() umbel.State {
	s := umbel.State{Kind: Name, Hasher: f.shape.Hasher}
	fold := uint64(0)
	if f.base != nil {
		fold = f.shape.M / f.face.cells.Len
		s.Parts = []umbel.State{f.base.State()}
	}
	s.Params = umbel.Params{
		{Name: "fold", Value: umbel.Uint(fold)},
		{Name: "low", Value: umbel.Uint(f.shape.Low)},
		{Name: "high", Value: umbel.Uint(f.shape.High)},
	}
	return s
}

// isZero reports whether a state is that of a zero Filter.
func isZero(s umbel.State) bool { return len(s.Parts) == 0 && s.Params.Uint("fold") == 0 }

// bloomState returns the state of a face.
func bloomState(s Shape, a cells.Array) umbel.State {
	return umbel.State{
		Kind:   bloom.Name,
		Hasher: s.Hasher,
		Params: umbel.Params{
			{Name: "k", Value: umbel.Uint(uint64(s.K))},
			{Name: "group", Value: umbel.Uint(uint64(s.Group))},
		},
		Arrays: []cells.Array{a},
	}
}

// Open makes the filter that s describes, with a base of bits, and takes over its
// memory. It takes memory for the face: at most that of a bit for each cell of the
// base. The error wraps umbel.ErrKind, also for a base of counters, or
// umbel.ErrCorrupt.
func Open(s umbel.State) (*Filter, error) { return openAs(s, false) }

func openAs(s umbel.State, counters bool) (*Filter, error) {
	f, err := open(s)
	if err != nil {
		return nil, err
	}
	if got := f.shape.Width != 0; got != counters {
		return nil, fmt.Errorf("folding: a base of kind %s: take the other of Open and OpenCounting: %w", s.Parts[0].Kind, umbel.ErrKind)
	}
	return f, nil
}

// open opens a state with either base.
func open(s umbel.State) (*Filter, error) {
	if s.Kind != Name {
		return nil, fmt.Errorf("folding: a state of kind %.40q: %w", s.Kind, umbel.ErrKind)
	}
	if err := s.Check(); err != nil {
		return nil, err
	}
	var fold, low, high uint64
	if err := s.Params.Uints(paramNames, &fold, &low, &high); err != nil {
		return nil, err
	}
	if len(s.Arrays) != 0 || len(s.Parts) != 1 {
		return nil, fmt.Errorf("folding: %d planes and %d parts, want one part: %w", len(s.Arrays), len(s.Parts), umbel.ErrCorrupt)
	}
	if h := s.Parts[0].Hasher; h != s.Hasher {
		return nil, fmt.Errorf("folding: the base hashes with %v, the filter with %v: %w", h, s.Hasher, umbel.ErrCorrupt)
	}
	b, shape, err := openBase(s.Parts[0])
	if err != nil {
		return nil, err
	}
	shape.Low, shape.High = low, high
	if err := shape.checkInterval(); err != nil {
		return nil, design.Wrap(err, umbel.ErrCorrupt)
	}
	if err := cells.CheckFold(shape.M>>shape.Group, 1<<shape.Group, fold); err != nil {
		return nil, design.Wrap(fmt.Errorf("folding: %w", err), umbel.ErrCorrupt)
	}
	f := &Filter{shape: shape}
	f.stand(b)
	f.fold(f.shape.M / fold)
	return f, nil
}

// openBase returns a base with its shape, which has no interval yet.
func openBase(s umbel.State) (base, Shape, error) {
	switch s.Kind {
	case bloom.Name:
		b, err := bloom.Open(s)
		if err != nil {
			return nil, Shape{}, err
		}
		at := b.Shape()
		return b, Shape{M: at.M, K: at.K, Group: at.Group, Hasher: at.Hasher}, nil
	case counting.Name:
		b, err := counting.Open(s)
		if err != nil {
			return nil, Shape{}, err
		}
		at := b.Shape()
		return b, Shape{M: at.M, K: at.K, Width: at.Width, Group: at.Group, Hasher: at.Hasher}, nil
	}
	return nil, Shape{}, fmt.Errorf("folding: a base of kind %.40q, want %s or %s: %w", s.Kind, bloom.Name, counting.Name, umbel.ErrCorrupt)
}

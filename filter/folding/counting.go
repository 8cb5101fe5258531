package folding

import (
	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/filter/counting"
	"github.com/umbel-filters/umbel/probe"
)

// Counting is a folding filter over a base of counters: keys can be removed, and the
// face shrinks when few are left. All else is as for [Filter]. Count may run alongside
// Has.
type Counting struct{ Filter }

// NewCounting returns an empty filter of that shape, whose Width is that of the
// base's counters: 4, 8 or 16. The error wraps umbel.ErrGoal if there can't be one.
func NewCountingShape(s Shape) (*Counting, error) {
	if err := s.wantCounters(true); err != nil {
		return nil, err
	}
	f, err := make1(s)
	if err != nil {
		return nil, err
	}
	return &Counting{*f}, nil
}

// OpenCounting is [Open] for a state with a base of counters.
func OpenCounting(s umbel.State) (*Counting, error) {
	f, err := openAs(s, true)
	if err != nil {
		return nil, err
	}
	return &Counting{*f}, nil
}

// Remove takes back one addition of d: see counting.Filter.Remove. Where it takes the
// last key from a cell of the base, the cell of the face is cleared if no other cell
// that falls on it is in use; to know, it looks at as many as the base is folded by.
// It may fold the base anew, which takes new memory for the face.
func (f *Counting) Remove(d umbel.Digest) bool {
	base, ok := f.base.(*counting.Filter)
	if !ok || !base.Remove(d) {
		return false
	}
	r := f.shape.M / f.face.cells.Len
	mapping := probe.Mapping{Groups: f.shape.M >> f.shape.Group, Log: f.shape.Group}
	s := probe.Start(d)
	var v uint64
	for range f.shape.K {
		v, s = s.Next()
		if vacant(f.cells, mapping.At(v), r, f.shape.Group) {
			f.face.clear(f.face.mapping.At(v))
		}
	}
	f.shrink()
	return true
}

// vacant reports whether all r cells of a that a fold by r joins with one are zero.
func vacant(a cells.Array, cell, r uint64, log uint8) bool {
	if a.Get(cell) != 0 {
		return false
	}
	group, in := cell>>log, cell&(1<<log-1)
	first := group - group%r
	for i := range r {
		if a.Get((first+i)<<log|in) != 0 {
			return false
		}
	}
	return true
}

// Count returns how often d was added and not removed: never too few. It asks the
// base: see counting.Filter.Count.
func (f *Counting) Count(d umbel.Digest) uint64 {
	if base, ok := f.base.(*counting.Filter); ok {
		return base.Count(d)
	}
	return 0
}

// NewCounting returns an empty filter from which keys can be removed, for the given number
// of distinct keys. See [New].
func NewCounting(keys uint64, fpRate float64) (*Counting, error) {
	return NewCountingGoal(umbel.Goal{Keys: keys, FPRate: fpRate})
}

// NewCountingGoal returns an empty filter for g from which keys can be removed, with
// counters of 4 bits. The error wraps umbel.ErrGoal.
func NewCountingGoal(g umbel.Goal) (*Counting, error) {
	s, _, err := planWith(g, umbel.Params{{Name: "width", Value: umbel.Uint(counting.DefaultWidth)}})
	if err != nil {
		return nil, err
	}
	return NewCountingShape(s)
}

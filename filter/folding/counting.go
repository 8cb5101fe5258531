package folding

import (
	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/filter/counting"
	"github.com/umbel-filters/umbel/filter/internal/arrays"
	"github.com/umbel-filters/umbel/filter/internal/kinds"
	"github.com/umbel-filters/umbel/internal/probe"
	"github.com/umbel-filters/umbel/internal/sentinel"
)

// Counting is a [Filter] with a base of counters: keys can be removed, and the folded filter shrinks when few are left. It
// has the methods of Filter; its Merge adds the counters of another Counting. All methods that begin with Has or Count are
// safe to call concurrently; changes require exclusive access. A Counting must not be copied, since the copies would share
// memory: use Clone. The zero Counting contains nothing and is a target for UnmarshalBinary; adding to it panics.
type Counting struct{ filter }

// filter is embedded by a name that no other package has: Open of a Filter would give a Counting a base of bits.
type filter = Filter

func (f *Counting) core() kinds.Core { return f.filter.core() }

// NewCounting returns an empty filter from which keys can be removed, for the given number
// of distinct keys. Its counters have 4 bits. See [New].
func NewCounting(keys uint64, fpRate float64) (*Counting, error) {
	width := umbel.Params{{Name: "width", Value: umbel.Uint(counting.DefaultWidth)}}
	return kinds.New[*Counting](Kind, umbel.Goal{Keys: keys, FPRate: fpRate}, width)
}

// NewCountingShape returns an empty filter of shape s, whose Width is that of the base's
// counters: 4, 8 or 16. The error wraps umbel.ErrGoal if no filter can have that shape.
func NewCountingShape(s Shape) (*Counting, error) {
	if s.Width == 0 {
		return nil, sentinel.Errorf(umbel.ErrGoal, "folding: a base of bits, want counters of 4, 8 or 16 bits: set Width, or use NewShape")
	}
	return asCounting(newFilter(s))
}

// OpenCounting is [Open] for a state with a base of counters.
func OpenCounting(s umbel.State) (*Counting, error) { return asCounting(openWith(s, true)) }

func asCounting(f *Filter, err error) (*Counting, error) {
	if err != nil {
		return nil, err
	}
	c := new(Counting)
	kinds.Move(&c.filter, f)
	return c, nil
}

// Remove undoes one addition of d: see counting.Filter.Remove. If it clears a cell of the
// base, it clears the bit of the folded filter unless another cell that is folded to it is
// in use; for that it reads as many cells as the factor of the fold. It may fold the base
// again, which takes new memory for the folded filter.
func (f *Counting) Remove(d umbel.Digest) bool {
	base, ok := f.base.(*arrays.Counters)
	if !ok || !base.Remove(d) {
		return false
	}
	shape, a, small := f.shape, base.Cells(), &f.folded
	r := shape.M / small.size()
	from, to := probe.Mapping{Groups: shape.M >> shape.Group, Log: shape.Group}, small.mapping()
	s := probe.Start(d)
	var v uint64
	for range shape.K {
		v, s = s.Next()
		if isVacant(a, from.At(v), r, shape.Group) {
			small.clear(to.At(v))
		}
	}
	f.shrink()
	return true
}

// isVacant reports whether all r cells of a that a fold by r joins with cell are zero.
func isVacant(a cells.Array, cell, r uint64, log uint8) bool {
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

// Count returns how often d was added and not removed, as the base counts it: see
// counting.Filter.Count. It never returns too little.
func (f *Counting) Count(d umbel.Digest) (n uint64, known bool) {
	if base, ok := f.base.(*arrays.Counters); ok {
		return base.Count(d)
	}
	return 0, true
}

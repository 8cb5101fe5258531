package incremental

import (
	"fmt"
	"math"
	"slices"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/filter/internal/design"
	"github.com/umbel-filters/umbel/plan"
	"github.com/umbel-filters/umbel/probe"
)

// MaxPlanes is the largest number of planes.
const MaxLayers = 64

// Shape is what is fixed of a filter when it is made.
type Shape struct {
	Planes []Layer // 1 to MaxPlanes, in the order in which they are opened
	Hasher umbel.Hasher
}

// smallPlane is what any plane may have. A larger one has at most 4 times the cells of
// those before it, and takes keys until one in 64 of its own is set: so a state from a
// stranger can't make a few additions take much memory, which comes with keys as it
// does in filters that are planned. Of their planes one in 13 is set, or more.
const (
	smallPlane = 4096
	leastFull  = 64
)

// Plan returns the shape that meets the goal at any number of keys up to g.Keys, with
// the least memory in the mean over these numbers, all equally likely: see
// plan.IncrementalLayers. From 64 cells on planes are whole words. The error wraps
// umbel.ErrGoal.
func Plan(g umbel.Goal) (Shape, error) {
	s, _, err := planWith(g, nil)
	return s, err
}

// Check returns an error that wraps umbel.ErrGoal unless a filter can have the
// shape.
func (s Shape) Check() error { return design.Wrap(s.check(), umbel.ErrGoal) }

func (s Shape) check() error {
	if n := len(s.Planes); n < 1 || n > MaxLayers {
		return fmt.Errorf("incremental: %d planes, want 1 to %d", n, MaxLayers)
	}
	sum := uint64(0)
	for i, p := range s.Planes {
		switch {
		case p.M == 0 || p.M > 1<<56-sum:
			return fmt.Errorf("incremental: plane %d has %d cells, want at least 1, and 2^56 in all planes", i, p.M)
		case i > 0 && p.M > 4*sum+smallPlane:
			return fmt.Errorf("incremental: plane %d has %d cells, want at most 4 times the %d of those before it and %d", i, p.M, sum, smallPlane)
		case p.M >= 64 && p.M%64 != 0:
			return fmt.Errorf("incremental: plane %d has %d cells, want whole words from 64 on", i, p.M)
		case p.K < 1 || p.K > bloom.MaxK:
			return fmt.Errorf("incremental: plane %d sets %d cells per key, want 1 to %d", i, p.K, bloom.MaxK)
		case p.Limit == 0 || p.Limit > p.M:
			return fmt.Errorf("incremental: plane %d is full with %d bits of %d, want 1 to all of them", i, p.Limit, p.M)
		case p.M > smallPlane && p.Limit < p.M/leastFull:
			return fmt.Errorf("incremental: plane %d of %d cells is full with %d bits, want one in %d at least", i, p.M, p.Limit, leastFull)
		}
		sum += p.M
	}
	return s.Hasher.Check()
}

// bloom returns the shape of plane i.
func (s Shape) bloom(i int) bloom.Shape {
	b := bloom.Shape{M: s.Planes[i].M, K: s.Planes[i].K, Hasher: s.Hasher}
	if b.M >= 64 {
		b.Group = probe.WordLog
	}
	return b
}

// Forecast tells what a filter of this shape is with n keys in it: the planes that
// are open by then, each full but for the last. A plane isn't given the keys that those
// before it answer wrongly. Its cells and bytes are those of all
// planes if n is what the filter is planned for.
func (s Shape) Forecast(n uint64) umbel.Forecast {
	fc := umbel.Forecast{Keys: n}
	no, left, set := 0.0, float64(n), 0.0 // no is the logarithm of the share of right answers
	for i, p := range s.Planes {
		if i > 0 && left <= 0 {
			break
		}
		right := math.Exp(no) // of the keys that come, the planes before answer the others wrongly
		ones, keys := p.closed()
		if left*right < keys || i == len(s.Planes)-1 {
			keys = left * right
			ones = p.ones(keys)
		}
		left -= keys / right
		no += math.Log1p(-plan.FPRateAtFill(ones/float64(p.M), p.K))
		set += keys * float64(p.K)
		fc.Cells += p.M
		fc.Bytes += (p.M + 63) / 64 * 8
	}
	fc.FPRate, fc.K = -math.Expm1(no), set/float64(max(n, 1))
	return fc
}

// New returns an empty filter of that shape, its first plane open. The error wraps
// umbel.ErrGoal if there can't be one.
func NewShape(s Shape) (*Filter, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	p, err := bloom.NewShape(s.bloom(0))
	if err != nil {
		return nil, err
	}
	s.Planes = slices.Clone(s.Planes)
	f := &Filter{shape: s, open: []*bloom.Filter{p}}
	f.newest()
	return f, nil
}

// Shape returns the filter's shape.
func (f *Filter) Shape() Shape {
	return Shape{Planes: slices.Clone(f.shape.Planes), Hasher: f.shape.Hasher}
}

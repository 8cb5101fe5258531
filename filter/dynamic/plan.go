package dynamic

import (
	"fmt"
	"math"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/filter/counting"
	"github.com/umbel-filters/umbel/filter/internal/design"
	"github.com/umbel-filters/umbel/plan"
)

// Kind describes this kind to code that handles any kind. Its filters are of type *Filter,
// or *Counting if a width of counters is given.
var Kind umbel.Kind = newKind()

func newKind() umbel.Kind {
	return design.Kind[Shape, umbel.Filter]{
		Name: Name,
		Doc:  "dynamic Bloom filter: equal layers, keys can be removed if it has counters (Guo et al. 2006)",
		Params: []umbel.ParamDoc{
			{Name: "width", Doc: "bits of a counter, rounded up to 4, 8 or 16; without it keys cannot be removed", Min: 1, Max: 16},
			{Name: "max-bytes", Doc: "limit of its memory, none by default", Min: 8, Max: 1 << 56},
		},
		Plan: planWith,
		New: func(s Shape) (umbel.Filter, error) {
			if s.Width != 0 {
				return design.AsFilter(NewCountingShape(s))
			}
			return design.AsFilter(NewShape(s))
		},
		Open: func(s umbel.State) (umbel.Filter, error) {
			if len(s.Parts) > 0 && s.Parts[0].Kind == counting.Name {
				return design.AsFilter(OpenCounting(s))
			}
			return design.AsFilter(Open(s))
		},
	}.Kind()
}

// planWith is Plan with parameters that override the defaults. It also returns the number
// of keys that a layer is planned for.
func planWith(g umbel.Goal, ps umbel.Params) (Shape, uint64, error) {
	if err := g.Check(); err != nil {
		return Shape{}, 0, err
	}
	s := Shape{MaxBytes: ps.Uint("max-bytes")}
	if width := ps.Uint("width"); width != 0 {
		for s.Width = counting.DefaultWidth; uint64(s.Width) < width; {
			s.Width *= 2
		}
		g.Bytes /= uint64(s.Width) // as a filter of bits with as many cells
	}
	if g.Keys == 0 && g.Bytes == 0 || g.FPRate == 0 && g.Bytes == 0 {
		return Shape{}, 0, fmt.Errorf("dynamic: too few bytes for the counters of 8 cells: %w", umbel.ErrGoal)
	}
	first, err := bloom.Plan(g)
	if err != nil {
		return Shape{}, 0, fmt.Errorf("dynamic: %w", err)
	}
	n, holds := g.Keys, g.Keys+spare(g.Keys, first.K)
	if n == 0 {
		holds = max(1, plan.Capacity(first.M, first.K, g.FPRate))
		n = max(1, holds-min(holds, spare(holds, first.K)))
	}
	s.Layer = first
	if g.Bytes == 0 {
		g.Keys = holds
		if s.Layer, err = bloom.Plan(g); err != nil {
			return Shape{}, 0, fmt.Errorf("dynamic: %w", err)
		}
	}
	s.Full = uint64(max(1, math.Round(float64(s.Layer.M)*plan.Fill(s.Layer.M, s.Layer.K, holds))))
	if err := s.Check(); err != nil {
		return Shape{}, 0, err
	}
	return s, n, s.fits()
}

// spare returns four standard deviations of the number of keys that fill a layer for n keys.
// They are those of half full slices, which are close to those of any planned filter
// (Johnson and Kotz 1977).
func spare(n uint64, k int) uint64 {
	if n > 1<<60 {
		return 0 // more than any filter holds; refused later
	}
	return uint64(math.Ceil(4 * math.Sqrt((1-math.Ln2)*float64(n)/float64(k)) / math.Ln2))
}

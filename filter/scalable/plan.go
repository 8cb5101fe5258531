package scalable

import (
	"fmt"
	"math"
	"sort"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/internal/design"
	"github.com/umbel-filters/umbel/plan"
)

// Kind describes this kind to code that handles any kind.
var Kind umbel.Kind = newKind()

func newKind() umbel.Kind {
	return design.Kind[Shape, *Filter]{
		Name: Name,
		Doc:  "scalable Bloom filter: grows with its keys and keeps its rate (Almeida et al. 2007)",
		Params: []umbel.ParamDoc{
			{Name: "growth", Doc: "size of a layer divided by that of the layer before, 2 by default", Min: 2, Max: MaxGrowth},
			{Name: "tightening", Doc: "rate of a layer divided by that of the layer before, 0.85 by default", Min: 0.0625, Max: 0.99, Float: true},
			{Name: "max-bytes", Doc: "limit of its memory, none by default", Min: 64, Max: 1 << 56},
		},
		Monotone: true,
		Plan:     planWith,
		New:      NewShape,
		Open:     Open,
	}.Kind()
}

// planWith is Plan with parameters that override the defaults. It also returns the number
// of keys that the first layer is planned for.
func planWith(g umbel.Goal, ps umbel.Params) (Shape, uint64, error) {
	if err := g.Check(); err != nil {
		return Shape{}, 0, err
	}
	s := Shape{Growth: DefaultGrowth, MaxBytes: ps.Uint("max-bytes"), Hasher: g.Hasher}
	if growth := ps.Uint("growth"); growth != 0 {
		s.Growth = growth
	}
	r := DefaultTightening
	if given, ok := ps.Get("tightening"); ok && given.Float() != 0 {
		r = given.Float()
	}
	s.Tightening = LogOf(r)
	if g.FPRate != 0 {
		p0, err := plan.ScalableFirstRate(g.FPRate, r)
		if err != nil {
			return Shape{}, 0, fmt.Errorf("scalable: %w: %w", err, umbel.ErrGoal)
		}
		s.First = LogOf(p0)
	}
	n := g.Keys
	if s.First > MaxK*one {
		return Shape{}, 0, fmt.Errorf("scalable: a rate of %g needs %d cells per key, want at most %d: %w", g.FPRate, s.k(0), MaxK, umbel.ErrGoal)
	}
	switch words := g.Bytes / 8; {
	case g.Bytes == 0:
		s.Slice = plan.RoundFoldable(sliceFor(n, s.k(0))/word) * word
	case n == 0:
		s.Slice = words / uint64(s.k(0)) * word
		n = keysFor(s.Slice, s.k(0))
	default:
		k := 0
		for k < MaxK && uint64(k+1)*(sliceFor(n, k+1)/word) <= words {
			k++
		}
		s.First = Log(k) * one
		if k > 0 {
			s.Slice = words / uint64(k) * word
		}
		if p := math.Exp2(-float64(k)) / (1 - r); p >= 1 {
			return Shape{}, 0, fmt.Errorf("scalable: a filter of %d bytes for %d keys that grows has no rate below 1: allow more bytes: %w", g.Bytes, n, umbel.ErrGoal)
		}
	}
	if n == 0 {
		return Shape{}, 0, fmt.Errorf("scalable: %d bytes are too few for a layer of %d slices of at least 8 bytes: allow more bytes or a higher rate: %w", g.Bytes, s.k(0), umbel.ErrGoal)
	}
	if err := s.Check(); err != nil {
		return Shape{}, 0, err
	}
	if first := s.layer(0); s.exceeds(0, first) {
		return Shape{}, 0, s.tooSmall(first)
	}
	return s, n, nil
}

// sliceFor returns the least number of cells of a slice, whole words, in which n keys set at
// most half of the cells except in one of 30,000 filters. That is four standard deviations
// of the number of keys that fill half of a layer of k slices, which is
//
//	sqrt(1 - ln 2) / ln 2 · sqrt(n/k)
//
// by the variance of occupancy (Johnson and Kotz 1977) at a load of ln 2. If n is too large
// it returns more cells than any filter has.
func sliceFor(n uint64, k int) uint64 {
	few := float64(n) + 4*math.Sqrt((1-math.Ln2)*float64(n)/float64(k))/math.Ln2
	cells := -1 / math.Expm1(-math.Ln2/few)
	if !(cells < maxCells) {
		return 2 * maxCells
	}
	return uint64(math.Ceil(cells/word)) * word
}

// keysFor returns the largest number of keys for which slices of that many cells are
// planned, 0 if there are no cells.
func keysFor(slice uint64, k int) uint64 {
	if slice == 0 || slice > maxCells {
		return slice // and refused
	}
	return uint64(sort.Search(int(slice), func(n int) bool { return sliceFor(uint64(n)+1, k) > slice }))
}

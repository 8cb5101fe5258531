package scalable

import (
	"fmt"
	"math"
	"slices"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/filter/partitioned"
	"github.com/umbel-filters/umbel/plan"
)

// Compact makes the filter smaller, and faster to ask, as far as its rate stays at
// most p, as Stats estimates it. It folds layers that are emptier than they need be,
// and joins two into one: the larger is folded to the size of the smaller and they are
// united, with the slices that both have. All keys stay. At each step it does what
// frees most memory.
//
// Where there is a step, but none keeps to p, the error wraps umbel.ErrGoal and says
// the least rate that a step gives; nothing has changed then. No layer becomes shorter
// than the first of the plan. Once compacted the filter grows as before, from the
// largest layer that is left; the rates of what it grows by come on top of p. While
// it works the old and the new form of a layer are both in memory.
func (f *Filter) Compact(p float64) error {
	least, done := 1.0, false
	for {
		steps := f.steps()
		if len(steps) == 0 {
			return nil
		}
		next := slices.IndexFunc(steps, func(s step) bool {
			if !(s.rate <= p) {
				least = min(least, s.rate)
				return false
			}
			layers := f.after(s)
			rate := rateOf(layers) // measured, and not from the fills before
			if !(rate <= p) {
				least = min(least, rate)
				return false
			}
			f.hold(ordered(layers))
			return true
		})
		if next >= 0 {
			done = true
			continue
		}
		if done {
			return nil
		}
		return fmt.Errorf("scalable: compacting %d layers gives a rate of %.3g at least, want %.3g: %w", len(f.layers), least, p, umbel.ErrGoal)
	}
}

// step is a way to compact: layers a and b joined, or, if they are one, folded.
type step struct {
	a, b  int
	slice uint64  // cells of the result's slices
	k     int     // and their number
	frees uint64  // cells
	rate  float64 // estimate for the whole filter
}

// steps returns all steps, those that free most memory first.
func (f *Filter) steps() []step {
	fills := make([]float64, len(f.layers))
	for i, l := range f.layers {
		a := bitsOf(l)
		fills[i] = float64(a.Nonzero()) / float64(a.Len)
	}
	var steps []step
	for b := range f.layers {
		for a := range b + 1 {
			if s, ok := f.step(fills, a, b); ok {
				steps = append(steps, s)
			}
		}
	}
	slices.SortStableFunc(steps, func(s, t step) int {
		switch {
		case s.frees > t.frees:
			return -1
		case s.frees < t.frees:
			return 1
		}
		return 0
	})
	return steps
}

// step returns the step that joins a and b, or folds a if they are one, and whether
// there is one. It folds once, by the growth; Compact comes back for more.
func (f *Filter) step(fills []float64, a, b int) (step, bool) {
	x, y := f.layers[a].Shape(), f.layers[b].Shape()
	s := step{a: a, b: b, k: min(x.K, y.K), slice: min(slice(x), slice(y))}
	s.frees = x.M + y.M
	if a == b {
		s.frees = x.M
		if s.slice /= f.shape.Growth; s.slice < f.shape.Slice {
			return step{}, false
		}
	}
	if s.slice < f.shape.Slice && slice(x) != slice(y) {
		return step{}, false
	}
	if s.slice%word != 0 || slice(x)%s.slice != 0 || slice(y)%s.slice != 0 {
		return step{}, false
	}
	s.frees -= s.slice * uint64(s.k)
	empty := math.Pow(1-fills[a], float64(slice(x)/s.slice))
	if a != b {
		empty *= math.Pow(1-fills[b], float64(slice(y)/s.slice))
	}
	rates := []float64{plan.FPRateAtFill(1-empty, s.k)}
	for i, l := range f.layers {
		if i != a && i != b {
			rates = append(rates, plan.FPRateAtFill(fills[i], l.Shape().K))
		}
	}
	s.rate = plan.CompoundFPRate(rates...)
	return s, true
}

// after returns the layers after a step, in memory of their own where they change.
func (f *Filter) after(s step) []*partitioned.Filter {
	x := f.layers[s.a]
	joined := narrowed(x, s.k, s.slice)
	if s.a != s.b {
		if joined.Sum(narrowed(f.layers[s.b], s.k, s.slice)) != nil {
			return f.layers // two of one size: it can't fail
		}
	}
	layers := slices.Clone(f.layers)
	shape := x.Shape()
	shape.K = s.k
	layers[s.a] = layerOf(shape, joined)
	if s.a != s.b {
		layers = slices.Delete(layers, s.b, s.b+1)
	}
	return layers
}

// narrowed returns the first k slices of a layer, folded to so many cells each: the
// bits of the layer that the same keys make with this k and size, since slice i of a
// key is value i of its stream whatever k is.
func narrowed(l *partitioned.Filter, k int, size uint64) cells.Array {
	from := slice(l.Shape())
	a := bitsOf(l)
	a.Len = from * uint64(k)
	a.Words = a.Words[:a.Len/word]
	folded, err := a.Fold(from/size, word)
	if err != nil {
		panic(err) // size divides it
	}
	return folded
}

// rateOf returns the rate of layers, at their fills.
func rateOf(layers []*partitioned.Filter) float64 {
	rates := make([]float64, len(layers))
	for i, l := range layers {
		a := bitsOf(l)
		rates[i] = plan.FPRateAtFill(float64(a.Nonzero())/float64(a.Len), l.Shape().K)
	}
	return plan.CompoundFPRate(rates...)
}

package scalable

import (
	"cmp"
	"math"
	"slices"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/internal/arrays"
	"github.com/umbel-filters/umbel/filter/internal/layered"
	"github.com/umbel-filters/umbel/internal/sentinel"
	"github.com/umbel-filters/umbel/plan"
)

// setLayers makes layers those of the filter. It sorts them by the size of their slices, and
// those of one size by their fill, the fullest first: additions go to the emptiest of the
// largest.
func (f *Filter) setLayers(layers []layered.Counted) {
	slices.SortStableFunc(layers, func(a, b layered.Counted) int {
		return cmp.Or(
			cmp.Compare(slice(a.Shape), slice(b.Shape)),
			cmp.Compare(b.Nonzero*uint64(a.Shape.K), a.Nonzero*uint64(b.Shape.K)),
		)
	})
	list := make([]layered.Layer, len(layers))
	for i, l := range layers {
		list[i] = layerOf(arrays.BitsFrom(l.Array))
	}
	f.layers.Set(list)
}

// Merge adds the keys of another scalable filter with the same hasher, of any sizes
// and rates. A layer of the other is
//
//   - omitted if one of the same shape has all its bits,
//   - united with one of the same shape if the union is at most half full,
//   - appended otherwise.
//
// The rate is at most the sum of the rates of both filters, and rises with each merge of
// full filters: Stats returns it, and Compact accepts a higher rate for fewer layers. The
// result contains the same keys in any order of merges, but its layers may differ. The error wraps
// umbel.ErrMismatch, or umbel.ErrLimit if the result exceeds
// MaxBytes; on error f is unchanged.
func (f *Filter) Merge(s umbel.State) error {
	g, err := layered.Other(f.State(), s, Open)
	if err != nil {
		return err
	}
	layers := f.layers.Counted()
	for _, l := range g.layers.Counted() {
		layers = unite(layers, l)
	}
	if err := layered.CheckCount(Name, len(layers)); err != nil {
		return err
	}
	bytes := uint64(0)
	for _, l := range layers {
		bytes += l.Shape.M / 8
	}
	if limit := f.shape.MaxBytes; limit != 0 && bytes > limit {
		return sentinel.Errorf(umbel.ErrLimit,
			"scalable: the result needs %d bytes, more than the limit of %d: raise the limit or compact one of the two", bytes, limit)
	}
	f.setLayers(layers)
	return nil
}

// unite returns layers with the keys of one more layer. It changes no cell.
func unite(layers []layered.Counted, more layered.Counted) []layered.Counted {
	for i, l := range layers {
		if l.Shape != more.Shape {
			continue
		}
		if layered.Covers(l.Cells, more.Cells) {
			return layers
		}
		half := l.Shape.M / 2
		if l.Nonzero > half || more.Nonzero > half {
			continue // and so is their union
		}
		union, err := l.Array.Clone().Merge(more.Array)
		if err != nil {
			panic(err) // they have one shape
		}
		if c := layered.Count(union); c.Nonzero <= half {
			layers[i] = c
			return layers
		}
	}
	return append(layers, more.Clone())
}

// Compact makes the filter smaller, and queries faster, as far as its rate as estimated by
// Stats remains at most p. It folds layers that are emptier than necessary, and joins two
// layers into one: the larger is folded to the size of the smaller, and the result has the
// slices that both have. All keys stay. Each step is the one that frees most memory.
//
// If steps exist but none keeps the rate within p, the error wraps umbel.ErrGoal and
// contains the least rate that a step gives; f is then unchanged. No layer becomes shorter
// than the first of the plan. A compacted filter grows as before, from its largest layer;
// the rates of new layers add to p. While Compact works, the old and the new form of a
// layer are both in memory.
func (f *Filter) Compact(p float64) error {
	least := 1.0
	for layers, steps := f.layers.Counted(), 0; ; steps++ {
		var next []layered.Counted
		options := f.steps(layers)
		for _, s := range options {
			rate := s.rate
			if rate <= p {
				next = after(layers, s)
				rate = rateOf(next) // measured, not estimated
			}
			if rate <= p {
				break
			}
			least, next = min(least, rate), nil
		}
		switch {
		case next != nil:
			f.setLayers(next)
			layers = next
		case steps > 0 || len(options) == 0:
			return nil
		default:
			return sentinel.Errorf(umbel.ErrGoal, "scalable: compacting %d layers gives a rate of at least %.3g, want %.3g", len(layers), least, p)
		}
	}
}

// step is a way to compact: to join layers a and b or, if a is b, to fold it.
type step struct {
	a, b  int
	slice uint64  // cells of the result's slices
	k     int     // and their number
	frees uint64  // cells
	rate  float64 // estimate for the whole filter
}

// steps returns all steps, those that free most memory first.
func (f *Filter) steps(layers []layered.Counted) []step {
	var steps []step
	for b := range layers {
		for a := range b + 1 {
			if s, ok := f.step(layers, a, b); ok {
				steps = append(steps, s)
			}
		}
	}
	slices.SortStableFunc(steps, func(s, t step) int { return cmp.Compare(t.frees, s.frees) })
	return steps
}

// step returns the step that joins a and b, or folds a if a is b, and whether it is
// possible. It folds once, by the growth; Compact repeats it.
func (f *Filter) step(layers []layered.Counted, a, b int) (step, bool) {
	x, y := layers[a], layers[b]
	s := step{a: a, b: b, k: min(x.Shape.K, y.Shape.K), slice: min(slice(x.Shape), slice(y.Shape))}
	s.frees = x.Shape.M + y.Shape.M
	if a == b {
		s.frees = x.Shape.M
		if s.slice /= f.shape.Growth; s.slice < f.shape.Slice {
			return step{}, false
		}
	}
	if s.slice < f.shape.Slice && slice(x.Shape) != slice(y.Shape) {
		return step{}, false
	}
	if s.slice%word != 0 || slice(x.Shape)%s.slice != 0 || slice(y.Shape)%s.slice != 0 {
		return step{}, false
	}
	s.frees -= s.slice * uint64(s.k)
	empty := math.Pow(1-x.Fill(), float64(slice(x.Shape)/s.slice))
	if a != b {
		empty *= math.Pow(1-y.Fill(), float64(slice(y.Shape)/s.slice))
	}
	rates := []float64{plan.FPRateAtFill(1-empty, s.k)}
	for i, l := range layers {
		if i != a && i != b {
			rates = append(rates, l.FPRate)
		}
	}
	s.rate = plan.CompoundFPRate(rates...)
	return s, true
}

// after returns the layers after a step. New layers are in new memory.
func after(layers []layered.Counted, s step) []layered.Counted {
	joined := narrowed(layers[s.a], s.k, s.slice)
	if s.a != s.b {
		if err := joined.Cells.Sum(narrowed(layers[s.b], s.k, s.slice).Cells); err != nil {
			panic(err) // they have one size
		}
	}
	layers = slices.Clone(layers)
	layers[s.a] = layered.Count(joined)
	if s.a != s.b {
		layers = slices.Delete(layers, s.b, s.b+1)
	}
	return layers
}

// narrowed returns the first k slices of a layer, folded to slices of that many cells. It
// equals the layer built with this k and size, since slice i of a key is value i of its
// stream for every k.
func narrowed(l layered.Counted, k int, size uint64) arrays.Array {
	from := slice(l.Shape)
	a := l.Array
	a.Shape.K = k
	a.Cells.Len = from * uint64(k)
	a.Cells.Words = a.Cells.Words[:a.Cells.Len/word]
	folded, err := a.With(a.Cells).Fold(from / size)
	if err != nil {
		panic(err) // size divides it
	}
	return folded
}

// rateOf returns the rate of layers, as Stats does.
func rateOf(layers []layered.Counted) float64 {
	rates := make([]float64, len(layers))
	for i, l := range layers {
		rates[i] = l.FPRate
	}
	return plan.CompoundFPRate(rates...)
}

package scalable

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/filter/internal/row"
	"github.com/umbel-filters/umbel/filter/partitioned"
)

// Merge takes in the keys of another scalable filter with the same hasher, whatever
// its sizes and rates. A layer of the other is
//
//   - left out if one of the same shape has all its bits,
//   - united with one of the same shape if the union isn't more than half full,
//   - appended otherwise.
//
// So the rate is at most the sum of both filters' rates, and grows with each union of
// full filters: Stats tells, Compact trades rate for fewer layers. The union holds the
// same keys in whatever order filters are merged, but its layers may differ. The error
// wraps umbel.ErrMismatch, or umbel.ErrLimit where the union is larger than MaxBytes.
func (f *Filter) Merge(s umbel.State) error {
	g, err := row.Other(f.State(), s, Open)
	if err != nil {
		return err
	}
	layers := slices.Clone(f.layers)
	for _, l := range g.layers {
		layers = unite(layers, l)
	}
	bytes := uint64(0)
	for _, l := range layers {
		bytes += l.Shape().M / 8
	}
	if limit := f.shape.MaxBytes; limit != 0 && bytes > limit {
		return fmt.Errorf("scalable: the union takes %d bytes, more than the limit of %d: raise it, or compact one of the two: %w", bytes, limit, umbel.ErrLimit)
	}
	f.hold(ordered(layers))
	return nil
}

// unite returns layers with the keys of one more. It changes none of the filters.
func unite(layers []*partitioned.Filter, more *partitioned.Filter) []*partitioned.Filter {
	for i, l := range layers {
		if l.Shape() != more.Shape() {
			continue
		}
		if row.Covers(bitsOf(l), bitsOf(more)) {
			return layers
		}
		if half := l.Shape().M / 2; bitsOf(l).Nonzero() > half || bitsOf(more).Nonzero() > half {
			continue // and so is their union
		}
		union := bitsOf(l).Clone()
		if union.Sum(bitsOf(more)) != nil || union.Nonzero() > union.Len/2 {
			continue
		}
		layers[i] = layerOf(l.Shape(), union)
		return layers
	}
	return append(layers, layerOf(more.Shape(), bitsOf(more).Clone()))
}

// ordered sorts layers by the size of their slices, and those of one size the fuller
// first, so that additions go to the emptiest of the largest.
func ordered(layers []*partitioned.Filter) []*partitioned.Filter {
	slices.SortStableFunc(layers, func(a, b *partitioned.Filter) int {
		x, y := a.Shape(), b.Shape()
		if c := cmp.Compare(slice(x), slice(y)); c != 0 {
			return c
		}
		return cmp.Compare(bitsOf(b).Nonzero()*uint64(x.K), bitsOf(a).Nonzero()*uint64(y.K))
	})
	return layers
}

func bitsOf(l *partitioned.Filter) cells.Array { return l.State().Arrays[0] }

// layerOf returns the layer of a shape, but for its k and size, with these cells.
func layerOf(s partitioned.Shape, a cells.Array) *partitioned.Filter {
	l, err := partitioned.NewShape(partitioned.Shape{M: word * uint64(s.K), K: s.K, Group: s.Group, Hasher: s.Hasher})
	if err != nil {
		panic(err) // a shape that there is
	}
	state := l.State()
	state.Arrays = []cells.Array{a}
	if l, err = partitioned.Open(state); err != nil {
		panic(err)
	}
	return l
}

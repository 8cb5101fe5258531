package dynamic

import (
	"cmp"
	"slices"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/internal/arrays"
	"github.com/umbel-filters/umbel/filter/internal/layered"
	"github.com/umbel-filters/umbel/internal/sentinel"
)

// merged returns the layers of the union of two filters. It changes no cell of either.
func merged(s, t Shape, ours, theirs []layered.Counted) ([]arrays.Array, error) {
	if s.Layer != t.Layer || s.Width != t.Width {
		return nil, sentinel.Errorf(umbel.ErrMismatch, "dynamic: one filter has layers of %d cells of %d bits with k = %d, the other of %d of %d with k = %d",
			s.Layer.M, max(s.Width, 1), s.Layer.K, t.Layer.M, max(t.Width, 1), t.Layer.K)
	}
	layers := ours
	for _, more := range theirs {
		var err error
		if layers, err = unite(s, layers, more); err != nil {
			return nil, err
		}
	}
	if err := layered.CheckCount(Name, len(layers)); err != nil {
		return nil, err
	}
	if bytes := uint64(len(layers)) * s.bytes(); s.MaxBytes != 0 && bytes > s.MaxBytes {
		return nil, sentinel.Errorf(umbel.ErrLimit,
			"dynamic: the result needs %d bytes, more than the limit of %d: raise the limit or compact one of the two", bytes, s.MaxBytes)
	}
	return arraysOf(ordered(layers)), nil
}

// unite returns layers with the keys of one more layer. It changes no cell.
func unite(s Shape, layers []layered.Counted, more layered.Counted) ([]layered.Counted, error) {
	for i, l := range layers {
		if contains(l, more) {
			return layers, nil
		}
		if l.Nonzero > s.Full || more.Nonzero > s.Full {
			continue // and so is their union
		}
		union, err := joined(l, more)
		if err != nil {
			return nil, err
		}
		if union.Nonzero <= s.Full {
			layers[i] = union
			return layers, nil
		}
	}
	return append(layers, more.Clone()), nil
}

// contains reports whether a layer needs nothing of another one: it has all its bits or,
// since counters are added, the other is empty.
func contains(l, more layered.Counted) bool {
	if l.Kind.Counters {
		return more.Nonzero == 0
	}
	return layered.Covers(l.Cells, more.Cells)
}

// joined returns the union of two layers in new memory.
func joined(a, b layered.Counted) (layered.Counted, error) {
	union, err := a.Array.Clone().Merge(b.Array)
	return layered.Count(union), err
}

// ordered sorts layers by their fill, the fullest first: additions go to the emptiest.
func ordered(layers []layered.Counted) []layered.Counted {
	slices.SortStableFunc(layers, func(a, b layered.Counted) int { return cmp.Compare(b.Nonzero, a.Nonzero) })
	return layers
}

func arraysOf(layers []layered.Counted) []arrays.Array {
	all := make([]arrays.Array, len(layers))
	for i, l := range layers {
		all[i] = l.Array
	}
	return all
}

// compacted joins layers as far as the rate remains at most p.
func compacted(layers []layered.Counted, p float64) ([]arrays.Array, error) {
	layers = ordered(layers)
	before := len(layers)
	for n := len(layers); n > 1; n = len(layers) {
		union, err := joined(layers[n-2], layers[n-1])
		if err != nil {
			return nil, err
		}
		fewer := ordered(append(slices.Clone(layers[:n-2]), union))
		if rate := rateOf(fewer); !(rate <= p) {
			if n == before {
				return nil, sentinel.Errorf(umbel.ErrGoal, "dynamic: joining two of %d layers gives a rate of at least %.3g, want %.3g", n, rate, p)
			}
			break
		}
		layers = fewer
	}
	return arraysOf(layers), nil
}

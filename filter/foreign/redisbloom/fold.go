package redisbloom

import (
	"fmt"
	"math"
	"math/bits"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/filter/internal/arrays"
	"github.com/umbel-filters/umbel/internal/sentinel"
	"github.com/umbel-filters/umbel/plan"
)

// Fold shrinks each layer by factor r: position h mod m becomes h mod m/r (Sailhan and Stehr
// 2012, equation (3), as printed). Capacities shrink as well, so that error rates stay the
// same; layers with more keys are full. If r does not divide the words of every layer, the
// error wraps umbel.ErrMismatch and the filter is unchanged. Fold allocates the new layers.
//
// The result equals, bit for bit, the same keys added to the same layers of the smaller size.
// A filter made with that size may differ, because there a key may be a false positive when
// it is added.
func (f *Filter) Fold(r uint64) error {
	if err := cells.CheckFold(f.foldable(), 64, r); err != nil {
		return f.mismatch(err)
	}
	return f.resize(r, func(l layer) (layer, error) {
		folded, err := l.array().Fold(r, l.bits/r)
		if err != nil {
			return l, err
		}
		l.hold(folded)
		l.capacity = max(l.capacity/r, 1)
		return l, nil
	})
}

// Unfold enlarges each layer, and its capacity, by factor u: see [umbel.Folder].
func (f *Filter) Unfold(u uint64) error {
	return f.resize(u, func(l layer) (layer, error) {
		over, capacity := bits.Mul64(l.capacity, u)
		if over != 0 || u > maxBits/l.bits {
			return l, fmt.Errorf("a layer of %d bits for %d keys doesn't unfold by %d", l.bits, l.capacity, u)
		}
		unfolded, err := l.array().Unfold(u, l.bits)
		if err != nil {
			return l, err
		}
		l.hold(unfolded)
		l.capacity = capacity
		return l, nil
	})
}

// copies returns the factor by which the layer was unfolded, or 1 if it finds none: see [arrays.Repeats].
func (l *layer) copies() uint64 {
	const sample = 1 << 12 // words
	words := l.words()
	return arrays.Repeats(l.bits/64, func(r uint64) (p arrays.Pairs) {
		distance := len(words) / int(r)
		for i, x := range words[:min(sample, len(words)-distance)] {
			y := words[distance+i]
			p.Left += uint64(bits.OnesCount64(x))
			p.Right += uint64(bits.OnesCount64(y))
			p.Both += uint64(bits.OnesCount64(x & y))
			p.All += 64
		}
		return p
	})
}

// foldedOnes returns the number of bits that are set after a fold by r, which must divide the words.
func (l *layer) foldedOnes(r uint64) uint64 {
	words := l.words()
	length := len(words) / int(r)
	n := 0
	for i, w := range words[:length] {
		for i += length; i < len(words); i += length {
			w |= words[i]
		}
		n += bits.OnesCount64(w)
	}
	return uint64(n)
}

// resize replaces all layers by resized ones, or none.
func (f *Filter) resize(factor uint64, change func(layer) (layer, error)) error {
	if len(f.layers) == 0 {
		return errZero
	}
	if factor == 0 {
		return f.mismatch(fmt.Errorf("a factor of 0"))
	}
	if factor == 1 {
		return nil
	}
	layers := make([]layer, len(f.layers))
	for i, l := range f.layers {
		l, err := change(l)
		if err != nil {
			return f.mismatch(err)
		}
		l.n2 = 0
		layers[i] = l
	}
	f.layers = layers
	return nil
}

// foldable returns the greatest common divisor of the layers' words. The layers fold by its
// divisors.
func (f *Filter) foldable() uint64 {
	var d uint64
	for _, l := range f.layers {
		for a := l.bits / 64; a != 0; {
			d, a = a, d%a
		}
	}
	return d
}

var errZero = arrays.NoSize(Name)

func (f *Filter) mismatch(err error) error {
	if len(f.layers) == 0 {
		return errZero
	}
	return sentinel.Errorf(umbel.ErrMismatch, "redisbloom: %w", err)
}

// Merge adds the keys of another filter with the same options and hasher. It unites layers
// with the same number and copies those that only the other filter has. The entries of a
// united layer are estimated from its bits, at least the larger count of the two and at most
// their sum; if one layer contains all bits of the other, they are the larger count. The union
// of two full layers is fuller than planned, and the next addition makes a new layer. If the
// sum of all entries exceeds 2^64 - 1, those of the newest layers are reduced. The error wraps
// umbel.ErrMismatch and contains the first difference; the filter is then unchanged.
func (f *Filter) Merge(s umbel.State) error {
	if err := f.State().CheckMatch(s); err != nil {
		return err
	}
	if len(f.layers) == 0 || len(s.Arrays) == 0 && len(s.Parts) == 0 {
		return errZero
	}
	g, err := Open(s)
	if err != nil {
		return err
	}
	if f.expansion != g.expansion || f.flags != g.flags {
		return f.mismatch(fmt.Errorf("one filter has expansion %d and options %d, the other %d and %d", f.expansion, f.flags, g.expansion, g.flags))
	}
	shared := min(len(f.layers), len(g.layers))
	for i := range shared {
		if a, b := &f.layers[i], &g.layers[i]; a.bits != b.bits || a.k != b.k || a.capacity != b.capacity || a.rate != b.rate {
			return f.mismatch(fmt.Errorf("layer %d: one has %d bits and %d per key, for %d keys at %v, the other %d and %d, for %d at %v",
				i, a.bits, a.k, a.capacity, a.rate, b.bits, b.k, b.capacity, b.rate))
		}
	}
	for i := range shared {
		f.layers[i].unite(&g.layers[i])
	}
	for _, l := range g.layers[shared:] {
		l.hold(l.array().Clone())
		f.layers = append(f.layers, l)
	}
	f.bound()
	return nil
}

// bound reduces the entries of the newest layers until all layers have at most 2^64 - 1.
// Otherwise the state would not open.
func (f *Filter) bound() {
	var sum uint64
	for i := range f.layers {
		l := &f.layers[i]
		l.entries = min(l.entries, math.MaxUint64-sum)
		sum += l.entries
	}
}

// unite adds the keys of a layer of the same design.
func (l *layer) unite(o *layer) {
	a, b := l.array(), o.array()
	own, theirs := a.Nonzero(), b.Nonzero()
	_ = a.Sum(b) // of the same size
	least := max(l.entries, o.entries)
	if all := a.Nonzero(); all != own && all != theirs {
		most := l.entries + o.entries
		if most < least {
			most = math.MaxUint64
		}
		switch n := math.Round(plan.Filter{M: l.bits, K: int(l.k)}.Keys(all).Value); {
		case n >= float64(most): // also where all bits are set, and n is infinite
			l.entries = most
		case n > float64(least):
			l.entries = uint64(n)
		default:
			l.entries = least
		}
		return
	}
	l.entries = least
}

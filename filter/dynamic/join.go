package dynamic

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/filter/counting"
	"github.com/umbel-filters/umbel/filter/internal/row"
	"github.com/umbel-filters/umbel/plan"
)

// Merge takes in the keys of another dynamic filter of bits whose parts have the same
// shape. A part of the other is left out if one of ours has all its bits, united with
// one if the union is no more than full, and appended otherwise; so the rate is at
// most the sum of both. The union holds the same keys in whatever order filters are
// merged, but its parts may differ. The error wraps umbel.ErrMismatch, or
// umbel.ErrLimit where the union is larger than MaxBytes; nothing has changed then.
func (f *Filter) Merge(s umbel.State) error {
	g, err := row.Other(f.State(), s, Open)
	if err != nil {
		return err
	}
	parts, err := merged(f.shape, g.shape, f.parts, g.parts, bloom.Open)
	if err != nil {
		return err
	}
	f.hold(parts)
	return nil
}

// Merge adds what another dynamic filter of counters holds, whose parts have the same
// shape; its keys can then be removed here. A part of the other is added to one of
// ours if the sum is no more than full, and appended otherwise. A key that both hold
// may then be in two parts, and can't be removed. Errors are those of [Filter.Merge].
func (f *Counting) Merge(s umbel.State) error {
	g, err := row.Other(f.State(), s, OpenCounting)
	if err != nil {
		return err
	}
	parts, err := merged(f.shape, g.shape, f.parts, g.parts, counting.Open)
	if err != nil {
		return err
	}
	f.hold(parts)
	return nil
}

// Compact joins parts as far as the rate stays at most p, as Stats estimates it, the
// two emptiest first (Guo et al. 2006 merge two filters whose keys one can hold). All
// keys stay. Where there are two parts or more, but none join within p, the error
// wraps umbel.ErrGoal and says the least rate that it would take; nothing has changed
// then.
func (f *Filter) Compact(p float64) error {
	parts, err := compacted(f.shape, f.parts, p, bloom.Open)
	if err != nil {
		return err
	}
	f.hold(parts)
	return nil
}

// Compact joins parts: see [Filter.Compact]. The counters of two parts are added, and
// what was added can still be removed.
func (f *Counting) Compact(p float64) error {
	parts, err := compacted(f.shape, f.parts, p, counting.Open)
	if err != nil {
		return err
	}
	f.hold(parts)
	return nil
}

// part is what bloom and counting filters share.
type part interface {
	umbel.Filter
	umbel.Merger
}

func nonzero(p part) uint64 { return p.State().Arrays[0].Nonzero() }

// has reports whether a part holds all of another: all its bits, or, since counters
// add up, nothing.
func has(p, more part) bool {
	a, b := p.State().Arrays[0], more.State().Arrays[0]
	if b.Width > 1 {
		return b.Nonzero() == 0
	}
	return row.Covers(a, b)
}

// joined returns the union of two parts, in memory of its own.
func joined[P part](a, b P, open func(umbel.State) (P, error)) (P, error) {
	c, err := open(a.State().Clone())
	if err != nil {
		return c, err
	}
	return c, c.Merge(b.State())
}

// merged returns the parts of a union: it changes none of ours and theirs.
func merged[P part](s, t Shape, ours, theirs []P, open func(umbel.State) (P, error)) ([]P, error) {
	if s.Layer != t.Layer || s.Width != t.Width {
		return nil, fmt.Errorf("dynamic: one filter has parts of %d cells of %d bits, k=%d, the other of %d of %d, k=%d: %w",
			s.Layer.M, max(s.Width, 1), s.Layer.K, t.Layer.M, max(t.Width, 1), t.Layer.K, umbel.ErrMismatch)
	}
	parts := slices.Clone(ours)
	for _, more := range theirs {
		var err error
		if parts, err = unite(s, parts, more, open); err != nil {
			return nil, err
		}
	}
	if bytes := uint64(len(parts)) * s.bytes(); s.MaxBytes != 0 && bytes > s.MaxBytes {
		return nil, fmt.Errorf("dynamic: the union takes %d bytes, more than the limit of %d: raise it, or compact one of the two: %w", bytes, s.MaxBytes, umbel.ErrLimit)
	}
	return ordered(parts), nil
}

// unite returns parts with the keys of one more. It changes none of the filters.
func unite[P part](s Shape, parts []P, more P, open func(umbel.State) (P, error)) ([]P, error) {
	for i, p := range parts {
		if has(p, more) {
			return parts, nil
		}
		if nonzero(p) > s.Full || nonzero(more) > s.Full {
			continue // and so is their union
		}
		c, err := joined(p, more, open)
		if err != nil {
			return nil, err
		}
		if nonzero(c) <= s.Full {
			parts[i] = c
			return parts, nil
		}
	}
	own, err := open(more.State().Clone())
	if err != nil {
		return nil, err
	}
	return append(parts, own), nil
}

// ordered puts the fuller parts first: additions go to the emptiest.
func ordered[P part](parts []P) []P {
	slices.SortStableFunc(parts, func(a, b P) int { return cmp.Compare(nonzero(b), nonzero(a)) })
	return parts
}

// compacted returns fewer parts, at a rate of at most p.
func compacted[P part](s Shape, parts []P, p float64, open func(umbel.State) (P, error)) ([]P, error) {
	parts = ordered(slices.Clone(parts))
	before := len(parts)
	for n := len(parts); n > 1; n = len(parts) {
		c, err := joined(parts[n-2], parts[n-1], open)
		if err != nil {
			return nil, err
		}
		fewer := ordered(append(slices.Clone(parts[:n-2]), c))
		rates := make([]float64, len(fewer))
		for i, q := range fewer {
			rates[i] = plan.FPRateAtFill(float64(nonzero(q))/float64(s.Layer.M), s.Layer.K)
		}
		if rate := plan.CompoundFPRate(rates...); !(rate <= p) {
			if n == before {
				return nil, fmt.Errorf("dynamic: joining two of %d parts gives a rate of %.3g at least, want %.3g: %w", n, rate, p, umbel.ErrGoal)
			}
			break
		}
		parts = fewer
	}
	return parts, nil
}

package sparse

import (
	"iter"
	"math/bits"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/internal/arrays"
	"github.com/umbel-filters/umbel/internal/coding/eliasfano"
	"github.com/umbel-filters/umbel/internal/sentinel"
)

// Fold shrinks the filter by factor r: the result equals the filter made with that size. If
// r does not divide the number of groups, the error wraps umbel.ErrMismatch and the filter
// is unchanged. Fold reads the list twice and makes a new one.
func (f *Filter) Fold(r uint64) error {
	if err := f.array().CheckFold(r); err != nil {
		return err
	}
	f.hold(f.folded(r))
	return nil
}

// Unfold enlarges the filter by factor u: see [umbel.Folder]. The list becomes u times as
// long, and the rate does not change.
func (f *Filter) Unfold(u uint64) error {
	l := f.all()
	hi, m := bits.Mul64(f.shape.M, u)
	if f.shape.M == 0 || hi != 0 || m == 0 || m > maxM {
		return sentinel.Errorf(umbel.ErrMismatch, "sparse: %d cells don't unfold by %d: want 1 to 2^56 cells", f.shape.M, u)
	}
	l, err := eliasfano.Build(m, l.Len()*u, regroup(l.All, f.shape.Group, func(group uint64, yield func(uint64) bool) {
		for i := range u {
			if !yield(group*u + i) {
				return
			}
		}
	}))
	if err != nil {
		return sentinel.Errorf(umbel.ErrMismatch, "sparse: %w", err)
	}
	f.hold(l)
	return nil
}

// Merge adds the keys of another sparse filter, or of a bloom filter with k = 1, with the
// same hasher and group. Filters of different sizes are folded to their greatest common
// divisor, as in kind bloom; the result has that size and its rate. The error wraps
// umbel.ErrMismatch and contains the first difference.
func (f *Filter) Merge(s umbel.State) error {
	g, err := f.other(s)
	if err != nil {
		return err
	}
	groups, err := f.array().Common(g.array())
	if err != nil {
		return err
	}
	a, b := f.folded(f.mapping.Groups/groups), g.folded(g.mapping.Groups/groups)
	f.hold(collect(a.Bound(), union(&a, b.All)))
	return nil
}

// other opens the state of the filter to merge.
func (f *Filter) other(s umbel.State) (*Filter, error) {
	if s.Kind != bloomKind {
		return arrays.Other(f.State(), s, Open)
	}
	as := umbel.State{Kind: bloomKind, Hasher: f.shape.Hasher}
	if err := as.CheckMatch(s); err != nil {
		return nil, err
	}
	return FromBloom(s)
}

// array returns the array of the equivalent bloom filter, without words.
func (f *Filter) array() arrays.Array {
	s := f.shape
	return arrays.Array{Kind: arrays.Kind{Name: Name}, Shape: arrays.Shape{M: s.M, K: 1, Group: s.Group, Hasher: s.Hasher}}
}

// folded returns the positions after a fold by r, which must divide the number of groups.
func (f *Filter) folded(r uint64) eliasfano.List {
	l := f.all()
	if r == 1 {
		return l
	}
	return collect(f.shape.M/r, regroup(l.All, f.shape.Group, func(group uint64, yield func(uint64) bool) { yield(group / r) }))
}

// foldedOnes returns the number of nonzero cells after a fold by r, which must divide the number of
// groups.
func (f *Filter) foldedOnes(r uint64) uint64 {
	if r == 1 {
		return f.ones()
	}
	n := uint64(0)
	for range regroup(f.Positions, f.shape.Group, func(group uint64, yield func(uint64) bool) { yield(group / r) }) {
		n++
	}
	return n
}

// collect returns the list of a sequence, which it reads twice.
func collect(m uint64, positions iter.Seq[uint64]) eliasfano.List {
	n := uint64(0)
	for range positions {
		n++
	}
	return must(eliasfano.Build(m, n, positions))
}

// regroup yields the positions of a sequence in new groups: to yields the new groups of a
// group. Cells keep their place within the group. New groups must be ascending; neighboring
// groups may have the same new group.
func regroup(positions iter.Seq[uint64], log uint8, to func(group uint64, yield func(uint64) bool)) iter.Seq[uint64] {
	return func(yield func(uint64) bool) {
		var group, ones uint64 // of the current new group
		flush := func() bool {
			for ; ones != 0; ones &= ones - 1 {
				if !yield(group<<log | uint64(bits.TrailingZeros64(ones))) {
					return false
				}
			}
			return true
		}
		for old, set := range words(positions, log) {
			going := true
			to(old, func(g uint64) bool {
				if g != group {
					going = flush()
					group = g
				}
				ones |= set
				return going
			})
			if !going {
				return
			}
		}
		flush()
	}
}

// words yields the nonempty groups of 2^log cells, each with its cells as bits.
func words(positions iter.Seq[uint64], log uint8) iter.Seq2[uint64, uint64] {
	return func(yield func(group, ones uint64) bool) {
		var group, ones uint64
		for x := range positions {
			if x>>log != group && ones != 0 {
				if !yield(group, ones) {
					return
				}
				ones = 0
			}
			group = x >> log
			ones |= 1 << (x & (1<<log - 1))
		}
		if ones != 0 {
			yield(group, ones)
		}
	}
}

// union yields the positions of a list and of a sequence in ascending order, once each.
func union(l *eliasfano.List, others iter.Seq[uint64]) iter.Seq[uint64] {
	return func(yield func(uint64) bool) {
		c := l.Cursor()
		x, ok := c.Next()
		for y := range others {
			for ; ok && x < y; x, ok = c.Next() {
				if !yield(x) {
					return
				}
			}
			if ok && x == y {
				x, ok = c.Next()
			}
			if !yield(y) {
				return
			}
		}
		for ; ok; x, ok = c.Next() {
			if !yield(x) {
				return
			}
		}
	}
}

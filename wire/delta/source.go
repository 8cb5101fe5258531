package delta

import (
	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/internal/sentinel"
)

// The forms of an array (spec/delta.md, "Layout"). Numbers are never reused.
const (
	formNew    = 0
	formSame   = 1
	formFold   = 2
	formUnfold = 3
	formRefine = 4
)

// Codings of predicted blocks, in addition to those of containers (spec/delta.md, "Arrays
// with a prediction"). A coding plus codingRun is that of a run of blocks.
const (
	codingSame      = 128 // as predicted
	codingDelta     = 130 // given the prediction
	codingPositions = 132 // the bits that change
	codingList      = 136 // the cells or groups that change
	codingGaps      = 138 // the bits that change, by the gaps between them
	codingRun       = 1
)

// allParams is written instead of a number of changed parameters if all follow.
const allParams = 255

// maxRun is the most blocks of a run that has a payload, except of one with lists: 4 MiB.
const maxRun = 64

// Bounds of the factors of refinements: a unit has as many strings as the sum of the prime
// factors, and takes memory in proportion to the factor.
const (
	maxRefineFactor = 4096
	maxRefinePrime  = 61
)

// source is where an array of the result comes from.
type source struct {
	form          byte
	index         byte   // of an array of the base
	factor, group uint64 // of a fold or an unfold; a group is counted in cells
}

// resizes reports whether the result's array has another length than that of the base.
func (s source) resizes() bool { return s.form >= formFold }

// runs returns the most blocks that may be coded together. It is 1 if the array unfolds, so
// that a short message can't become a large array.
func (s source) runs() uint64 {
	if s.form > formFold {
		return 1
	}
	return maxRun
}

// shape returns the width and the length of the array that s makes of an array of the base.
// It returns an error wrapping umbel.ErrCorrupt if s doesn't fit base.
func (s source) shape(base cells.Array) (cells.Array, error) {
	a := cells.Array{Width: base.Width, Len: base.Len}
	if !s.resizes() {
		return a, nil
	}
	if s.factor == 0 || s.group == 0 || base.Len%s.group != 0 {
		return a, sentinel.Errorf(umbel.ErrCorrupt, "factor %d and groups of %d cells for an array of %d", s.factor, s.group, base.Len)
	}
	if s.form == formFold {
		if err := cells.CheckFold(base.Len/s.group, s.group, s.factor); err != nil {
			return a, sentinel.Wrap(umbel.ErrCorrupt, err)
		}
		a.Len /= s.factor
		return a, nil
	}
	if s.form == formRefine && (a.Width > 1 || !refinable(s.factor)) {
		return a, sentinel.Errorf(umbel.ErrCorrupt, "an array of cells of %d bits, refined by %d", a.Width, s.factor)
	}
	if base.Len > ^uint64(0)/s.factor {
		return a, sentinel.Errorf(umbel.ErrCorrupt, "an array of %d cells, unfolded by %d", base.Len, s.factor)
	}
	a.Len *= s.factor
	return a, nil
}

// refinable reports whether arrays can be refined by u.
func refinable(u uint64) bool {
	if u < 2 || u > maxRefineFactor {
		return false
	}
	for p := uint64(2); p <= maxRefinePrime; p++ {
		for u%p == 0 {
			u /= p
		}
	}
	return u == 1
}

// predict returns the prediction that s makes of an array of the base, in memory of its own;
// for a refinement it is zero. The shape must be valid.
func (s source) predict(base cells.Array) (cells.Array, error) {
	switch s.form {
	case formFold:
		return base.Fold(s.factor, s.group)
	case formUnfold:
		return base.Unfold(s.factor, s.group)
	case formRefine:
		return cells.New(base.Len*s.factor, 1)
	}
	return base.Clone(), nil
}

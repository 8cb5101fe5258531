package wire

import (
	"fmt"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
)

// source is where a plane of a delta's result comes from.
type source struct {
	form          byte
	index         byte   // of a plane of the base
	factor, group uint64 // of a fold or an unfold; a group is counted in cells
}

// resizes reports whether the plane has another length than that of the base.
func (s source) resizes() bool { return s.form >= formFold }

// together returns how many blocks may be coded together: one where the plane unfolds.
func (s source) together() uint64 {
	if s.form > formFold {
		return 1
	}
	return mostQuiet
}

// shape returns the width and the number of cells of what predict makes of a plane of
// the base. The error wraps umbel.ErrCorrupt.
func (s source) shape(base cells.Array) (cells.Array, error) {
	a := cells.Array{Width: max(base.Width, 1), Len: base.Len}
	if !s.resizes() {
		return a, nil
	}
	if s.factor == 0 || s.group == 0 || base.Len%s.group != 0 {
		return a, fmt.Errorf("factor %d and groups of %d cells, of a plane of %d: %w", s.factor, s.group, base.Len, umbel.ErrCorrupt)
	}
	if s.form == formFold {
		if err := cells.CheckFold(base.Len/s.group, s.group, s.factor); err != nil {
			return a, fmt.Errorf("%w: %w", err, umbel.ErrCorrupt)
		}
		a.Len /= s.factor
		return a, nil
	}
	if s.form == formRefine && (a.Width > 1 || !refinable(s.factor)) {
		return a, fmt.Errorf("a plane of cells of %d bits, refined by %d: %w", a.Width, s.factor, umbel.ErrCorrupt)
	}
	if base.Len > ^uint64(0)/s.factor {
		return a, fmt.Errorf("a plane of %d cells, unfolded by %d: %w", base.Len, s.factor, umbel.ErrCorrupt)
	}
	a.Len *= s.factor
	return a, nil
}

// refinable reports whether planes refine by u.
func refinable(u uint64) bool {
	if u < 2 || u > maxRefined {
		return false
	}
	for p := uint64(2); p <= maxPrime; p++ {
		for u%p == 0 {
			u /= p
		}
	}
	return u == 1
}

// predict returns what the plane is expected to be, in memory of its own; that is zero
// if it refines. The shape is known to be right.
func (s source) predict(base cells.Array) (cells.Array, error) {
	base.Width = max(base.Width, 1)
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

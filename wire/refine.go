package wire

import (
	"fmt"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
)

// Refine appends the delta from a filter that was folded to what it was before: what
// the fold doesn't say of it. A small fold may be sent at once and the rest later: both
// together take no more than the whole does, as H(B) = H(fold) + H(B | fold). [Apply]
// takes the delta, with the fold for the old state.
//
// Each plane of folded must be the fold of that of full, all by one factor, or equal to
// it; params may differ. On error dst comes back as it was. The error wraps
// umbel.ErrMismatch if that isn't so, and says where; otherwise errors are those of
// [Delta].
func Refine(dst []byte, folded, full umbel.State) ([]byte, error) {
	return Differ{}.Refine(dst, folded, full)
}

// Refine is [Refine].
func (o Differ) Refine(dst []byte, folded, full umbel.State) ([]byte, error) {
	if err := checkBoth(folded, full); err != nil {
		return dst, err
	}
	r := uint64(1)
	if err := checkFolds(folded, full, &r); err != nil {
		return dst, fmt.Errorf("wire: refine: %w: %w", err, umbel.ErrMismatch)
	}
	return o.Delta(dst, folded, full)
}

// checkFolds returns an error unless one state is the fold of the other by r, or by any
// factor if r is 1; it sets r to the factor.
func checkFolds(folded, full umbel.State, r *uint64) error {
	if a, b := len(folded.Arrays), len(full.Arrays); a != b {
		return fmt.Errorf("the fold has %d planes, the filter %d", a, b)
	}
	if a, b := len(folded.Parts), len(full.Parts); a != b {
		return fmt.Errorf("the fold has %d parts, the filter %d", a, b)
	}
	for i, a := range full.Arrays {
		if err := checkFold(folded.Arrays[i], a, r); err != nil {
			return fmt.Errorf("plane %d: %w", i, err)
		}
	}
	for i, p := range full.Parts {
		if err := folded.Parts[i].Alike(p); err != nil {
			return fmt.Errorf("part %d: %v", i, err)
		}
		if err := checkFolds(folded.Parts[i], p, r); err != nil {
			return fmt.Errorf("part %d: %w", i, err)
		}
	}
	return nil
}

// checkFold is checkFolds for a plane.
func checkFold(folded, full cells.Array, r *uint64) error {
	if folded.Equal(full) {
		return nil
	}
	if !divide(folded, full) || folded.Len > full.Len {
		return fmt.Errorf("%d cells of %d bits are no fold of %d of %d", folded.Len, max(folded.Width, 1), full.Len, max(full.Width, 1))
	}
	factor := full.Len / folded.Len
	if *r > 1 && factor != *r {
		return fmt.Errorf("folded by %d, another plane by %d", factor, *r)
	}
	*r = factor
	for _, group := range groups(folded.Len) {
		s := source{form: formUnfold, factor: factor, group: group}
		if b0, a0 := s.heads(folded, full); s.folds(b0, a0) && s.folds(folded, full) {
			return nil
		}
	}
	return fmt.Errorf("%d cells have the size of a fold of %d by %d, and other content", folded.Len, full.Len, factor)
}

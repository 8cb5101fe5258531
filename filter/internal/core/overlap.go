package core

import (
	"fmt"

	"github.com/umbel-filters/umbel/plan"
)

// Overlap estimates the numbers of keys in the union and in the intersection of two
// filters: see plan.IntersectionKeys. It folds copies to a common size and takes memory for
// one more array. The error wraps umbel.ErrMismatch; a and b are unchanged.
func (a Array) Overlap(b Array) (union, intersection plan.Estimate, err error) {
	if a.Shape.Hasher != b.Shape.Hasher {
		return union, intersection, a.mismatch(fmt.Errorf("the filters have different hashers"))
	}
	common, err := a.Common(b)
	if err != nil {
		return union, intersection, err
	}
	if a, err = a.foldTo(common); err != nil {
		return union, intersection, err
	}
	if b, err = b.foldTo(common); err != nil {
		return union, intersection, err
	}
	both, err := a.Clone().Merge(b)
	if err != nil {
		return union, intersection, err
	}
	m, k, ones := both.Shape.M, both.Shape.K, both.Cells.Nonzero()
	return plan.KeysInterval(m, k, ones), plan.IntersectionKeys(m, k, a.Cells.Nonzero(), b.Cells.Nonzero(), ones), nil
}

package share

import (
	"errors"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/internal/sentinel"
)

// foldState returns a state folded by r, in memory of its own. Errors are those of fold.
func foldState(kinds umbel.Kinds, s umbel.State, r uint64) (umbel.State, error) {
	f, err := kinds.Open(s)
	if err == nil {
		err = fold(f, r)
	}
	if err != nil {
		return umbel.State{}, err
	}
	return f.State(), nil
}

// fold folds f by r, into memory of its own. The error wraps umbel.ErrMismatch if r does not fit, and
// errors.ErrUnsupported if the kind has no folds.
func fold(f umbel.Filter, r uint64) error {
	folder, ok := f.(umbel.Folder)
	if !ok {
		return sentinel.Errorf(errors.ErrUnsupported, "filters of kind %s cannot be folded", f.State().Kind)
	}
	return folder.Fold(r)
}

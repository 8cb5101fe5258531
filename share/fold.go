package share

import (
	"errors"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/internal/sentinel"
)

// foldState returns a state folded by r, in memory of its own. The error wraps umbel.ErrMismatch if r does
// not fit, and errors.ErrUnsupported if the kind has no folds.
func foldState(kinds umbel.Kinds, s umbel.State, r uint64) (umbel.State, error) {
	f, err := kinds.Open(s)
	if err != nil {
		return umbel.State{}, err
	}
	folder, ok := f.(umbel.Folder)
	if !ok {
		return umbel.State{}, sentinel.Errorf(errors.ErrUnsupported, "filters of kind %s cannot be folded", s.Kind)
	}
	if err := folder.Fold(r); err != nil {
		return umbel.State{}, err
	}
	return f.State(), nil
}

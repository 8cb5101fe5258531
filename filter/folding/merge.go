package folding

import (
	"fmt"
	"slices"

	"github.com/umbel-filters/umbel"
)

// Merge takes in the keys of another folding filter whose base goes together with
// this one's: of bits or of counters as here, with the same k, hasher and width. Bases
// of unlike sizes are folded to the greatest common divisor, as bloom.Filter.Merge
// does, and the union is then planned for as few keys. The interval stays that of f.
// The error wraps umbel.ErrMismatch and says the first difference.
func (f *Filter) Merge(s umbel.State) error {
	if err := f.State().Alike(s); err != nil {
		return err
	}
	if f.base == nil || isZero(s) {
		return zero()
	}
	g, err := open(s)
	if err != nil {
		return err
	}
	if err := f.base.Merge(g.base.State()); err != nil {
		return fmt.Errorf("folding: bases: %w", err)
	}
	f.stand(f.base)
	// Neither filter fits into a smaller face than it has, and less so the two.
	i, _ := slices.BinarySearch(f.ladder, max(f.face.cells.Len, g.face.cells.Len))
	f.fold(f.ladder[min(i, len(f.ladder)-1)])
	f.grow()
	return nil
}

func zero() error {
	return fmt.Errorf("folding: a zero Filter has no size: make it with New: %w", umbel.ErrMismatch)
}

func mismatch(err error) error { return fmt.Errorf("folding: %w: %w", err, umbel.ErrMismatch) }

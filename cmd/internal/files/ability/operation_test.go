package ability

import (
	"errors"
	"slices"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/engine/operation"
	"github.com/umbel-filters/umbel/filter"
)

// The table of operations and that of abilities agree for the filters of all kinds: each operation that a filter
// does not list is an ErrUnsupported and changes nothing.
func TestOperations(t *testing.T) {
	word := map[*operation.Operation]string{operation.Unfold: "fold"} // one ability for both
	for _, op := range operation.All {
		w := op.Name
		if other, ok := word[op]; ok {
			w = other
		}
		performed, refused := 0, 0
		for _, kind := range filter.All {
			err := samples(kind, func(f umbel.Filter, _ string) {
				n := umbel.Uint(2)
				if op.Number.Rate {
					n = umbel.Float(0.5)
				}
				can, before := slices.Contains(In(f), w), f.State().Clone()
				err := op.Do(f, n)
				switch {
				case can != (op.Check(f) == nil), !can && !errors.Is(err, errors.ErrUnsupported):
					t.Errorf("%s of kind %s, with the ability %v: %v", op.Name, kind.Name, can, err)
				case can:
					performed++
				case !f.State().Equal(before):
					t.Errorf("%s, which kind %s does not support, changes the filter", op.Name, kind.Name)
				default:
					refused++
				}
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		if performed == 0 || refused == 0 {
			t.Errorf("%s: %d filters support it, %d do not; want some of both", op.Name, performed, refused)
		}
	}
}

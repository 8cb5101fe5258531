package compare_test

import (
	"errors"
	"sync"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter"
	"github.com/umbel-filters/umbel/filter/compare"
	"github.com/umbel-filters/umbel/filter/folding"
	"github.com/umbel-filters/umbel/internal/fixture"
)

// Comparisons change neither filter, of any kind, sizes and numbers of keys, also where the state does not show it, and
// are safe to call concurrently with queries.
func TestComparisonsChangeNothing(t *testing.T) {
	var filters []umbel.Filter
	for _, k := range filter.All {
		for _, keys := range []uint64{100, 1000} {
			f, err := k.New(umbel.Goal{Keys: keys, FPRate: 0.01}, nil)
			if err != nil {
				t.Fatal(k.Name, err)
			}
			umbel.AddAll(f, nil, fixture.Digests(keys, int(keys)))
			filters = append(filters, f)
		}
	}
	base, err := folding.NewCounting(1000, 0.01)
	if err != nil {
		t.Fatal(err)
	}
	filters = append(filters, base)
	compared := 0
	for _, a := range filters {
		for _, b := range filters {
			before := [2]uint64{fixture.Memory(a), fixture.Memory(b)}
			if both(t, a, b) {
				compared++
			}
			if before != [2]uint64{fixture.Memory(a), fixture.Memory(b)} {
				t.Errorf("a comparison of kinds %s and %s changes one of them", a.State().Kind, b.State().Kind)
			}
		}
	}
	if compared < len(filters) {
		t.Errorf("%d of %d pairs can be compared, want at least each filter with itself", compared, len(filters)*len(filters))
	}
}

// both compares two filters in two goroutines, and reports whether they can be compared.
func both(t *testing.T, a, b umbel.Filter) bool {
	_, err := compare.Bits(a)
	if err != nil && !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("bits of kind %s: %v", a.State().Kind, err)
	}
	var goroutines sync.WaitGroup
	for range 2 {
		goroutines.Go(func() {
			_, _ = compare.Of(filter.All, a, b)
			_, _ = compare.Intersection(filter.All, a, b)
			a.Has(umbel.Digest{H1: 1})
			b.Has(umbel.Digest{H1: 1})
		})
	}
	goroutines.Wait()
	_, err = compare.Of(filter.All, a, b)
	return err == nil
}

package filter_test

import (
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter"
	"github.com/umbel-filters/umbel/internal/fixture"
)

// The interval of the number of few keys holds it in about 95 of 100 filters of any kind, also at low rates, where it is narrower than
// one key.
func TestIntervalsOfFewKeys(t *testing.T) {
	const filters = 400
	const most = 5*filters/100 + 3*9/2 // 3 standard deviations above 5 %
	for _, kind := range filter.All {
		for _, c := range []struct {
			planned uint64
			rate    float64
			keys    int
		}{{10, 1e-3, 3}, {10, 1e-6, 3}, {10, 1e-6, 10}, {40, 1e-3, 3}, {40, 1e-3, 10}, {40, 1e-6, 40}} {
			g := umbel.Goal{Keys: c.planned, FPRate: c.rate}
			if kind.Name == "nixbloom" {
				g.Hasher.Alg = umbel.Caller
			}
			outside := 0
			for i := range uint64(filters) {
				f, err := kind.New(g, nil)
				if err != nil {
					t.Logf("%s: %v", kind.Name, err)
					break
				}
				umbel.AddAll(f, nil, fixture.Digests(i*7919+1, c.keys))
				if s, ok := f.(umbel.Sealer); ok {
					if err := s.Seal(); err != nil {
						t.Fatal(err)
					}
				}
				if s := f.Stats(); s.Low > float64(c.keys) || s.High < float64(c.keys) {
					outside++
				}
			}
			if outside > most {
				t.Errorf("%s of %+v: outside in %d of %d filters", kind.Name, c, outside, filters)
			}
		}
	}
}

package redisbloom_test

import (
	"testing"

	"github.com/umbel-filters/umbel/filter/foreign/redisbloom"
	"github.com/umbel-filters/umbel/internal/fixture"
)

// The interval of the number of keys also holds it in small filters, in which a key may have few different bits: in 94 of 100 filters
// at least, of which 95 are meant and one is chance.
func TestIntervalOfFewKeys(t *testing.T) {
	for _, c := range []struct {
		planned uint64
		rate    float64
		keys    int
	}{
		{5, 0.1, 1}, {5, 0.001, 1}, {5, 0.001, 2}, {5, 0.001, 5}, {5, 0.0001, 3}, {5, 0.0001, 5}, {10, 0.1, 3}, {10, 0.01, 3}, {10, 0.01, 10},
		{10, 0.0001, 5}, {10, 0.0001, 10}, {20, 0.001, 3}, {20, 0.0001, 5}, {20, 0.0001, 20}, {20, 1e-6, 20}, {50, 0.1, 5}, {50, 0.01, 5},
		{50, 0.01, 15}, {50, 0.01, 100}, {50, 0.0001, 5}, {50, 0.0001, 50}, {50, 1e-9, 50}, {500, 0.01, 50},
	} {
		const filters = 1000
		inside := 0
		for i := range uint64(filters) {
			f := fixture.Must(redisbloom.New(c.planned, c.rate))
			f.AddAll(nil, fixture.Digests(i*7919+1, c.keys))
			if s := f.Stats(); s.Low <= float64(c.keys) && float64(c.keys) <= s.High {
				inside++
			}
		}
		t.Logf("%d keys for %d at %v: %.1f %% inside", c.keys, c.planned, c.rate, 100*float64(inside)/filters)
		if inside < filters*94/100 {
			t.Errorf("%d keys for %d at %v: the interval holds the number of keys in %d of %d filters", c.keys, c.planned, c.rate, inside, filters)
		}
	}
}

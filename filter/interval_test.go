package filter_test

import (
	"math"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/foreign/redisbloom"
	"github.com/umbel-filters/umbel/filter/scalable"
	"github.com/umbel-filters/umbel/internal/fixture"
)

// TestIntervalsOfLayers: the intervals of kinds with layers contain the number of keys in about 95
// percent of filters, also at rates at which many keys are skipped as false positives of older
// layers. Of 200 filters, 2 sigma are 3 percent. Package dynamic has a test of its own.
func TestIntervalsOfLayers(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	for _, c := range []struct {
		kind  umbel.Kind
		keys  uint64
		rate  float64
		added int
	}{
		{scalable.Kind, 300, 0.2, 9000},
		{redisbloom.Kind, 300, 0.2, 9000},
	} {
		const filters = 200
		var inside, width, mean float64
		for i := range uint64(filters) {
			f := fixture.Must(c.kind.New(umbel.Goal{Keys: c.keys, FPRate: c.rate}, nil))
			for _, d := range fixture.Digests(i+1, c.added) {
				f.Add(d)
			}
			s := f.Stats()
			if n := float64(c.added); s.Low <= n && n <= s.High {
				inside++
			}
			width += (s.High - s.Low) / filters
			mean += s.Keys / filters
		}
		t.Logf("%s for %d at %v: %.1f %% inside, %.1f on average, a width of %.0f", c.kind.Name, c.keys, c.rate, inside/filters*100, mean, width)
		if math.Abs(inside/filters-0.95) > 0.05 {
			t.Errorf("%s for %d at %v: the interval contains the keys of %.1f %% of filters", c.kind.Name, c.keys, c.rate, inside/filters*100)
		}
	}
}

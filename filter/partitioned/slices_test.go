package partitioned_test

import (
	"testing"

	"github.com/umbel-filters/umbel/filter/partitioned"
	"github.com/umbel-filters/umbel/plan"
)

// TestStatsOfFewKeys: with few keys, Stats.FPRate is about 1 % above the product of the fill ratios
// of the slices, on average, because it uses the average fill ratio.
func TestStatsOfFewKeys(t *testing.T) {
	const filters, n = 4000, 24
	shape := partitioned.Shape{M: 240, K: 6}
	want := plan.PartitionedFPRate(shape.M, shape.K, n)
	rate := 0.0
	for i := range filters {
		rate += filled(t, shape, uint64(i+1), n).Stats().FPRate / filters
	}
	t.Logf("a rate of %.5f on average, expected %.5f: %.4f", rate, want, rate/want)
	if r := rate / want; r < 1.002 || r > 1.02 {
		t.Errorf("FPRate is %.4f of the expected rate, want about 1.01", r)
	}
}

package dynamic_test

import (
	"testing"

	"github.com/umbel-filters/umbel/filter/dynamic"
	"github.com/umbel-filters/umbel/internal/fixture"
)

// TestStatsOfDependentLayers: at a high rate of the layers, Stats is too low by the documented
// amounts, because a later layer does not contain the false positives of the earlier ones.
func TestStatsOfDependentLayers(t *testing.T) {
	const filters, keys, queries = 20, 12_000, 40_000
	var measured, stated, counted float64
	for i := range filters {
		f := fixture.Must(dynamic.New(2000, 0.1))
		for _, d := range fixture.Digests(uint64(2*i+1), keys) {
			f.Add(d)
		}
		for _, d := range fixture.Digests(uint64(2*i+2), queries) {
			if f.Has(d) {
				measured += 1.0 / queries / filters
			}
		}
		s := f.Stats()
		stated += s.FPRate / filters
		counted += s.Keys / filters
	}
	t.Logf("a rate of %.4f, measured %.4f; %.0f of %d keys", stated, measured, counted, keys)
	if r := stated / measured; r < 0.95 || r > 0.98 {
		t.Errorf("FPRate is %.3f of the measured rate, want about 0.96", r)
	}
	if r := counted / keys; r < 0.98 || r > 0.995 {
		t.Errorf("Keys is %.4f of the number of keys, want about 0.99", r)
	}
}

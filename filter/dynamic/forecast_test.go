package dynamic_test

import (
	"math"
	"testing"

	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/filter/dynamic"
)

// TestForecastOfAnyShape: forecasts of shapes whose layers are full at any number of cells, also at all of them, are rates that rise
// with the number of keys.
func TestForecastOfAnyShape(t *testing.T) {
	for _, m := range []uint64{1, 8, 64, 1000, 1 << 20, 1 << 56} {
		for _, k := range []int{1, 2, 7, 64, 256} {
			for _, full := range []uint64{1, m / 2, m - m/100, m - 1, m} {
				s := dynamic.Shape{Layer: bloom.Shape{M: m, K: k}, Full: full}
				if full == 0 {
					continue
				}
				last := 0.0
				for n := uint64(1); ; n *= 16 {
					fc := s.Forecast(n)
					if !(fc.FPRate >= last*(1-1e-6) && fc.FPRate <= 1) || fc.Cells < m || fc.Bytes < m/8 {
						t.Errorf("%d cells, k=%d, full with %d, %d keys: %+v after a rate of %v", m, k, full, n, fc, last)
					}
					if last = fc.FPRate; n > math.MaxUint64/16 {
						break
					}
				}
			}
		}
	}
}

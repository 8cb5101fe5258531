package counting

import (
	"fmt"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/plan"
)

// explain returns the formulas behind a shape that is for n keys.
func explain(s Shape, n uint64) []umbel.Formula {
	s = s.withDefaults()
	limit := uint64(1)<<s.Width - 1
	m, k := float64(s.M), float64(s.K)
	fan := "Fan, Cao, Almeida and Broder 2000, section V-C"
	return []umbel.Formula{
		{
			What:    fmt.Sprintf("false-positive rate with %d keys, that of the bloom filter with as many cells", n),
			General: "(1 - (1 - 1/m)^(kn))^k",
			Numbers: fmt.Sprintf("(1 - (1 - 1/%d)^(%d·%d))^%d", s.M, s.K, n, s.K),
			Value:   fmt.Sprintf("%.4g", plan.FPRate(s.M, s.K, n)),
			Source:  "Bloom 1970; Mullin 1983",
		},
		{
			What:    "counters that saturate, each key added once; the probability that one does is no more",
			General: "m P[Bin(kn, 1/m) >= 2^w - 1]",
			Numbers: fmt.Sprintf("%d P[Bin(%d·%d, 1/%d) >= %d]", s.M, s.K, n, s.M, limit),
			Value:   fmt.Sprintf("%.4g", plan.CounterOverflow(s.M, s.K, n, limit)),
			Source:  fan,
		},
		{
			What:    "a bound on that, by hand",
			General: "m (e k n / (j m))^j, j = 2^w - 1",
			Numbers: fmt.Sprintf("%d (e·%d·%d / (%d·%d))^%d", s.M, s.K, n, limit, s.M, limit),
			Value:   fmt.Sprintf("%.4g", plan.CounterOverflowPower(s.M, s.K, n, limit)),
			Source:  fan,
		},
		{
			What:    "positions at a counter, on average: 0.69 where the rate is least for the memory",
			General: "k n / m",
			Numbers: fmt.Sprintf("%d·%d / %d", s.K, n, s.M),
			Value:   fmt.Sprintf("%.3g", k*float64(n)/m),
			Source:  "Bloom 1970",
		},
		{
			What:    "memory",
			General: "m w / 8",
			Numbers: fmt.Sprintf("%d·%d / 8", s.M, s.Width),
			Value:   fmt.Sprintf("%d bytes", s.Forecast(n).Bytes),
			Source:  "in whole words of 8 bytes",
		},
	}
}

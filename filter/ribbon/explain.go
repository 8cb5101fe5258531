package ribbon

import (
	"fmt"
	"math"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/internal/design"
	"github.com/umbel-filters/umbel/plan"
)

// explain returns the formulas behind a filter of this shape, sealed with n keys.
func (s Shape) explain(n uint64) []umbel.Formula {
	fc := s.Forecast(n)
	columns, shards := s.Steps/plan.RibbonSteps, plan.RibbonShards(n)
	slots := n + shards*plan.RibbonSpare + shards/2
	blocks, table := (slots+word-1)/word, (shards+1)/2
	upper := fc.Bytes/8 - uint64(columns)*blocks - table
	share := 2 * (1 - math.Ldexp(fc.FPRate, columns))
	const source = "Dillinger and Walzer 2021"
	fs := []umbel.Formula{{
		What:    fmt.Sprintf("false-positive rate, p: c columns, and one more for a share x of %d keys", n),
		General: "(1 - x/2) / 2^c",
		Numbers: fmt.Sprintf("(1 - %.9g/2) / 2^%d", share, columns),
		Value:   fmt.Sprintf("%.6g", fc.FPRate),
		Source:  source,
	}, {
		What:    "columns that a key has, in the mean, of s steps",
		General: "s / 256",
		Numbers: fmt.Sprintf("%d / 256", s.Steps),
		Value:   fmt.Sprintf("%.6g columns", s.k()),
		Source:  source,
	}, {
		What:    "shards, each solved by itself, z",
		General: "ceil(n / 1500)",
		Numbers: fmt.Sprintf("ceil(%d / 1500)", n),
		Value:   fmt.Sprintf("%d shards", shards),
	}, {
		What:    "slots: 4 more in each shard than keys, and for each other one a try that failed, w",
		General: "n + 4·z + z/2",
		Numbers: fmt.Sprintf("%d + 4·%d + %d/2", n, shards, shards/2*2),
		Value:   fmt.Sprintf("%d slots", slots),
	}, {
		What:    "memory: blocks of 64 slots, u of which have a column more, and 4 bytes for each shard",
		General: "8 · (c·ceil(w / 64) + u + ceil(z / 2))",
		Numbers: fmt.Sprintf("8 · (%d·ceil(%d / 64) + %d + ceil(%d / 2))", columns, slots, upper, shards),
		Value:   fmt.Sprintf("%d bytes", fc.Bytes),
	}, {
		What:    "the least of any filter with that rate",
		General: "log2(1/p)",
		Numbers: fmt.Sprintf("log2(1/%.6g)", fc.FPRate),
		Value:   fmt.Sprintf("%.4g bits per key", -math.Log2(fc.FPRate)),
		Source:  "Carter, Floyd, Gill, Markowsky and Wegman 1978",
	}}
	return append(fs, design.BitsPerKey(fc.Cells, n, fc.FPRate)...)
}

package sparse

import (
	"fmt"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/internal/eliasfano"
	"github.com/umbel-filters/umbel/plan"
)

// explain returns the formulas behind a filter of this shape with n keys in it.
func (s Shape) explain(n uint64) []umbel.Formula {
	m, p, bits := s.M, plan.FPRate(s.M, 1, n), plan.SparseBits(s.M, n)
	x := min(n, m)
	low, buckets := eliasfano.Low(x, m), eliasfano.HighBits(x, m)-x
	fs := []umbel.Formula{{
		What:    fmt.Sprintf("false-positive rate with %d keys, p: the share of cells that are then set", n),
		General: "1 - (1 - 1/m)^n",
		Numbers: fmt.Sprintf("1 - (1 - 1/%d)^%d", m, n),
		Value:   fmt.Sprintf("%.6g", p),
		Source:  "Bloom 1970, with k = 1",
	}}
	if size, err := plan.SizeForK(n, 1, p); err == nil {
		fs = append(fs, umbel.Formula{
			What:    "least size with that rate, m",
			General: "1 / (1 - (1 - p)^(1/n))",
			Numbers: fmt.Sprintf("1 / (1 - (1 - %.9g)^(1/%d))", p, n),
			Value:   fmt.Sprintf("%d cells", size),
			Source:  "the first formula, solved for m",
		})
	}
	return append(fs, umbel.Formula{
		What:    "low bits of a position, l",
		General: "ceil(log2(q + 1)) - 1, where q is m / x rounded down, x the smaller of n and m",
		Numbers: fmt.Sprintf("ceil(log2(%d + 1)) - 1", m/x),
		Value:   fmt.Sprintf("%d bits", low),
		Source:  "Elias 1974",
	}, umbel.Formula{
		What:    "memory at most, in words of 8 bytes: low bits, and the other bits of x positions in unary",
		General: "8 · (ceil(x·l / 64) + ceil((x + ceil(m / 2^l)) / 64))",
		Numbers: fmt.Sprintf("8 · (ceil(%d·%d / 64) + ceil((%d + %d) / 64))", x, low, x, buckets),
		Value:   fmt.Sprintf("%d bytes", bits/8),
		Source:  "Elias 1974; Fano 1971",
	}, umbel.Formula{
		What:    "bits per key as cells",
		General: "m / n",
		Numbers: fmt.Sprintf("%d / %d", m, n),
		Value:   fmt.Sprintf("%.4g bits", float64(m)/float64(n)),
	}, umbel.Formula{
		What:    "memory of a key",
		General: "8 · bytes / n",
		Numbers: fmt.Sprintf("8 · %d / %d", bits/8, n),
		Value:   fmt.Sprintf("%.4g bits", float64(bits)/float64(n)),
	}, umbel.Formula{
		What:    "message of a key, where cells are sent and packed",
		General: "m·H / n, where H = -p·log2(p) - (1 - p)·log2(1 - p)",
		Numbers: fmt.Sprintf("%d · (-%.9g · log2(%.9g) - (1 - %.9g) · log2(1 - %.9g)) / %d", m, p, p, p, p, n),
		Value:   fmt.Sprintf("%.4g bits", plan.WireBits(m, 1, n)/float64(n)),
		Source:  "Mitzenmacher 2002, section 3",
	})
}

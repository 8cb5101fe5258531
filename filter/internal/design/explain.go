package design

import (
	"fmt"
	"math"

	"github.com/umbel-filters/umbel"
)

// BitsPerKey explains the memory that a key takes in a filter of m bits with n keys
// and a rate of p, and the least that it takes in a Bloom filter of any kind.
func BitsPerKey(m, n uint64, p float64) []umbel.Formula {
	fs := []umbel.Formula{{
		What:    "bits per key",
		General: "m / n",
		Numbers: fmt.Sprintf("%d / %d", m, n),
		Value:   fmt.Sprintf("%.4g bits", float64(m)/float64(n)),
	}}
	if p > 0 && p < 1 {
		fs = append(fs, umbel.Formula{
			What:    "the least of any Bloom filter with that rate",
			General: "log2(1/p) / ln 2",
			Numbers: fmt.Sprintf("log2(1/%.6g) / ln 2", p),
			Value:   fmt.Sprintf("%.4g bits per key", -math.Log2(p)/math.Ln2),
			Source:  "Bloom 1970; Broder and Mitzenmacher 2004",
		})
	}
	return fs
}

// Memory explains the bytes of a plane of m bits: whole words.
func Memory(m uint64) umbel.Formula {
	return umbel.Formula{
		What:    "memory, in words of 8 bytes",
		General: "8 · ceil(m / 64)",
		Numbers: fmt.Sprintf("8 · ceil(%d / 64)", m),
		Value:   fmt.Sprintf("%d bytes", (m+63)/64*8),
	}
}

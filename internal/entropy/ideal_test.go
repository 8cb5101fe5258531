package entropy

import "math"

// ideal returns the length in bytes of an ideal Laplace code of b:
// log2((n+1)!/(x!(n-x)!))/8 for x ones of n bits.
func ideal(b Bits) float64 {
	n, x := float64(b.Len), float64(b.Count())
	lgamma := func(v float64) float64 { l, _ := math.Lgamma(v); return l }
	return (lgamma(n+2) - lgamma(x+1) - lgamma(n-x+1)) / math.Ln2 / 8
}

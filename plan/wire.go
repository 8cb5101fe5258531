package plan

import (
	"fmt"
	"math"
)

// WireBits returns the size in bits to which an ideal code compresses a filter of m
// cells, k per key, with n distinct keys: m·H(p), where p is the share of cells that
// are zero and H(p) = -p·log2(p) - (1-p)·log2(1-p). A half-full filter doesn't
// shrink; a sparse one does: 36,000 cells with 1000 keys of 2 cells compress to 10,919
// bits. It panics if m or k is zero or k is negative. Source: Mitzenmacher 2002,
// section 3, where it is z.
func WireBits(m uint64, k int, n uint64) float64 {
	return float64(m) * entropy(Fill(m, k, n))
}

// WireDeviation returns the standard deviation, in bits, of the size that a filter
// is compressed to: for any one set of keys it is not [WireBits], but near. A code
// that knows the number X of zero cells takes log2 C(m, X) bits, of which the
// derivative is log2(p/(1-p)), and X deviates as the number of empty cells after
// t = kn throws does, so that it is
//
//	|log2(p/(1-p))| sqrt(m (p - p²(1 + kn/m)))
//
// with p the share of cells that are zero. At half full the first factor is zero,
// and what is left is less than a bit. 140,000 cells with 10^4 keys of 2 cells
// compress to 9903.9 bytes, give or take 11.34; simulated 11.38.
//
// Source: recomputed. Mitzenmacher 2002, Theorem 1, has Azuma's bound, which there
// grants a chance of 0.27 to more than 10,000 bytes, a size that is 8.5 of these
// deviations away.
//
// It panics if m or k is zero or k is negative.
func WireDeviation(m uint64, k int, n uint64) float64 {
	fill := Fill(m, k, n)
	if fill == 0 || fill >= 1 {
		return 0
	}
	p := 1 - fill
	load := -math.Log1p(-fill)                               // kn/m, up to 1/m of it
	spread := float64(m) * p * p * (math.Expm1(load) - load) // p - p²(1+load), without the difference of two ones
	if load < 1e-4 {
		spread = float64(m) * p * p * load * load * (1 + load/3) / 2
	}
	return math.Abs(math.Log2(p/fill)) * math.Sqrt(spread)
}

// CounterBits returns the size in bits to which an ideal code compresses a counting
// filter of m counters, k per key, with n distinct keys: m times the entropy of a
// Poisson number with the mean kn/m. With 8 counters a key and k=5 that is 1.505 bits a
// counter where a counter takes 4; and with 92 counters a key and k=1 it is 7.972 bits a
// key, where the bits alone take 7.923. It panics if m or k is zero or k is
// negative.
//
// Source: Mitzenmacher 2002, section V, which says that it pays; the numbers are
// recomputed.
func CounterBits(m uint64, k int, n uint64) float64 {
	mustShape(m, k)
	mean := float64(k) * float64(n) / float64(m)
	if mean == 0 {
		return 0
	}
	if mean > 1e4 { // the sum is that of a normal density
		return float64(m) * (math.Log2(2*math.Pi*math.E*mean) - 1/(6*mean*math.Ln2)) / 2
	}
	var bits float64
	last := math.Ceil(mean + 12*math.Sqrt(mean) + 24)
	for i, log := 0.0, -mean; i <= last; i++ { // log is that of the chance of i
		bits -= math.Exp(log) * log
		log += math.Log(mean / (i + 1))
	}
	return float64(m) * bits / math.Ln2
}

// RefineBits returns the size in bits of what turns a filter folded by r back into
// the filter of m cells, k per key, with n distinct keys, in an ideal code that has
// the fold: H(B) - H(fold), since the fold follows from the filter. So nothing is
// lost by sending the fold first. It panics if m, k or r is zero, k is negative, or
// r doesn't divide m. Source: recomputed; the chain rule of entropy.
func RefineBits(m uint64, k int, n, r uint64) float64 {
	mustShape(m, k)
	if r == 0 || m%r != 0 {
		panic(fmt.Sprintf("plan: %d cells don't fold by %d", m, r))
	}
	return WireBits(m, k, n) - WireBits(m/r, k, n)
}

// entropy returns the bits that a cell takes which is one with chance p.
func entropy(p float64) float64 {
	if p <= 0 || p >= 1 {
		return 0
	}
	return -p*math.Log2(p) - (1-p)*math.Log1p(-p)/math.Ln2
}

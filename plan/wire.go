package plan

import "math"

// WireBits returns the size in bits to which an ideal code compresses a filter of m
// cells, k per key, with n distinct keys: m·H(p), where p is the share of cells that
// are zero and H(p) = -p·log2(p) - (1-p)·log2(1-p). A half-full filter doesn't
// shrink; a sparse one does: 36,000 cells with 1000 keys of 2 cells compress to 10,919
// bits. It panics if m or k is zero or k is negative. Source: Mitzenmacher 2002,
// section 3, where it is z.
func WireBits(m uint64, k int, n uint64) float64 {
	fill := Fill(m, k, n)
	if fill == 0 || fill >= 1 {
		return 0
	}
	return -float64(m) * (fill*math.Log2(fill) + (1-fill)*math.Log1p(-fill)/math.Ln2)
}

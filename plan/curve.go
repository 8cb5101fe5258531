package plan

import (
	"fmt"
	"math"
)

// CurvePoint is a compressed filter on the curve of [Curve].
type CurvePoint struct {
	K           float64 // cells set per key; theory doesn't ask for whole ones
	CellsPerKey float64 // m/n
	BitsPerKey  float64 // size sent per key, z/n
	FPRate      float64
	PlainFPRate float64 // of the filter of that k with m/n = z/n, which isn't compressed
}

// Curve returns what can be had for so many bits sent per key, in the limit of many
// keys, for each k: the compressed filter is as large as it may be. These are Figures 1
// and 2 of Mitzenmacher 2002, for 8 and 16 bits a key. Its rate is the worst where k
// is best for the plain filter, and falls on both sides, to (1/2)^bitsPerKey in the
// limit: more than half of the cells are zero where k is less than bitsPerKey·ln 2, and
// ones where it is more.
//
// It panics if bitsPerKey or a k isn't more than 0. With a k of bitsPerKey/1000 or less
// the number of cells is +Inf and the rate that of the limit.
func Curve(bitsPerKey float64, ks []float64) []CurvePoint {
	points := make([]CurvePoint, len(ks))
	for i, k := range ks {
		if !(k > 0 && bitsPerKey > 0) {
			panic(fmt.Sprintf("plan: a curve of %v bits a key with %v cells per key, want both more than 0", bitsPerKey, k))
		}
		p := CurvePoint{
			K: k, CellsPerKey: math.Inf(1), BitsPerKey: bitsPerKey,
			FPRate:      math.Exp2(-bitsPerKey),
			PlainFPRate: math.Pow(-math.Expm1(-k/bitsPerKey), k),
		}
		if k > bitsPerKey/1000 {
			load := loadFor(bitsPerKey / k)
			p.CellsPerKey, p.FPRate = k/load, math.Pow(-math.Expm1(-load), k)
		}
		points[i] = p
	}
	return points
}

// loadFor returns the load, the hits per cell, at which a hit takes so many bits
// of the compressed filter: H(e^-load)/load, which falls as the load rises.
func loadFor(bitsPerHit float64) float64 {
	low, high := -1000*math.Ln2, math.Log(40.0) // of the logarithm
	for range 100 {
		mid := (low + high) / 2
		load := math.Exp(mid)
		if entropy(-math.Expm1(-load)) > bitsPerHit*load {
			low = mid
		} else {
			high = mid
		}
	}
	return math.Exp(high)
}

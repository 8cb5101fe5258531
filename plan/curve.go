package plan

import (
	"fmt"
	"math"

	"github.com/umbel-filters/umbel/internal/planning"
)

// CompressionPoint is a compressed filter on the curve of [CompressionCurve].
type CompressionPoint struct {
	K           float64 // cells set per key; in theory any real number
	CellsPerKey float64 // m/n
	BitsPerKey  float64 // size sent per key, z/n
	FPRate      float64
	PlainFPRate float64 // of the uncompressed filter with the same k and m/n = z/n
}

// CompressionCurve returns the rates that are possible with bitsPerKey bits sent per key, in the
// limit of many keys, for each k: the compressed filter is as large as it may be. These are
// Figures 1 and 2 of Mitzenmacher 2002, for 8 and 16 bits per key. The rate is highest at the k
// that is best for the plain filter, and falls on both sides towards (1/2)^bitsPerKey. If k is
// less than bitsPerKey·ln 2, more than half of the cells are zero, otherwise more than half are
// ones.
//
// It panics if bitsPerKey or a k isn't more than 0. For a k of at most bitsPerKey/1000 the number
// of cells is +Inf and the rate is the limit.
func CompressionCurve(bitsPerKey float64, ks []float64) []CompressionPoint {
	points := make([]CompressionPoint, len(ks))
	for i, k := range ks {
		if !(k > 0 && bitsPerKey > 0) {
			panic(fmt.Sprintf("plan: a curve of %v bits per key with %v cells per key, want both more than 0", bitsPerKey, k))
		}
		p := CompressionPoint{
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

// loadFor returns the load, the hits per cell, at which a hit needs bitsPerHit bits of the
// compressed filter: H(e^-load)/load, which falls with the load.
func loadFor(bitsPerHit float64) float64 {
	return math.Exp(planning.Crossing(-1000*math.Ln2, math.Log(40.0), func(logLoad float64) bool {
		load := math.Exp(logLoad)
		return entropy(-math.Expm1(-load)) <= bitsPerHit*load
	}))
}

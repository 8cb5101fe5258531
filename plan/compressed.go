package plan

import (
	"fmt"
	"math"

	"github.com/umbel-filters/umbel/internal/coding/eliasfano"
	"github.com/umbel-filters/umbel/internal/sentinel"
)

// WireBits returns the size in bits to which an ideal code compresses a filter of m cells, k per
// key, with n distinct keys: m·H(p), where p is the share of zero cells and
// H(p) = -p·log2(p) - (1-p)·log2(1-p). A half-full filter doesn't shrink and a sparse one does:
// 36,000 cells with 1000 keys of 2 cells compress to 10,919 bits. It panics if m or k is zero or
// k is negative. Source: Mitzenmacher 2002, section 3, which calls it z.
func WireBits(m uint64, k int, n uint64) float64 {
	return float64(m) * entropy(Fill(m, k, n))
}

// WireDeviation returns the standard deviation, in bits, of the size to which a filter is
// compressed. A code that knows the number X of zero cells needs log2 C(m, X) bits, whose
// derivative is log2(p/(1-p)), where p is the expected share of zero cells, (1-1/m)^(kn). X
// deviates as the number of empty cells after kn throws, so the result is
//
//	|log2(p/(1-p))| sqrt(m p(1-p) + m(m-1)((1-2/m)^(kn) - p²))
//
// with the exact variance, about m (p - p²(1 + kn/m)) for many cells. At half full the first
// factor is zero, and the true deviation is less than a bit. In the small
// filters of TestWireDeviationOfFewCells the result is within 1 percent of the true deviation. 140,000 cells with 10^4 keys of 2 cells
// compress to 9903.9 bytes with a deviation of 11.34; simulated 11.38.
//
// Source: recomputed; the variance is from Johnson and Kotz 1977, Urn Models, chapter 3. Mitzenmacher 2002,
// Theorem 1, uses Azuma's bound, by which the example has more than 10,000 bytes with a probability of up to 0.27;
// that size is 8.5 standard deviations away.
//
// It panics if m or k is zero or k is negative.
func WireDeviation(m uint64, k int, n uint64) float64 {
	fill := Fill(m, k, n)
	if fill == 0 || fill >= 1 {
		return 0
	}
	return math.Abs(math.Log2((1-fill)/fill)) * math.Sqrt(occupiedVariance(float64(m), float64(k)*float64(n)))
}

// entropy returns the bits per cell for cells that are one with probability p.
func entropy(p float64) float64 {
	if p <= 0 || p >= 1 {
		return 0
	}
	return -p*math.Log2(p) - (1-p)*math.Log1p(-p)/math.Ln2
}

// maxSparse is the largest number of cells, and of keys, of a filter that stores positions.
const maxSparse = eliasfano.MaxBound

// SparseBits returns the memory in bits, whole words of 64, of a filter of m cells, one per key,
// that stores the sorted list of the set cells instead of the cells, if n of them are set:
// n·l + n + ⌈m/2^l⌉ bits, where l = ⌊log2(m/n)⌋, in two arrays. That is about n·(2 + log2(m/n)),
// and with n = m·f half a bit per key more than the n·(log2(1/f) + 1.44) of [WireBits]. Since keys
// may share a cell, n keys need at most that much; an n above m counts as m. It panics if m is 0
// or above 2^56. Source: Elias 1974; Fano 1971.
//
// Mitzenmacher 2002, section III-A, proposes a list of n·log2(m) bits for such a filter: 19.8 bits
// per key for m = 92·n and n = 10,000, where SparseBits gives 8.44, and the cells themselves
// need 92.
func SparseBits(m, n uint64) uint64 {
	if m == 0 || m > maxSparse {
		panic(fmt.Sprintf("plan: %d cells stored as positions, want 1 to 2^56", m))
	}
	n = min(n, m)
	words := (eliasfano.HighBits(n, m)+63)/64 + (eliasfano.LowBits(n, m)+63)/64
	return words * 64
}

// SparseSize returns the largest number m of cells, at most 2^56, for which n keys need at most
// bits bits by [SparseBits]; it gives the lowest rate that fits. It returns an error wrapping
// [ErrRange] if n is zero, or the bits are too few for one cell.
func SparseSize(n, bits uint64) (m uint64, err error) {
	if n == 0 {
		return 0, checkGoal(n, 0.5)
	}
	over, found := least(maxSparse, func(m uint64) bool { return SparseBits(m, n) > bits })
	switch {
	case !found:
		return maxSparse, nil
	case over == 1:
		return 0, sentinel.Errorf(ErrRange, "plan: %d keys in %d bits, want at least %d", n, bits, SparseBits(1, n))
	}
	return over - 1, nil
}

// SparseCapacity returns the largest number n of keys that need at most bits bits by [SparseBits]
// at a rate of at most p, and the number m of cells for them: the smallest that has the rate,
// rounded up by round. It returns an error wrapping [ErrRange] if p is not inside (0, 1), or not
// one key fits.
func SparseCapacity(bits uint64, p float64, round func(m uint64) uint64) (n, m uint64, err error) {
	if err := checkGoal(1, p); err != nil {
		return 0, 0, err
	}
	size := func(n uint64) (uint64, bool) {
		m, err := SizeForK(n, 1, p)
		if err != nil || m > maxSparse {
			return 0, false
		}
		m = round(m)
		return m, m <= maxSparse && SparseBits(m, n) <= bits
	}
	n = mostKeys(func(n uint64) bool { _, ok := size(n); return ok })
	if n == 0 {
		return 0, 0, sentinel.Errorf(ErrRange, "plan: %d bits are too few for one key at a false-positive rate of %v; allow more, or a higher rate", bits, p)
	}
	m, _ = size(n)
	return n, m, nil
}

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
	return math.Exp(crossing(-1000*math.Ln2, math.Log(40.0), func(logLoad float64) bool {
		load := math.Exp(logLoad)
		return entropy(-math.Expm1(-load)) <= bitsPerHit*load
	}))
}

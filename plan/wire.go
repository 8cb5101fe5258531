package plan

import (
	"fmt"
	"math"

	"github.com/umbel-filters/umbel/internal/occupancy"
	"github.com/umbel-filters/umbel/internal/planning"
)

// Bits is the distribution of a size in bits, nearly a normal one.
type Bits struct {
	Mean      float64
	Deviation float64 // standard deviation
}

// AtMost returns the size that is exceeded with probability tail: with a tail of 0.5 the mean, with 1e-6
// 4.75 standard deviations more. It panics if tail isn't inside (0, 1).
func (b Bits) AtMost(tail float64) float64 { return b.Mean + normalQuantile(tail)*b.Deviation }

// normalQuantile returns the number of standard deviations above the mean that a normal
// distribution exceeds with probability tail: 4.75 for 1e-6, 0 for 0.5. It panics if tail isn't
// inside (0, 1).
func normalQuantile(tail float64) float64 {
	if !(tail > 0 && tail < 1) {
		panic(fmt.Sprintf("plan: probability %v, want more than 0 and less than 1", tail))
	}
	if tail > 0.5 {
		return -normalQuantile(1 - tail)
	}
	if tail == 0.5 {
		return 0
	}
	// By bisection, since math.Erfcinv has no correct digits for small tails.
	return planning.Crossing(0, 40, func(x float64) bool { return math.Erfc(x/math.Sqrt2)/2 < tail })
}

// WireBits returns the size to which an ideal code compresses a filter with n distinct keys. The mean is
// m·H(p), where p is the share of zero cells and H(p) = -p·log2(p) - (1-p)·log2(1-p). A half-full filter
// doesn't shrink and a sparse one does: 36,000 cells with 1000 keys of 2 cells compress to 10,919 bits.
// Source: Mitzenmacher 2002, section 3, which calls it z.
//
// A code that knows the number X of zero cells needs log2 C(m, X) bits, whose
// derivative is log2(p/(1-p)), where p is the expected share of zero cells, (1-1/m)^(kn). X
// deviates as the number of empty cells after kn throws, so the standard deviation is
//
//	|log2(p/(1-p))| sqrt(m p(1-p) + m(m-1)((1-2/m)^(kn) - p²))
//
// with the exact variance, about m (p - p²(1 + kn/m)) for many cells. At half full the first
// factor is zero, and the true deviation is less than a bit. In the small
// filters of TestWireDeviationOfFewCells the result is within 1 percent of the true deviation. 140,000 cells with 10^4 keys of 2 cells
// compress to 9903.9 bytes with a deviation of 11.34; simulated 11.38.
//
// Source of the deviation: recomputed; the variance is from Johnson and Kotz 1977, Urn Models, chapter 3. Mitzenmacher 2002,
// Theorem 1, uses Azuma's bound, by which the example has more than 10,000 bytes with a probability of up to 0.27;
// that size is 8.5 standard deviations away.
func (f Filter) WireBits(n uint64) Bits {
	m, _, t := f.numbers(n)
	fill := occupancy.Fill(m, t)
	b := Bits{Mean: m * entropy(fill)}
	if fill > 0 && fill < 1 {
		b.Deviation = math.Abs(math.Log2((1-fill)/fill)) * math.Sqrt(occupancy.Variance(m, t))
	}
	return b
}

// entropy returns the bits per cell for cells that are one with probability p.
func entropy(p float64) float64 {
	if p <= 0 || p >= 1 {
		return 0
	}
	return -p*math.Log2(p) - (1-p)*math.Log1p(-p)/math.Ln2
}

// surprise returns the derivative of entropy.
func surprise(p float64) float64 {
	if p <= 0 || p >= 1 {
		return 0
	}
	return math.Log2(1-p) - math.Log2(p)
}

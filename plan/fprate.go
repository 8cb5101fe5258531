package plan

import "math"

// Fill returns the expected share of the m cells that are not zero after n
// distinct keys have set k cells each, as a fraction in [0, 1]:
// 1-(1-1/m)^(kn). It keeps its relative precision however small 1/m or the
// result is. It panics if m or k is zero or k is negative. Source: Bloom 1970;
// Mullin 1983.
func Fill(m uint64, k int, n uint64) float64 {
	mustShape(m, k)
	return fillAfter(float64(m), float64(k)*float64(n))
}

// fillAfter returns 1-(1-1/m)^t, the expected share of m cells that t draws hit.
func fillAfter(m, t float64) float64 {
	if t == 0 {
		return 0 // for m = 1 the line below is 0 times infinity
	}
	return -math.Expm1(t * math.Log1p(-1/m))
}

// FPRate returns the probability that a filter answers yes for a key it does not
// hold, as a fraction in [0, 1]. The filter has m cells, sets k of them per key
// and holds n distinct keys. It panics if m or k is zero or k is negative.
//
// The formula is (1-(1-1/m)^(kn))^k: Bloom 1970, as corrected by Mullin 1983. It
// takes the cells to be independent, which they nearly are; it is 3.1
// percent low at m=64, n=8, k=4, and 0.04 percent at m=8192, n=1000, k=5. [FPRateExact] has no
// such error and takes longer.
//
// Sailhan and Stehr 2012, equations (1) and (4), print the fill in place of the
// rate: 1-e^(-kn/m), without the power k. With m/n=8 and k=5 that is 0.4647; the
// rate is 0.02168.
func FPRate(m uint64, k int, n uint64) float64 {
	return FPRateAtFill(Fill(m, k, n), k)
}

// FPRateAtFill returns the false-positive rate of a filter of which the fraction
// fill of the cells is not zero, and which asks for k of them: fill^k. For a
// filter at hand, whose cells can be counted, this is exact. The fill is a
// fraction in [0, 1]. It panics if k is zero or negative. Source: Bloom 1970.
func FPRateAtFill(fill float64, k int) float64 {
	mustShape(1, k)
	return math.Pow(fill, float64(k))
}

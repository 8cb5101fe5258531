package plan

import (
	"fmt"
	"math"

	"github.com/umbel-filters/umbel/internal/number"
)

// Estimate is an estimated number of distinct keys, and the interval that contains the true
// number with a confidence of about 95 percent. All three are real numbers, at least 0, and +Inf
// where the filter sets no bound. Low <= Value <= High, unless Value is NaN, which means that
// only the bounds are known.
type Estimate struct {
	Value, Low, High float64
}

// MarshalJSON returns an object with the fields of e, in which a number that is infinite or NaN is null.
func (e Estimate) MarshalJSON() ([]byte, error) {
	return fmt.Appendf(nil, `{"Value":%s,"Low":%s,"High":%s}`, number.JSON(e.Value), number.JSON(e.Low), number.JSON(e.High)), nil
}

// String returns the value and the bounds, in that order, rounded to whole keys.
func (e Estimate) String() string {
	return fmt.Sprintf("%.0f [%.0f, %.0f]", e.Value, e.Low, e.High)
}

// sigmas95 is the half-width of the central 95 percent of a normal distribution, in standard
// deviations.
const sigmas95 = 1.959963984540054

// Keys estimates the number n of distinct keys in a filter of m cells, k set per key, of which
// ones are not zero: -(m/k) ln(1-ones/m). It is +Inf if the filter is full, that is, if ones is
// at least m. It panics if m or k is zero or k is negative.
//
// Source: Swamidass and Baldi 2007. Papapetrou, Siberski and Nejdl 2010 divide by k ln(1-1/m)
// instead of -k/m, which is the exact inverse of [Fill]; the two differ by the factor 1-1/(2m),
// which is 0.8 percent at m=64 and less than the standard deviation at every size.
//
// The estimate assumes a filter that got its cells from n keys at its present size. For a filter
// that was unfolded, use m and ones of its fold to the size before. The stats of filters do so.
//
// The same formula holds for partitioned filters and, with k=8, for split-block filters, whose
// fill ratio is 1-e^(-kn/m) too. In blocked filters use [BlockedKeys].
func Keys(m uint64, k int, ones uint64) float64 {
	mustShape(m, k)
	return keysAt(float64(m), float64(k), float64(ones))
}

// keysAt is Keys for real numbers.
func keysAt(m, k, ones float64) float64 {
	if ones >= m {
		return math.Inf(1)
	}
	if ones == 0 {
		return 0
	}
	return -m / k * math.Log1p(-ones/m)
}

// KeysInterval returns [Keys] and the interval that contains the true number of distinct keys
// with a confidence of about 95 percent. It panics if m or k is zero or k is negative.
//
// The interval contains the numbers n of keys for which ones, plus or minus half a cell, is
// within 1.96 standard deviations of its mean. Mean and variance are those of the occupancy of m
// cells after kn draws (Johnson and Kotz 1977, Urn Models, chapter 3), at n and not at the
// estimate. Low is never below ones/k, since a key sets at most k cells. For an empty filter all
// three numbers are 0; for a full one Value and High are +Inf.
func KeysInterval(m uint64, k int, ones uint64) Estimate {
	mustShape(m, k)
	M, K, X := float64(m), float64(k), float64(min(ones, m))
	if ones == 0 {
		return Estimate{}
	}
	// bound returns the n for which mean + z standard deviations is x.
	bound := func(z, x float64) float64 {
		reached := func(t float64) bool {
			return M*fillAfter(M, t)+z*math.Sqrt(occupiedVariance(M, t)) >= x
		}
		low, high := 0.0, 1.0
		for !reached(high) {
			low, high = high, high*2
		}
		return crossing(low, high, reached) / K
	}
	e := Estimate{Value: keysAt(M, K, X), High: math.Inf(1)}
	e.Low = min(e.Value, max(bound(sigmas95, X-0.5), X/K))
	if X+0.5 < M {
		e.High = max(e.Value, bound(-sigmas95, X+0.5))
	}
	return e
}

// IntersectionKeys estimates the number of distinct keys that are in both of two filters of m
// cells and k cells per key. a cells of the first are not zero, b cells of the second, and or
// cells in at least one of them. The two filters must give a key the same positions. It panics
// if m or k is zero or k is negative. The number of keys in at least one filter is
// KeysInterval(m, k, or), since the union of the arrays is the filter of the union.
//
// The value is Keys(a) + Keys(b) - Keys(or), limited to the range from 0 to the smaller of
// Keys(a) and Keys(b): Swamidass and Baldi 2007; Papapetrou, Siberski and Nejdl 2010. Never
// count the cells that are not zero in both filters instead: many of them coincide by chance.
//
// The interval is the unlimited value plus or minus 1.96 standard deviations and half a cell,
// then limited to the range from 0 to what [KeysInterval] allows for each filter. We derive the
// variance from the covariance of the numbers of zero cells Z of any two of the three arrays.
// With λ = kn/m for the keys of a set, two filters s and t have
//
//	Cov(Zs, Zt) / (m qs qt) = e^λ - 1 - λ, q = e^-λ of each, λ of the keys in both
//
// where the last λ is due to the fixed number of draws. By the derivative of the logarithm,
// Keys(s) has the error -(m/k) (Zs-E Zs)/(m qs). With g(λ) = e^λ - 1 - λ the variance of the
// value is therefore
//
//	(m/k²) (g(λ of the union) + 2 g(λ of the intersection) - g(λa) - g(λb)),
//
// which is that of Keys(a) if the two sets are equal, and (m/k²)(e^λa-1)(e^λb-1) if they are
// disjoint. The estimates are used instead of the true λ.
//
// If the joined array is full, so that Keys(or) is +Inf, the value is NaN, Low is 0 and High is
// the smaller of the bounds of a and b. Counts that were taken while keys were added may
// contradict each other; IntersectionKeys then uses the nearest possible value of or.
func IntersectionKeys(m uint64, k int, a, b, or uint64) Estimate {
	mustShape(m, k)
	a, b = min(a, m), min(b, m)
	or = max(a, b, min(or, m))
	if or-max(a, b) > min(a, b) {
		or = a + b
	}
	inA, inB := KeysInterval(m, k, a), KeysInterval(m, k, b)
	most := min(inA.High, inB.High)
	if or == m {
		return Estimate{Value: math.NaN(), High: most}
	}
	raw := inA.Value + inB.Value - Keys(m, k, or)
	value := min(max(raw, 0), inA.Value, inB.Value)

	M, K := float64(m), float64(k)
	g := func(keys float64) float64 {
		load := K / M * keys
		return math.Expm1(load) - load
	}
	variance := M / K / K * (g(inA.Value+inB.Value-value) + 2*g(value) - g(inA.Value) - g(inB.Value))
	halfCell := 0.5 / K / (1 - float64(or)/M)
	reach := sigmas95*math.Sqrt(max(0, variance)) + halfCell
	return Estimate{
		Value: value,
		Low:   min(value, max(0, raw-reach)),
		High:  max(value, min(most, raw+reach)),
	}
}

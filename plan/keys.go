package plan

import (
	"fmt"
	"math"

	"github.com/umbel-filters/umbel/internal/number"
	"github.com/umbel-filters/umbel/internal/occupancy"
	"github.com/umbel-filters/umbel/internal/planning"
)

// Estimate is an estimated number of distinct keys, and the interval that contains the true
// number with a confidence of about 95 percent. All three are real numbers, at least 0, and +Inf
// where the filter sets no bound. Low <= Value <= High, unless Value is NaN, which means that
// only the bounds are known. Estimates of few keys extend to the whole numbers next to Value: a narrower interval could have none.
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

// Keys estimates the number of distinct keys in a filter with ones nonzero cells, with the
// interval that contains the true number with a confidence of about 95 percent. The value is
// -(m/k) ln(1-ones/m), and +Inf if the filter is full, that is, if ones is at least m.
//
// Source: Swamidass and Baldi 2007. Papapetrou, Siberski and Nejdl 2010 divide by k ln(1-1/m)
// instead of -k/m, which is the exact inverse of [Filter.Fill]; the two differ by the factor 1-1/(2m),
// which is 0.8 percent at m=64 and less than the standard deviation at every size.
//
// The interval contains the numbers n of keys for which ones, plus or minus half a cell, is
// within 1.96 standard deviations of its mean. Mean and variance are those of the occupancy of m
// cells after kn draws (Johnson and Kotz 1977, Urn Models, chapter 3), at n and not at the
// estimate. Low is never below ones/k, since a key sets at most k cells. For an empty filter all
// three numbers are 0; for a full one Value and High are +Inf.
//
// The estimate assumes a filter that got its cells from n keys at its present size. For a filter
// that was unfolded, use m and ones of its fold to the size before. The stats of filters do so.
//
// The same formula holds for partitioned filters and, with k=8, for the value of split-block filters, whose
// fill ratio is 1-e^(-kn/m) too.
func (f Filter) Keys(ones uint64) Estimate {
	f.check()
	m, k, x := float64(f.M), float64(f.K), float64(min(ones, f.M))
	if ones == 0 {
		return Estimate{}
	}
	// bound returns the n for which mean + z standard deviations is x.
	bound := func(z, x float64) float64 {
		reached := func(t float64) bool {
			return m*occupancy.Fill(m, t)+z*math.Sqrt(occupancy.Variance(m, t)) >= x
		}
		low, high := 0.0, 1.0
		for !reached(high) {
			low, high = high, high*2
		}
		return planning.Crossing(low, high, reached) / k
	}
	e := Estimate{Value: f.keys(x), High: math.Inf(1)}
	e.Low = min(e.Value, max(min(bound(planning.Sigmas95, x-0.5), math.Floor(e.Value)), x/k))
	if x+0.5 < m {
		e.High = max(math.Ceil(e.Value), bound(-planning.Sigmas95, x+0.5))
	}
	return e
}

// keys returns the value of Keys.
func (f Filter) keys(ones float64) float64 {
	m := float64(f.M)
	if ones >= m {
		return math.Inf(1)
	}
	if ones == 0 {
		return 0
	}
	return -m / float64(f.K) * math.Log1p(-ones/m)
}

// CommonKeys estimates the number of distinct keys that are in both of two filters of this shape.
// a cells of the first are not zero, b cells of the second, and or cells in at least one of them. The two
// filters must give a key the same positions. The number of keys in at least one filter is f.Keys(or),
// since the union of the arrays is the filter of the union.
//
// The value is Keys(a) + Keys(b) - Keys(or), limited to the range from 0 to the smaller of
// Keys(a) and Keys(b): Swamidass and Baldi 2007; Papapetrou, Siberski and Nejdl 2010. Never
// count the cells that are not zero in both filters instead: many of them coincide by chance.
//
// The interval is the unlimited value plus or minus 1.96 standard deviations and half a cell,
// then limited to the range from 0 to what [Filter.Keys] allows for each filter. We derive the
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
// contradict each other; CommonKeys then uses the nearest possible value of or.
func (f Filter) CommonKeys(a, b, or uint64) Estimate {
	f.check()
	m := f.M
	a, b = min(a, m), min(b, m)
	or = max(a, b, min(or, m))
	if or-max(a, b) > min(a, b) {
		or = a + b
	}
	inA, inB := f.Keys(a), f.Keys(b)
	most := min(inA.High, inB.High)
	if or == m {
		return Estimate{Value: math.NaN(), High: most}
	}
	raw := inA.Value + inB.Value - f.keys(float64(or))
	value := min(max(raw, 0), inA.Value, inB.Value)

	M, K := float64(m), float64(f.K)
	g := func(keys float64) float64 {
		load := K / M * keys
		return math.Expm1(load) - load
	}
	variance := M / K / K * (g(inA.Value+inB.Value-value) + 2*g(value) - g(inA.Value) - g(inB.Value))
	halfCell := 0.5 / K / (1 - float64(or)/M)
	reach := planning.Sigmas95*math.Sqrt(max(0, variance)) + halfCell
	return Estimate{
		Value: value,
		Low:   min(value, max(0, raw-reach)),
		High:  max(value, min(most, raw+reach)),
	}
}

package plan

import "math"

// Intersection returns an estimate of the number of distinct keys that are in
// both of two filters of m cells and k cells per key. The first has a cells that
// are not zero, the second b, and or cells are not zero in one or the other. The
// two filters must give a key the same positions. It panics if m or k is zero or
// k is negative.
//
// The value is Keys(a) + Keys(b) - Keys(or), kept between 0 and the smaller of
// Keys(a) and Keys(b): Swamidass and Baldi 2007; Papapetrou, Siberski and Nejdl
// 2010. Never count the cells that are not zero in both filters for this: many of
// them are chance.
//
// The interval is the value before it was kept in bounds, give or take 1.96
// standard deviations and half a cell, then kept between 0 and what
// [KeysInterval] allows for each filter. We derive the variance from the
// covariance of the numbers of zero cells Z of any two of the three. With
// λ = kn/m for the keys of a set, two filters s and t have
//
//	Cov(Zs, Zt) / (m qs qt) = e^λ - 1 - λ, q = e^-λ of each, λ of the keys in both
//
// where the last λ is due to the number of draws being fixed. Through the
// derivative of the logarithm, Keys(s) has the error -(m/k) (Zs-E Zs)/(m qs); so
// with g(λ) = e^λ - 1 - λ the variance of the value is
//
//	(m/k²) (g(λ of the union) + 2 g(λ of the intersection) - g(λa) - g(λb)),
//
// which is that of Keys(a) if the two sets are one, and (m/k²)(e^λa-1)(e^λb-1)
// if they have nothing in common. The estimates take the place of the true λ.
//
// If the joined filter is full, so that Keys(or) is +Inf, the value is NaN, Low is
// 0 and High is the smaller of the bounds of a and b. Counts taken while keys are
// being added may contradict each other; or is then taken as the nearest number
// that does not.
func Intersection(m uint64, k int, a, b, or uint64) Estimate {
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

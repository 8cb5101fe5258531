package occupancy

import "math"

// The relative amount by which the formula for independent cells is low, from which on [MeanPower]
// begins to correct it, and from which on it corrects all of it. In between the share of the
// correction rises, so that the mean is a continuous function of m and t.
const (
	correctFrom = 0.01
	correctAll  = 0.02
)

// fewDraws is the largest number of draws for which the whole distribution of the number of
// occupied cells is computed. For more, [saddlePower] has an error below 1.5e-3.
const fewDraws = 64

// MeanPower returns the mean of (X/m)^k, where X is the number of m cells that t draws hit: the
// mean rate of filters in which t cells were set and that test k. t need not be whole. Where the formula
// for independent cells, Fill(m, t)^k, is at most 1 percent low, MeanPower returns it.
//
// Jensen's inequality makes it larger than the k-th power of the mean of X/m, by about
// k(k-1)/2 · Var X/(E X)², which is 0.1 k/n in a half full filter.
func MeanPower(m, t, k float64) float64 {
	fill := Fill(m, t)
	simple := math.Pow(fill, k)
	mean := m * fill
	excess := k * (k - 1) / 2 * Variance(m, t) / mean / mean
	share := min((excess-correctFrom)/(correctAll-correctFrom), 1)
	if !(share > 0) { // also without draws
		return simple
	}
	return min(1, simple+share*(occupancyPower(m, t, k)-simple))
}

// occupancyPower is MeanPower without the approximation for large filters.
func occupancyPower(m, t, k float64) float64 {
	if t > fewDraws {
		return saddlePower(m, t, k)
	}
	whole, part := math.Modf(t)
	mean := fewPower(m, int(whole), k)
	if part > 0 { // one draw more in part of the filters
		mean += part * (fewPower(m, int(whole)+1, k) - mean)
	}
	return mean
}

// fewPower is occupancyPower for at most fewDraws+1 draws.
func fewPower(m float64, t int, k float64) (mean float64) {
	var chance [fewDraws + 2]float64
	p := chance[:int(min(m, float64(t)))+1]
	lo, hi := Distribution(p, m, t)
	for x := lo; x <= hi; x++ {
		mean += p[x] * math.Pow(float64(x)/m, k)
	}
	return mean
}

// saddlePower returns the mean of (X/m)^k by the saddle-point method: Daniels 1954, "Saddlepoint
// approximations in statistics"; Good 1957, "Saddle-point methods for the multinomial
// distribution". Neither k nor t need be whole.
//
// (X/m)^k is the probability that k more draws hit occupied cells only. With a factor e^z for the
// draws that occupy a cell and e^w for those that test it, the sequences of draws in which no
// empty cell is tested are counted by
//
//	t! k! [z^t w^k] (1 + (e^z - 1) e^w)^m,
//
// since a cell contributes e^z e^w if it is occupied at least once, and otherwise 1. Divided by
// m^(t+k) that is the mean. The saddle point is where the derivatives of
// A = m ln(1 + (e^z - 1) e^w) by ln z and ln w are t and k. With φ = 1 - e^(-A/m), the share of
// occupied cells there, they are mφz/(1 - e^-z) and mφw. The first gives φ and the second w, so
// that one equation in z remains, whose left side rises.
//
// The factorials are replaced by the same approximation, so that errors cancel. For more than 64
// draws the relative error is below 1.5e-3 with one key, 3e-4 with three and 5e-6 with 100.
func saddlePower(m, t, k float64) float64 {
	low, high := 0.0, t/m // the equation's left side is k/(mφ), above 0, at t/m
	z := high
	var phi, w, r float64
	for range 100 {
		r = -1 / math.Expm1(-z) // 1/(1-e^-z)
		phi = t / (m * z * r)
		w = k / (m * phi)
		left := math.Inf(-1)
		if phi < 1 {
			left = math.Log(math.Expm1(z)) + w - math.Log(phi) + math.Log1p(-phi)
		}
		if left > 0 {
			high = z
		} else {
			low = z
		}
		q := r - 1 - 1/z // of ln φ, the derivative by z
		next := z - left/(r-w*q-q/(1-phi))
		if !(next > low && next < high) {
			next = low + (high-low)/2
		}
		done := math.Abs(next-z) <= 1e-12*z
		if z = next; done {
			break
		}
	}
	r = -1 / math.Expm1(-z)
	phi = t / (m * z * r)
	w = k / (m * phi)
	// The second derivatives of A by ln z and ln w.
	both := m * z * w * phi * (1 - phi) * r
	ofW := k + m*w*w*phi*(1-phi)
	ofZ := t + m*z*z*(phi*(1-phi)*r*r+phi*r*(1-r))
	a := -m*math.Log1p(-phi) - t - k - t*math.Log(m*z/t) - k*math.Log(m*w/k)
	return math.Exp(a) * math.Sqrt(t*k/(ofZ*ofW-both*both))
}

// Package occupancy computes how the cells of a filter are occupied: m cells after t draws, each of which
// hits one cell, independent of the others and uniformly. A cell is occupied if at least one draw hit it.
// Source: Johnson and Kotz 1977, Urn Models, chapter 3.
package occupancy

import "math"

// Fill returns 1-(1-1/m)^t, the expected fraction of m cells that t draws hit.
func Fill(m, t float64) float64 {
	if t == 0 {
		return 0 // for m = 1 the line below is 0 times infinity
	}
	return -math.Expm1(t * math.Log1p(-1/m))
}

// Variance returns the variance of the number of m cells that t independent uniform
// draws hit; t need not be whole. With q = (1-1/m)^t it is m q(1-q) + m(m-1)((1-2/m)^t - q²):
// Johnson and Kotz 1977, Urn Models, chapter 3. The difference is computed from
// (1-2/m)/(1-1/m)² = 1-1/(m-1)². For few draws per cell, where the two terms cancel, it is
// replaced by three terms of the series in t/m.
func Variance(m, t float64) float64 {
	if t <= 1 || m == 1 {
		return 0
	}
	if load := t / m; load < 1e-4 {
		return m * load * (load*(1-1/t)/2 - load*load*5/6 + load*load*load*17/24)
	}
	q := math.Exp(t * math.Log1p(-1/m))
	both := math.Expm1(t * math.Log1p(-1/((m-1)*(m-1))))
	return max(0, m*(q*Fill(m, t)+(m-1)*q*q*both))
}

// Mean returns the mean of f(X/m), where X is the number of m cells that t draws hit. It allocates.
func Mean(m uint64, t int, f func(fill float64) float64) float64 {
	p := make([]float64, min(m, uint64(t))+1)
	lo, hi := Distribution(p, float64(m), t)
	sum := 0.0
	for x := lo; x <= hi; x++ {
		sum += p[x] * f(float64(x)/float64(m))
	}
	return sum
}

// Distribution sets p[x] to the probability that t independent uniform draws hit x of m cells, and
// returns the lowest and the highest x that is not negligible. p has an element for each x from
// 0 to the smaller of m and t. One draw increases x from x-1 to x with probability 1-(x-1)/m, and
// leaves it at x with probability x/m.
func Distribution(p []float64, m float64, t int) (lo, hi int) {
	const negligible = 1e-30
	clear(p)
	p[0] = 1
	inv := 1 / m
	for range t {
		if hi < len(p)-1 {
			hi++
		}
		for x := hi; x > lo; x-- {
			p[x] = p[x]*(float64(x)*inv) + p[x-1]*(1-float64(x-1)*inv)
		}
		p[lo] *= float64(lo) * inv
		for lo < hi && p[lo] < negligible {
			p[lo] = 0
			lo++
		}
		for hi > lo && p[hi] < negligible {
			p[hi] = 0
			hi--
		}
	}
	return lo, hi
}

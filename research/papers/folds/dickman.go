package folds

import "math"

// terms is the length of the power series: their coefficients fall like 2^-i.
const terms = 56

// dickman returns Dickman's rho(u), the share of numbers near x that have no prime
// above x^(1/u), for large x: 1 up to u = 1, then the mean of rho over the unit
// before u, divided by u. It is 0 for u below 0, and its relative error is at most
// 10^-12 up to u = 20.
//
// On each unit rho is a power series, whose coefficients follow from those of the
// unit before: Bach and Peralta 1996. The defining integral is equation (12) of
// Sailhan and Stehr 2012.
func dickman(u float64) float64 {
	switch {
	case u < 0:
		return 0
	case u <= 1:
		return 1
	case u > 150: // rho(150) is below any float64
		return 0
	}
	// From k-1 to k, rho(k-x) is the sum of c[i]·x^i.
	var c [terms]float64
	c[0] = 1 - math.Ln2
	for i := 1; i < terms; i++ {
		c[i] = math.Ldexp(1/float64(i), -i)
	}
	k := 2.0
	for ; k < u; k++ {
		c = unitAfter(c, k+1)
	}
	x, sum := k-u, 0.0
	for i := terms - 1; i >= 0; i-- {
		sum = sum*x + c[i]
	}
	return sum
}

// unitAfter returns the series from k-1 to k, given the one before it.
func unitAfter(before [terms]float64, k float64) [terms]float64 {
	var c [terms]float64
	sum := 0.0 // of before[j]/k^(i-j), j < i
	for i := 1; i < terms; i++ {
		sum = (sum + before[i-1]) / k
		c[i] = sum / float64(i)
		c[0] += c[i] / float64(i+1)
	}
	c[0] /= k - 1
	return c
}

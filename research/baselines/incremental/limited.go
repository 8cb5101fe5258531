package incremental

import "math"

// limitedFPRate returns the expected false-positive rate of an incremental filter after n distinct
// keys, as a fraction in [0, 1]. Its layers are opened one after another; the last is never closed. A
// key that is a false positive of an older layer is not added.
//
// The rate is a mean over filters. It follows the distribution of the number of set cells of each
// layer from key to key, and of the number of keys after which it is closed. It takes the layers as
// independent of each other. The time is proportional to n·k·sqrt(m), about 2 ms for 100 keys at 1e-9.
func limitedFPRate(layers []Layer, n uint64) float64 {
	begins := make([]float64, n+1) // the probability that the layer begins after a number of keys
	begins[0] = 1
	logNegative, older := 0.0, 0.0 // of the layers before; older is the rate of those that are closed
	for i, l := range layers {
		if i == len(layers)-1 {
			l.Limit = math.MaxUint64
		}
		closes, closed, open := l.follow(int(n), older)
		rate := 0.0
		next := make([]float64, n+1)
		for a, p := range begins {
			if p == 0 {
				continue
			}
			for j, c := range closes[:int(n)-a+1] {
				next[a+j] += p * c
				rate += p * closed[j]
			}
			rate += p * open[int(n)-a]
		}
		logNegative += math.Log1p(-min(rate, 1))
		var all, sum float64
		for j := range closes {
			all, sum = all+closes[j], sum+closed[j]
		}
		if all < 1e-15 {
			break
		}
		older += (1 - older) * sum / all
		begins = next
	}
	return 0 - math.Expm1(logNegative) // not -0
}

// follow returns, for each number of keys from 0 to n, the probability that the layer closes with the
// last of them, that times its rate, and the rate times the probability that it is still open. A key
// is not added with the probability older.
func (l Layer) follow(n int, older float64) (closes, closed, open []float64) {
	const negligible = 1e-16
	closes, closed, open = make([]float64, n+1), make([]float64, n+1), make([]float64, n+1)
	m, k := float64(l.M), float64(l.K)
	most := int(min(float64(l.M), k*float64(n)))
	p, q := make([]float64, most+1), make([]float64, most+1) // probabilities of numbers of set cells while open
	p[0] = 1
	lo, hi, left := 0, 0, 1.0 // left is the probability that the layer is open
	for j := 1; j <= n && left > 1e-12; j++ {
		copy(q[lo:hi+1], p[lo:hi+1])
		first, last := lo, hi
		for range l.K {
			if hi < most {
				hi++
				p[hi] = 0
			}
			for x := hi; x > lo; x-- {
				p[x] = p[x]*(float64(x)/m) + p[x-1]*(1-float64(x-1)/m)
			}
			p[lo] *= float64(lo) / m
			for lo < hi && p[lo] < negligible {
				p[lo] = 0
				lo++
			}
			for hi > lo && p[hi] < negligible {
				p[hi] = 0
				hi--
			}
		}
		for x := lo; x <= hi; x++ {
			p[x] *= 1 - older
			if rate := p[x] * math.Pow(float64(x)/m, k); uint64(x) >= l.Limit {
				closes[j] += p[x]
				closed[j] += rate
				left -= p[x]
				p[x] = 0
			} else {
				open[j] += rate
			}
		}
		hi = int(min(uint64(hi), l.Limit-1))
		if older > 0 { // the layer is unchanged
			for x := first; x <= last; x++ {
				p[x] += older * q[x]
				open[j] += older * q[x] * math.Pow(float64(x)/m, k)
			}
			lo, hi = min(lo, first), max(hi, last)
		}
	}
	return closes, closed, open
}

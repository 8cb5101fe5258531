package doublehash

import (
	"math"

	"github.com/umbel-filters/umbel/internal/planning"
	"github.com/umbel-filters/umbel/plan"
)

// Keys is plan.Filter.Keys for a filter of m bits, k per key, 1 to MaxK, of which ones are set. Some keys have fewer
// than k different bits, and some lie along others, so that the set bits of n keys are fewer than independent bits would be: seldom,
// and then by several. The value is corrected by the mean of the former. The upper end of the interval is the smallest of those
// that a number of lost bits allows: with the probability that more are lost, it is exceeded in 2.5 % of the filters at most. It
// is at least the next whole number, since a narrower interval may have none.
func Keys(m uint64, k int, ones uint64) plan.Estimate {
	f := plan.Filter{M: m, K: k}
	e := f.Keys(ones)
	if ones == 0 || math.IsInf(e.High, 1) {
		return e
	}
	const tail = 0.025
	K := float64(min(uint64(k), m))
	mean := 0.0 // of the bits that a key lacks
	for d, p := range fewer(m, int(K)) {
		mean += p * (K - float64(d))
	}
	value := e.Value / (1 - mean/K)
	reach := (e.High - e.Value) / planning.Sigmas95
	rates := losses(m, int(K), value)
	if e.High = rates.high(f, ones, reach, tail); math.IsInf(e.High, 1) {
		e.High = value + planning.Sigmas95*math.Sqrt(reach*reach+rates.variance()/(K*K))
	}
	return plan.Estimate{Value: value, Low: e.Low, High: max(e.High, math.Ceil(value))}
}

// lossRates are the mean numbers of events in which a number of bits is lost, by that number. Their sum has a compound Poisson distribution.
type lossRates []float64

// losses returns the events by which n keys set fewer bits than independent bits.
func losses(m uint64, k int, n float64) lossRates {
	rates := make(lossRates, k+1)
	for d, p := range fewer(m, k) {
		rates[k-d] += n * p
	}
	for r, weight := range overlaps(k, isPowerOfTwo(m)) {
		if r > 1 { // single bits coincide as independent ones do
			rates[r] += n * max(n-1, 0) * weight / float64(m) / float64(m)
		}
	}
	return rates
}

// variance returns that of the lost bits.
func (l lossRates) variance() (sum float64) {
	for r, rate := range l {
		sum += float64(r) * float64(r) * rate
	}
	return sum
}

// high returns the upper end of the interval with the given tail, and infinity if so many bits are lost that the
// tail of their number does not matter. Reach is a standard deviation of the number of keys if no bits are lost.
func (l lossRates) high(f plan.Filter, ones uint64, reach, tail float64) float64 {
	const most = 1 << 9
	all := 0.0
	for _, rate := range l {
		all += rate
	}
	high, more := math.Inf(1), 1.0 // the probability that more bits are lost
	list := make([]float64, 0, 64) // the probabilities of 0, 1, 2, … lost bits, by the recursion of Panjer 1981
	for lost := 0; lost < most && more > tail/25; lost++ {
		p := math.Exp(-all)
		if lost > 0 {
			p = 0
			for r := 1; r <= min(len(l)-1, lost); r++ {
				p += float64(r) * l[r] * list[lost-r] / float64(lost)
			}
		}
		list = append(list, p)
		if more -= p; more < tail {
			high = min(high, f.Keys(ones+uint64(lost)).Value+reach*math.Sqrt2*math.Erfinv(1-2*(tail-max(more, 0))))
		}
	}
	return high
}

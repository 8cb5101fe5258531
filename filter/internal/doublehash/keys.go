package doublehash

import (
	"math"

	"github.com/umbel-filters/umbel/internal/planning"
	"github.com/umbel-filters/umbel/plan"
)

// Keys is plan.Filter.Keys for a filter of m bits, k per key, 1 to MaxK, of which ones are set. Some keys have fewer
// than k different bits, and some lie along others, so that the set bits of n keys are fewer than independent bits would be: seldom,
// and then by several. The value is corrected by the mean of the former. The number is above the interval
// in 2.5 % of the filters and below it in 2.5 %, by the distribution of the lost bits. The interval has a whole number at each side of the value.
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
	rates, coincide := losses(m, int(K), value)
	low, high := rates.interval(f, ones, coincide, reach, tail)
	if math.IsInf(high, 1) {
		low, high = e.Low, value+planning.Sigmas95*math.Sqrt(reach*reach+rates.variance()/(K*K))
	}
	return plan.Estimate{Value: value, Low: max(e.Low, min(low, math.Floor(value))), High: max(high, math.Ceil(value))}
}

// lossRates are the mean numbers of events in which a number of bits is lost, by that number. Their sum has a compound Poisson distribution.
type lossRates []float64

// losses returns the events by which n keys set fewer bits than independent bits, and the mean number of bits of those that lie
// along others. It is that of independent bits which coincide, so that it is no loss on average.
func losses(m uint64, k int, n float64) (rates lossRates, coincide float64) {
	rates = make(lossRates, k+1)
	for d, p := range fewer(m, k) {
		rates[k-d] += n * p
	}
	for r, weight := range overlaps(k, isPowerOfTwo(m)) {
		if r > 1 { // single bits coincide as independent ones do
			rate := n * max(n-1, 0) * weight / float64(m) / float64(m) * float64(r-1) / float64(r)
			rates[r] += rate
			coincide += float64(r) * rate
		}
	}
	return rates, coincide
}

// variance returns that of the lost bits.
func (l lossRates) variance() (sum float64) {
	for r, rate := range l {
		sum += float64(r) * float64(r) * rate
	}
	return sum
}

// interval returns the ends of the interval, which the number of keys exceeds with the probability tail at each end. High is infinite if
// so many bits are lost that the tail of their number does not matter. Reach is the standard deviation of the number of keys for a
// known number of lost bits, and coincide that of bits which independent ones would lose, too.
func (l lossRates) interval(f plan.Filter, ones uint64, coincide, reach, tail float64) (low, high float64) {
	const most = 1 << 9
	all := 0.0
	for _, rate := range l {
		all += rate
	}
	more := 1.0                    // the probability that more bits are lost
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
		more -= p
	}
	if more >= tail {
		return 0, math.Inf(1)
	}
	values := make([]float64, len(list))
	for lost := range values {
		values[lost] = f.Keys(ones + uint64(lost)).Value
	}
	if len(values) > 1 && !math.IsInf(values[1], 1) {
		shift := coincide * (values[1] - values[0])
		for lost := range values {
			values[lost] -= shift
		}
	}
	// The quantiles of a mixture of normal distributions. The numbers of lost bits that fill the filter are above all.
	finite := len(values)
	for math.IsInf(values[finite-1], 1) {
		finite--
	}
	reach = max(reach, 1e-9*values[finite-1])
	quantile := func(above float64) float64 {
		low, high := values[0]-8*reach, values[finite-1]+8*reach
		for range 32 {
			middle, p := (low+high)/2, more
			for lost, share := range list {
				p += share * math.Erfc((middle-values[lost])/(reach*math.Sqrt2)) / 2
			}
			if p > above {
				low = middle
			} else {
				high = middle
			}
		}
		return high
	}
	return quantile(1 - tail), quantile(tail)
}

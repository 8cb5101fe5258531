package plan

import (
	"fmt"
	"math"
)

// CounterOverflow returns the mean number, of the m counters of a counting filter,
// that n distinct keys with k positions each raise to j or more:
// m P[Bin(kn, 1/m) >= j], from 0 to m. It bounds the probability that there is such a
// counter, which it nearly is where it is small. Two positions of a key at one
// counter raise it by two. The time is that of j additions. It panics if m, k or j is
// zero or k is negative.
//
// Source: Fan, Cao, Almeida and Broder 2000, section V-C, before their bounds:
//
//	m P[Bin(kn, 1/m) >= j] <= C(kn, j) / m^(j-1)   CounterOverflowChoose
//	                       <= m (e k n / (j m))^j  CounterOverflowPower
//	                       <= m (e ln 2 / j)^j     CounterOverflowLn2, if k <= (m/n) ln 2
//
// With m=80000, n=10^4, k=5 and j=16, the first number that four bits don't hold,
// the four are 1.149e-12, 2.068e-12, 2.089e-11 and 1.094e-10; with j=8, where three
// bits end, .02655, .04617, .3310 and .7574. A counter that saturates at its maximum,
// and isn't decremented there, is lost at j=15 and not at 16.
//
// Verma 2015, section 3.2, writes the condition of the last as "k less than
// ln 2m/n"; (ln 2)(m/n) is meant. The best whole k is sometimes above it: with k=6 at
// m/n=8 CounterOverflowPower is 3.862e-10 and CounterOverflowLn2 still 1.094e-10.
// The report's figure 14 plots such a bound under the name of false positives, of
// which a counting filter has exactly as many as a plain one.
func CounterOverflow(m uint64, k int, n, j uint64) float64 {
	mustCount(m, k, j)
	t := float64(k) * float64(n)
	switch {
	case float64(j) > t:
		return 0
	case m == 1:
		return 1
	}
	M, J := float64(m), float64(j)
	odds := 1 / (M - 1) // p/(1-p)
	if J > t/M {
		return M * sumTerms(binomial(M, t, J), func(i float64) float64 { return (t - J - i) / (J + 1 + i) * odds })
	}
	below := sumTerms(binomial(M, t, J-1), func(i float64) float64 { return (J - 1 - i) / ((t - J + 2 + i) * odds) })
	return M * (1 - min(below, 1))
}

// sumTerms sums a series from its first term on, ratio(i) being that of term i+1 to
// term i, until what follows doesn't count.
func sumTerms(first float64, ratio func(i float64) float64) float64 {
	sum, term := first, first
	for i := 0.0; term > sum*1e-17; i++ {
		term *= max(ratio(i), 0)
		sum += term
	}
	return sum
}

// binomial returns P[Bin(t, 1/m) = j]: by factors, since logarithms of factorials
// of large numbers have few digits of the difference.
func binomial(m, t, j float64) float64 {
	log := (t - j) * math.Log1p(-1/m)
	for i := range int(j) {
		log += math.Log((t - float64(i)) / (m * float64(i+1)))
	}
	return math.Exp(log)
}

// CounterOverflowPower bounds [CounterOverflowChoose] by m (e k n / (j m))^j, since
// j! > (j/e)^j. Panics are those of CounterOverflow.
func CounterOverflowPower(m uint64, k int, n, j uint64) float64 {
	mustCount(m, k, j)
	return float64(m) * math.Pow(math.E*float64(k)*float64(n)/(float64(j)*float64(m)), float64(j))
}

func mustCount(m uint64, k int, j uint64) {
	mustShape(m, k)
	if j == 0 {
		panic(fmt.Sprintf("plan: a counter of %d or more is every counter, want at least 1", j))
	}
}

package counting

import (
	"fmt"
	"math"

	"github.com/umbel-filters/umbel/internal/planning"
)

// Overflow returns the mean number of counters that reach j or more, of the m counters of
// a filter to which n distinct keys were added with k positions each:
// m P[Bin(kn, 1/m) >= j], from 0 to m. It is an upper bound of the probability that such a counter
// exists, and nearly equal to it if it is small. A key with two positions at one counter adds two
// to it. The time is O(j). It panics if M, K or j is zero or K is negative.
//
// Source: Fan, Cao, Almeida and Broder 2000, section V-C, before their bounds:
//
//	m P[Bin(kn, 1/m) >= j] <= C(kn, j) / m^(j-1)
//	                       <= m (e k n / (j m))^j  [Shape.OverflowBound]
//	                       <= m (e ln 2 / j)^j     if k <= (m/n) ln 2
//
// With m=80000, n=10^4, k=5 and j=16, the first number that four bits cannot hold, the four are
// 1.149e-12, 2.068e-12, 2.089e-11 and 1.094e-10; with j=8, for three bits, .02655, .04617, .3310
// and .7574. A counter that saturates at its maximum, and is not decremented there, is lost at
// j=15 and not at 16.
//
// Verma 2015, section 3.2, writes the condition of the last bound as "k less than ln 2m/n";
// (ln 2)(m/n) is meant. The best whole k is sometimes above it: with k=6 at m/n=8 the second
// bound is 3.862e-10 and the last still 1.094e-10. The report's figure 14 plots such a bound
// as the false-positive rate; a counting filter has the same rate as a plain one.
func (s Shape) Overflow(n, j uint64) float64 {
	s.mustCount(j)
	t := float64(s.K) * float64(n)
	switch {
	case float64(j) > t:
		return 0
	case s.M == 1:
		return 1
	}
	M, J := float64(s.M), float64(j)
	odds := 1 / (M - 1) // p/(1-p)
	if J > t/M {
		return M * sumTerms(binomial(M, t, J), func(i float64) float64 { return (t - J - i) / (J + 1 + i) * odds })
	}
	below := sumTerms(binomial(M, t, J-1), func(i float64) float64 { return (J - 1 - i) / ((t - J + 2 + i) * odds) })
	return M * (1 - min(below, 1))
}

// OverflowBound returns m (e k n / (j m))^j, an upper bound of [Shape.Overflow], since
// j! > (j/e)^j. It panics as Overflow does.
func (s Shape) OverflowBound(n, j uint64) float64 {
	s.mustCount(j)
	return float64(s.M) * math.Pow(math.E*float64(s.K)*float64(n)/(float64(j)*float64(s.M)), float64(j))
}

func (s Shape) mustCount(j uint64) {
	planning.MustShape(s.M, s.K)
	if j == 0 {
		panic(fmt.Sprintf("counting: every counter is at least %d, want at least 1", j))
	}
}

// sumTerms sums a series from its first term on, where ratio(i) is term i+1 divided by term i,
// until the remaining terms are negligible.
func sumTerms(first float64, ratio func(i float64) float64) float64 {
	sum, term := first, first
	for i := 0.0; term > sum*1e-17; i++ {
		term *= max(ratio(i), 0)
		sum += term
	}
	return sum
}

// binomial returns P[Bin(t, 1/m) = j]. It adds logarithms of factors, since the difference of
// logarithms of large factorials has few digits.
func binomial(m, t, j float64) float64 {
	log := (t - j) * math.Log1p(-1/m)
	for i := range int(j) {
		log += math.Log((t - float64(i)) / (m * float64(i+1)))
	}
	return math.Exp(log)
}

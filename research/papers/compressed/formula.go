package compressed

import (
	"math"

	"github.com/umbel-filters/umbel/plan"
)

// design is a filter for n keys: m/n, the cells per key, and k, the cells set per key,
// which is a whole number except on the curves.
type design struct{ perKey, k float64 }

// zeros returns p, the expected share of cells that are zero: e^(-kn/m), as the paper
// approximates (1-1/m)^(kn).
func (d design) zeros() float64 { return math.Exp(-d.k / d.perKey) }

// rate returns f = (1-p)^k, the paper's equation (1).
func (d design) rate() float64 { return math.Pow(1-d.zeros(), d.k) }

// bits returns z/n = (m/n) H(p), the bits per key of an ideal code.
func (d design) bits() float64 { return d.perKey * binaryEntropy(d.zeros()) }

// deltaBits returns z/n = (m/n) H(q) of the exclusive or of the filters before and
// after a share c of the keys was exchanged: q = 2p(1-p^c). Section IV.
func (d design) deltaBits(c float64) float64 {
	p := d.zeros()
	return d.perKey * binaryEntropy(2*p*(1-math.Pow(p, c)))
}

// contextBits returns the bits per key of the same delta coded given the old bits:
// (m/n) (p H(a) + (1-p) H(pa/(1-p))), where a = 1-p^c is the share of old zeros that
// become ones. Equally many ones become zeros, a share pa/(1-p) of them. The formula is
// not in the paper.
func (d design) contextBits(c float64) float64 {
	p := d.zeros()
	a := 1 - math.Pow(p, c)
	return d.perKey * (p*binaryEntropy(a) + (1-p)*binaryEntropy(p*a/(1-p)))
}

// cells returns m for n keys.
func (d design) cells(n uint64) uint64 { return uint64(math.Round(d.perKey * float64(n))) }

// exactRate returns the exact rate with n keys.
func (d design) exactRate(n uint64) float64 {
	return plan.Filter{M: d.cells(n), K: int(d.k)}.FPRateExact(n)
}

// binaryEntropy returns H(p) = -p log2 p - (1-p) log2(1-p), in bits.
func binaryEntropy(p float64) float64 {
	if p <= 0 || p >= 1 {
		return 0
	}
	return -p*math.Log2(p) - (1-p)*math.Log1p(-p)/math.Ln2
}

// compressedTo returns the design with k cells set per key that an ideal code compresses to
// z bits per key. For a given k, the bits increase with m/n.
func compressedTo(z, k float64) design {
	low, high := math.Log(k)-3, math.Log(1e12) // of m/n
	for range 200 {
		mid := (low + high) / 2
		if (design{math.Exp(mid), k}).bits() < z {
			low = mid
		} else {
			high = mid
		}
	}
	return design{math.Exp(high), k}
}

// laplaceBits returns the length in bits of an ideal adaptive code of m bits with x ones,
// whose counts start at 1: log2((m+1)!/(x!(m-x)!)). L in the paper's appendix is this
// rounded up, plus one.
func laplaceBits(m, x float64) float64 {
	return (lnFactorial(m+1) - lnFactorial(x) - lnFactorial(m-x)) / math.Ln2
}

func lnFactorial(x float64) float64 {
	y, _ := math.Lgamma(x + 1)
	return y
}

// onesMean and onesVariance return moments of the number of nonzero cells of m after t
// independent draws: m(1-(1-1/m)^t), and m q(1-q) + m(m-1)((1-2/m)^t - q²) with
// q = (1-1/m)^t: Johnson and Kotz 1977, Urn Models.
func onesMean(m, t float64) float64 { return -m * math.Expm1(t*math.Log1p(-1/m)) }

func onesVariance(m, t float64) float64 {
	q := math.Exp(t * math.Log1p(-1/m))
	both := math.Expm1(t * math.Log1p(-1/((m-1)*(m-1))))
	return m*q*(1-q) + m*(m-1)*q*q*both
}

// laplaceMean returns the mean of laplaceBits over the filters of a design with n keys. It
// uses the first two moments of the number of ones, because the length is almost a
// parabola over their range.
func (d design) laplaceMean(n uint64) float64 {
	m := float64(d.cells(n))
	t := d.k * float64(n)
	x, v := onesMean(m, t), onesVariance(m, t)
	s := math.Sqrt(v)
	return laplaceBits(m, x) + (laplaceBits(m, x+s)-2*laplaceBits(m, x)+laplaceBits(m, x-s))/2
}

// laplaceSD returns the standard deviation of the same length in bits: that of the number
// of ones, times |log2(p/(1-p))|, the bits that one more of them costs.
func (d design) laplaceSD(n uint64) float64 {
	m, t := float64(d.cells(n)), d.k*float64(n)
	fill := onesMean(m, t) / m
	return math.Sqrt(onesVariance(m, t)) * math.Abs(math.Log2(fill/(1-fill)))
}

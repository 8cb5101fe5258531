package distinct

import (
	"math"
	"math/bits"

	"github.com/umbel-filters/umbel"
)

const (
	precision = 18 // log2 of the registers
	registers = 1 << precision
	maxRank   = 64 - precision + 1
)

// Error is the relative standard error of [Sketch.Estimate], 0.2 %: 1.04/√m for m registers (Flajolet,
// Fusy, Gandouet and Meunier 2007).
const Error = 1.04 / 512

// Sketch estimates the number of different digests in 256 KiB: the HyperLogLog sketch of Flajolet, Fusy,
// Gandouet and Meunier 2007. The zero Sketch is empty.
type Sketch struct{ ranks [registers]uint8 }

// Add adds a digest.
func (s *Sketch) Add(d umbel.Digest) {
	h := mix(d)
	rank := uint8(min(bits.LeadingZeros64(h<<precision)+1, maxRank))
	if r := &s.ranks[h>>(64-precision)]; rank > *r {
		*r = rank
	}
}

// AddAll adds digests.
func (s *Sketch) AddAll(ds []umbel.Digest) {
	for _, d := range ds {
		s.Add(d)
	}
}

// Estimate returns the estimated number of different digests: the improved estimator of Ertl 2017 ("New
// cardinality estimation algorithms for HyperLogLog sketches", algorithm 6), which needs no correction
// for small or large numbers.
func (s *Sketch) Estimate() float64 {
	var count [maxRank + 1]float64 // registers by rank
	for _, r := range s.ranks {
		count[r]++
	}
	const m = registers
	z := m * tau(1-count[maxRank]/m)
	for k := maxRank - 1; k >= 1; k-- {
		z = (z + count[k]) / 2
	}
	z += m * sigma(count[0]/m)
	return m * m / (2 * math.Ln2) / z
}

// sigma is x + Σ x^(2^k)·2^(k-1) over k from 1, for x in [0, 1]: Ertl 2017, equation (13).
func sigma(x float64) float64 {
	if x == 1 {
		return math.Inf(1)
	}
	z, y := x, 1.0
	for last := -1.0; z != last; y *= 2 {
		x *= x
		last = z
		z += x * y
	}
	return z
}

// tau is (1 - x - Σ (1-x^(2^-k))²·2^-k over k from 1) / 3, for x in [0, 1]: Ertl 2017, equation (18).
func tau(x float64) float64 {
	if x == 0 || x == 1 {
		return 0
	}
	z, y := 1-x, 1.0
	for last := -1.0; z != last; {
		x = math.Sqrt(x)
		last = z
		y /= 2
		z -= (1 - x) * (1 - x) * y
	}
	return z / 3
}

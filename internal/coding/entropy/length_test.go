package entropy

import (
	"math"
	"math/rand/v2"
	"testing"
)

// ideal returns the length in bytes of an ideal Laplace code of b: log2((n+1)!/(x!(n-x)!))/8 for
// x ones of n bits.
func ideal(b Bits) float64 {
	n, x := float64(b.Len), float64(b.Count())
	lgamma := func(v float64) float64 { l, _ := math.Lgamma(v); return l }
	return (lgamma(n+2) - lgamma(x+1) - lgamma(n-x+1)) / math.Ln2 / 8
}

// excess returns by how many bytes payloads of n bits are longer than ideal on average,
// with its standard error, and the mean of the ideal lengths.
func excess(r *rand.Rand, n uint64, fill float64, trials int) (mean, deviation, length float64) {
	var c Coder
	var squares float64
	for range trials {
		b := random(r, n, fill)
		x := float64(len(c.Append(nil, b))) - ideal(b)
		mean += x / float64(trials)
		squares += x * x / float64(trials)
		length += ideal(b) / float64(trials)
	}
	return mean, math.Sqrt((squares - mean*mean) / float64(trials)), length
}

// TestLength: on average a payload exceeds ideal by at most a byte and 0.01 %.
func TestLength(t *testing.T) {
	trials := 20
	if testing.Short() {
		trials = 6
	}
	r := rand.New(rand.NewPCG(11, 12))
	for _, n := range []uint64{1 << 19, 100003, 5000} {
		for _, fill := range []float64{1e-6, 1e-5, 1e-4, 0.001, 0.01, 0.03, 0.1, 0.15, 0.2, 0.5} {
			mean, deviation, length := excess(r, n, fill, trials)
			if limit := 1 + length/10000; mean > limit+4*deviation {
				t.Errorf("%d bits of fill %v: %.2f bytes over %.1f, want %.2f at most", n, fill, mean, length, limit)
			}
		}
	}
}

// TestMitzenmacherFilters: Mitzenmacher 2002 encodes filters of 10^4 keys in 9920, 19805 and
// 9493 bytes on average. The mean ideal lengths are those of filters, not of random strings,
// over 100,000 trials (recomputed), plus the excess of our payloads.
func TestMitzenmacherFilters(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	for _, c := range []struct {
		m, k        uint64
		ideal, want float64
	}{
		{140000, 2, 9905.05, 9906},
		{480000, 3, 19787.49, 19789},
		{126000, 2, 9477.96, 9479},
	} {
		fill := -math.Expm1(-1e4 * float64(c.k) / float64(c.m))
		mean, deviation, _ := excess(r, c.m, fill, 36)
		if got := c.ideal + mean; got+4*deviation > c.want {
			t.Errorf("m=%d, k=%d: %.2f bytes on average, standard error %.2f, want %.0f at most", c.m, c.k, got, deviation, c.want)
		}
	}
}

package blocked

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"testing"
)

// TestKeys: the interval contains the true number of keys in about 95 % of the cases, and
// the estimate is right on average.
func TestKeys(t *testing.T) {
	const trials = 400
	for _, c := range []struct {
		blocks, keys   int
		words, perWord int
	}{{64, 3000, 3, 2}, {200, 4000, 4, 2}, {50, 2500, 8, 1}, {300, 30000, 5, 2}} {
		r := rand.New(rand.NewPCG(uint64(c.blocks), uint64(c.keys)))
		inside, sum := 0, 0.0
		for range trials {
			ones := simulateOnes(r, c.blocks, c.keys, c.words, c.perWord)
			e := estimateKeys(uint64(c.blocks)*512, c.words, c.perWord, ones)
			if e.Low <= float64(c.keys) && float64(c.keys) <= e.High {
				inside++
			}
			sum += e.Value
		}
		if share := float64(inside) / trials; share < 0.92 || share > 0.98 {
			t.Errorf("%+v: the true number is inside in %.3f of the cases, want 0.95", c, share)
		}
		if mean := sum / trials; math.Abs(mean/float64(c.keys)-1) > 0.004 {
			t.Errorf("%+v: the mean estimate is %.1f", c, mean)
		}
	}
	for _, c := range []struct {
		ones uint64
		want float64
	}{{0, 0}, {512, math.Inf(1)}, {600, math.Inf(1)}} {
		if e := estimateKeys(512, 3, 2, c.ones); e.Value != c.want || e.Low > e.High || math.IsNaN(e.Low+e.High) {
			t.Errorf("estimateKeys of %d ones in 512 is %v, want %v", c.ones, e, c.want)
		}
	}
}

// simulateOnes adds keys of 10 bits at most to blocks, and returns the number of bits
// set.
func simulateOnes(r *rand.Rand, blocks, keys, words, perWord int) (ones uint64) {
	set := make([]uint64, blocks*8)
	places := [8]int{0, 1, 2, 3, 4, 5, 6, 7}
	for range keys {
		block, random := r.IntN(blocks)*8, r.Uint64()
		for i := range words {
			j := i + r.IntN(8-i)
			places[i], places[j] = places[j], places[i]
			for range perWord {
				set[block+places[i]] |= 1 << (random % 64)
				random /= 64
			}
		}
	}
	for _, w := range set {
		ones += uint64(bits.OnesCount64(w))
	}
	return ones
}

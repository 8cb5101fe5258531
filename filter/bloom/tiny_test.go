package bloom_test

import (
	"math/rand/v2"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/bloom"
)

// A filter with the keys that it was planned for is not called overfull, also if these are few: at most one in 200 is.
func TestFewKeysAreNotTooMany(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, rate := range []float64{0.1, 0.01, 1e-4} {
		for _, n := range []uint64{1, 2, 3, 5, 8, 20, 50} {
			overfull := 0
			const trials = 2000
			for range trials {
				f, err := bloom.New(n, rate)
				if err != nil {
					t.Fatal(err)
				}
				for range n {
					f.Add(umbel.Digest{H1: random.Uint64(), H2: random.Uint64()})
				}
				if f.Planned().Exceeded(f.Stats().FPRate) {
					overfull++
				}
			}
			if overfull > trials/200 {
				t.Errorf("%d of %d filters for %d keys at %v are overfull", overfull, trials, n, rate)
			}
		}
	}
}

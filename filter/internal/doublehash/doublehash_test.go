package doublehash_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/umbel-filters/umbel/filter/internal/doublehash"
)

// TestPosition: positions are remainders, for any size.
func TestPosition(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	sizes := []uint64{64, 128, 192, 640, 1152, 1 << 20, 1<<20 - 64, 1 << 56, 1<<56 - 64}
	for range 200 {
		sizes = append(sizes, (1+rng.Uint64N(1<<20))<<6)
	}
	values := []uint64{0, 1, 63, 1 << 32, 1 << 63, 1<<64 - 1, 1<<64 - 64}
	for range 200 {
		values = append(values, rng.Uint64())
	}
	for _, m := range sizes {
		scale := doublehash.Scale(m)
		last := math.MaxUint64 / m * m // the greatest multiple, or the one before
		for _, v := range append([]uint64{m - 1, m, m + 1, last - 1, last, last + 1}, values...) {
			if got, want := doublehash.Position(v, m, scale), v%m; got != want {
				t.Fatalf("m=%d: %d is at %d, want %d", m, v, got, want)
			}
		}
	}
}

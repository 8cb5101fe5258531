package blocked

import (
	"fmt"
	"hash/fnv"
	"testing"
)

// TestPlansOfPlatforms: amd64 and arm64 plan the same. The latter fuses multiplications and additions,
// which changes the last bits of sums; `make platforms` runs this test in an emulator.
func TestPlansOfPlatforms(t *testing.T) {
	h := fnv.New64a()
	for _, n := range []uint64{1, 2, 5, 13, 21, 34, 58, 89, 150} {
		for _, p := range []float64{0.95, 0.9, 0.884, 0.5, 0.2, 0.03, 0.01, 1e-3, 1e-6} {
			m, err := size(n, 4, 2, max(p, 1e-3))
			fmt.Fprintln(h, n, p, m, err)
		}
	}
	const want = 0xaf2e3d3a71a1a82
	if got := h.Sum64(); got != want {
		t.Errorf("the plans have the hash %#x, want %#x as on amd64", got, uint64(want))
	}
}

package probe

import (
	"math/rand/v2"
	"testing"
)

// TestPrefetcherFindsTheGroup: a Prefetcher computes words without the size of groups, since
// Reduce to a multiple of the size stays in the same group.
func TestPrefetcherFindsTheGroup(t *testing.T) {
	rng := rand.NewPCG(1, 2)
	for range 10_000 {
		v, n, r := rng.Uint64(), rng.Uint64()>>16+1, rng.Uint64()>>56+1
		if word, group := Reduce(v, n*r), Reduce(v, n); word/r != group {
			t.Fatalf("value %d has word %d of %d groups of %d, and group %d", v, word, n, r, group)
		}
	}
}

package probe

import (
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
)

// Single additions next to batches lose no bit, and a digest is present when its addition has returned. The
// array is small, so that both write the same words.
func TestAddAtomicNextToBatches(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	rounds := 3000
	if testing.Short() {
		rounds = 300
	}
	for range rounds {
		a, err := cells.New(512, 1)
		if err != nil {
			t.Fatal(err)
		}
		b := NewBits(a, Mapping{Groups: 8, Log: WordLog}, 2, false)
		var ds [2][2][40]umbel.Digest // single and in batches, by goroutine
		for i := range ds {
			for j := range ds[i] {
				for n := range ds[i][j] {
					ds[i][j][n] = umbel.Digest{H1: rng.Uint64(), H2: rng.Uint64()}
				}
			}
		}
		var done sync.WaitGroup
		for i := range ds[0] {
			done.Go(func() {
				for _, d := range ds[0][i] {
					b.AddAtomic(d)
					if !b.Has(d) {
						t.Errorf("%v is absent after AddAtomic", d)
					}
				}
			})
			done.Go(func() {
				for n := 0; n < len(ds[1][i]); n += 10 {
					b.AddAllAtomic(ds[1][i][n : n+10])
					if d := ds[1][i][n+9]; !b.Has(d) {
						t.Errorf("%v is absent after AddAllAtomic", d)
					}
				}
			})
		}
		done.Wait()
		for _, ds := range ds {
			for _, ds := range ds {
				for _, d := range ds {
					if !b.Has(d) {
						t.Fatalf("%v was added and is absent", d)
					}
				}
			}
		}
	}
}

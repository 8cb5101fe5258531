package row

import (
	"math/rand/v2"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/probe"
)

// A large row, asked layer by layer, says what it says key by key, whatever dst held.
func TestHasAllOfALargeRow(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	ds := make([]umbel.Digest, 5000)
	for i := range ds {
		ds[i] = umbel.Digest{H1: rng.Uint64(), H2: rng.Uint64()}
	}
	var r Row
	for i, words := range []uint64{1, 1 << 18, 7 * (1 << 17)} {
		a, err := cells.New(words*64*5, 1)
		if err != nil {
			t.Fatal(err)
		}
		r.Append(Layer{Cells: a, Mapping: probe.Mapping{Groups: words, Log: probe.WordLog}, K: 5, Sliced: true, Full: a.Len / 2})
		for _, d := range ds[i*50 : i*50+50] {
			r.Put(d)
		}
	}
	if !r.isLarge() {
		t.Fatal("the row isn't large")
	}
	rng.Shuffle(len(ds), func(i, j int) { ds[i], ds[j] = ds[j], ds[i] })
	found := 0
	for _, n := range []int{0, 1, chunk - 1, chunk, chunk + 1, len(ds)} {
		has := make([]bool, n)
		for i := range has {
			has[i] = rng.IntN(2) == 0
		}
		r.HasAll(has, ds[:n])
		for i, d := range ds[:n] {
			if has[i] != r.Has(d) {
				t.Fatalf("of %d keys, HasAll of key %d is %v", n, i, has[i])
			}
			if has[i] {
				found++
			}
		}
	}
	if found < 150 {
		t.Errorf("%d keys found, 150 were added", found)
	}
}

package layered

import (
	"math/rand/v2"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/filter/internal/arrays"
)

// HasAll of a large list returns what Has returns, for any contents of dst.
func TestHasAllOfLargeList(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	ds := make([]umbel.Digest, 5000)
	for i := range ds {
		ds[i] = umbel.Digest{H1: rng.Uint64(), H2: rng.Uint64()}
	}
	var r List
	for i, words := range []uint64{1, 1 << 18, 7 * (1 << 17)} {
		b, err := arrays.NewBits(arrays.Partitioned, arrays.Shape{M: words * 64 * 5, K: 5, Group: arrays.WordGroup})
		if err != nil {
			t.Fatal(err)
		}
		r.Append(Layer{Bits: b, Full: words * 64 * 5 / 2})
		for _, d := range ds[i*50 : i*50+50] {
			r.put(d)
		}
	}
	if !r.isLarge() {
		t.Fatal("the list is not large")
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

func TestCovers(t *testing.T) {
	bits := func(at ...uint64) cells.Array {
		a, err := cells.New(200, 1)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range at {
			a.Put(i, 1)
		}
		return a
	}
	for _, c := range []struct {
		a, b cells.Array
		want bool
	}{
		{bits(), bits(), true},
		{bits(1, 70, 199), bits(1, 199), true},
		{bits(1, 70), bits(1, 70), true},
		{bits(1, 70), bits(1, 70, 199), false},
		{bits(), bits(0), false},
	} {
		if got := Covers(c.a, c.b); got != c.want {
			t.Errorf("Covers is %v, want %v: %b and %b", got, c.want, c.a.Words, c.b.Words)
		}
	}
}

package arrays_test

import (
	"math/rand/v2"
	"testing"

	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/filter/internal/arrays"
	"github.com/umbel-filters/umbel/plan"
)

// fill sets draws random cells of a, more than one of which may be the same.
func fill(a cells.Array, draws uint64, rng *rand.Rand) {
	for range draws {
		a.SetBit(rng.Uint64N(a.Len))
	}
}

// found returns the factor that EstimateKeys uses for an array: its estimates are the factors.
func found(a arrays.Array) uint64 {
	e := a.Keys(func(m, _ uint64) plan.Estimate {
		r := float64(m) / float64(a.Shape.M)
		return plan.Estimate{Value: r, Low: r, High: 1}
	})
	if e.Low == 0 {
		return 0
	}
	return uint64(1/e.Low + 0.5)
}

// Arrays of independent cells have no copies, however small or full they are.
func TestNoCopies(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 20000 {
		group := uint8(rng.IntN(2) * arrays.WordGroup)
		m := (1 + rng.Uint64N(60)) << group
		a := arrays.Array{Kind: arrays.Bloom, Shape: arrays.Shape{M: m, K: 1, Group: group}, Cells: bits(t, m)}
		fill(a.Cells, rng.Uint64N(2*m), rng)
		if u := found(a); u != 1 {
			t.Fatalf("%d cells in groups of 2^%d, %d of them set: unfolded by %d, want 1", m, group, a.Cells.Nonzero(), u)
		}
	}
}

// The factor is found if half of the cells are set after the unfold, and if there were several.
func TestCopies(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		group := uint8(rng.IntN(2) * arrays.WordGroup)
		m := (720 + rng.Uint64N(300)) << group
		a := arrays.Array{Kind: arrays.Bloom, Shape: arrays.Shape{M: m, K: 1, Group: group}, Cells: bits(t, m)}
		want := uint64(1)
		for range 1 + rng.IntN(2) {
			fill(a.Cells, a.Shape.M/4+rng.Uint64N(a.Shape.M/4), rng)
			u := 1 + rng.Uint64N(12)
			want *= u
			var err error
			if a, err = a.Unfold(u); err != nil {
				t.Fatal(err)
			}
		}
		fill(a.Cells, rng.Uint64N(a.Shape.M/4), rng)
		if u := found(a); u != want {
			t.Fatalf("%d cells in groups of 2^%d: unfolded by %d, want %d", m, group, u, want)
		}
	}
}

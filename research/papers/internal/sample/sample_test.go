package sample

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/research/papers/internal/piece"
	"github.com/umbel-filters/umbel/research/papers/internal/trial"
)

// The number of queries does not depend on the length of ds.
func TestFalsePositives(t *testing.T) {
	r := rand.NewChaCha8([32]byte{})
	for _, c := range []struct{ length, queries int }{{1, 5}, {7, 21}, {7, 22}, {100, 3}, {3, 0}} {
		queried := 0
		got := FalsePositives(r, make([]umbel.Digest, c.length), c.queries, func(umbel.Digest) bool { queried++; return queried%2 == 1 })
		if queried != c.queries || got != int64(c.queries+1)/2 {
			t.Errorf("%+v: %d queries, %d positives", c, queried, got)
		}
	}
}

// The rate of a filter of one cell is one; the rate of a plain filter is that of its
// formula.
func TestBloom(t *testing.T) {
	run := &piece.Run{Trials: 80, Runner: &trial.Runner{Dir: t.TempDir(), Seed: 1, Workers: 1}}
	for _, c := range []struct {
		m    uint64
		k, n int
		want float64
	}{{1, 1, 1, 1}, {1000, 1, 100, 0.0952077}} { // 1-(1-1/1000)^100
		got, err := Bloom(t.Context(), run, "test", c.m, c.k, c.n)
		if err != nil || got.Trials != 20 || math.Abs(got.Value-c.want) > 4*got.Error {
			t.Errorf("%+v: %+v, %v", c, got, err)
		}
	}
}

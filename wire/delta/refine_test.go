package delta_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/wire"
	"github.com/umbel-filters/umbel/wire/delta"
	"github.com/umbel-filters/umbel/wire/internal/wiretest"
)

// A fold and its refinement together take as much as the whole array, H(B) = H(fold) + H(B | fold),
// plus their heads and a few bytes per 64 KiB and per string.
func TestRefineCosts(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct {
		name  string
		m     uint64
		keys  int // that set 2 cells each
		r     uint64
		group uint64
	}{
		{"words", 960000, 20000, 2, 64},
		{"words, dense", 960000, 300000, 3, 64},
		{"many", 960000, 10000, 60, 64},
		{"blocks", 1 << 20, 20000, 4, 512},
		{"blocks of 256", 1 << 20, 20000, 4, 256},
		{"by remainder", 960000, 20000, 5, 192000},
		{"by remainder, odd", 999999, 50000, 3, 333333},
		{"single cells", 999999, 50000, 3, 1},
	} {
		full := hashed(t, rng, c.m, c.keys, 2)
		small, err := full.Fold(c.r, c.group)
		if err != nil {
			t.Fatal(err)
		}
		b, err := delta.Append(nil, bloomOf(small), bloomOf(full))
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		wantApplied(t, bloomOf(small), b, bloomOf(full))
		got, err := delta.Apply(bloomOf(small), b, wire.Limits{Workers: 4})
		if err != nil || !wiretest.Equal(got, bloomOf(full)) {
			t.Errorf("%s, by four workers: %v", c.name, err)
		}
		ideal := entropyBytes(full) - entropyBytes(small)
		if got := float64(len(b) - generalHead); got > 1.002*ideal+float64(4*(c.m>>18+1)+c.r/2+4) || got < 0.98*ideal {
			t.Errorf("%s: %.0f bytes, want %.1f at the entropy", c.name, got, ideal)
		}
	}
}

// entropyBytes returns the bytes of an array of bits at the entropy of its fill.
func entropyBytes(a cells.Array) float64 {
	p := float64(a.Nonzero()) / float64(a.Len)
	return -float64(a.Len) * (p*math.Log2(p) + (1-p)*math.Log2(1-p)) / 8
}

// Counters, and folds by factors that a refinement can't have, are encoded in another way; equal
// arrays take no bytes.
func TestRefineRest(t *testing.T) {
	counters, table := wiretest.Array(t, 1<<15, 4, wiretest.Noise), wiretest.Array(t, 100, 64, wiretest.Noise)
	sparse := wiretest.Array(t, 67*6400, 1, func(i int) uint64 {
		return wiretest.Noise(i) & wiretest.Noise(i+1000) & wiretest.Noise(i+2000) & wiretest.Noise(i+3000)
	})
	for name, c := range map[string]struct{ folded, full cells.Array }{
		"counters":       {fold(t, counters, 4), counters},
		"a large prime":  {fold(t, sparse, 67), sparse},
		"a large factor": {fold(t, wiretest.Array(t, 1<<20, 1, wiretest.Ones), 1<<14), wiretest.Array(t, 1<<20, 1, wiretest.Ones)},
	} {
		folded := umbel.State{Kind: "x", Arrays: []cells.Array{c.folded, table}}
		full := umbel.State{Kind: "x", Arrays: []cells.Array{c.full, table}}
		b, err := delta.Append(nil, folded, full)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		wantApplied(t, folded, b, full)
	}
	same := umbel.State{Kind: "x", Arrays: []cells.Array{counters, sparse}}
	b, err := delta.Append(nil, same, same)
	if err != nil {
		t.Fatal(err)
	}
	wantApplied(t, same, b, same)
	if len(b) > 100 {
		t.Errorf("nothing to refine in %d bytes", len(b))
	}
}

package share

import (
	"math/rand/v2"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
)

// someState returns a state with two arrays, one of them in a part.
func someState(t testing.TB) umbel.State {
	t.Helper()
	array := func(n uint64, width uint) cells.Array {
		a, err := cells.New(n, width)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	return umbel.State{
		Kind: "x", Params: umbel.Params{{Name: "n", Value: umbel.Uint(0)}}, Arrays: []cells.Array{array(64*600, 1)},
		Parts: []umbel.State{{Kind: "y", Params: umbel.Params{{Name: "n", Value: umbel.Uint(0)}}, Arrays: []cells.Array{array(64*40, 4)}}},
	}
}

// mutate changes words and parameters.
func mutate(rng *rand.Rand, s umbel.State, words int) umbel.State {
	s = s.Clone()
	for range words {
		for _, a := range flatten(nil, s) {
			a.Words[rng.IntN(len(a.Words))] ^= 1 << rng.IntN(64)
		}
	}
	if rng.IntN(2) == 0 {
		s.Params[0].Value = umbel.Uint(rng.Uint64())
		s.Parts[0].Params[0].Value = umbel.Uint(rng.Uint64())
	}
	return s
}

// The history reconstructs every version that it has, in any order, as publishers use it: with
// versions that fail, and versions of another shape.
func TestHistory(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for range 200 {
		var h history
		var stored []umbel.State // version i+1
		current := someState(t)
		limit := uint64(5 + rng.IntN(200))
		for range 40 {
			next := mutate(rng, current, rng.IntN(8))
			if rng.IntN(15) == 0 {
				next.Arrays[0].Len -= 64
				next.Arrays[0].Words = next.Arrays[0].Words[1:]
			}
			connected := len(stored) > 0 && h.add(next, limit)
			for range rng.IntN(4) { // deltas to the next version
				if len(stored) > 0 {
					checkSeek(t, &h, stored, h.oldest()+rng.Uint64N(uint64(len(stored))-h.oldest()+1))
				}
			}
			if fails := rng.IntN(4) == 0; fails && len(stored) > 0 {
				h.seek(uint64(len(stored)))
				if connected {
					h.removeLast()
				}
				continue
			}
			stored, current = append(stored, next), next
			if connected {
				h.seek(uint64(len(stored)))
			} else {
				h.reset(next, uint64(len(stored)))
			}
			if h.at != uint64(len(stored)) || len(h.revisions) > 1 && h.words > limit {
				t.Fatalf("at version %d of %d, %d words, the limit is %d", h.at, len(stored), h.words, limit)
			}
		}
		for v := uint64(len(stored)); v >= h.oldest(); v-- {
			checkSeek(t, &h, stored, v)
		}
	}
}

func checkSeek(t *testing.T, h *history, stored []umbel.State, v uint64) {
	t.Helper()
	h.seek(v)
	if h.at != v || !h.state.Equal(stored[v-1]) {
		t.Fatalf("version %d is another state than was added", v)
	}
}

// The history keeps at most horizon versions and shares no memory with what was added.
func TestHistoryLimits(t *testing.T) {
	var h history
	s := someState(t)
	h.reset(s, 1)
	for v := uint64(2); v < 2*horizon; v++ {
		s.Params[0].Value = umbel.Uint(v)
		if !h.add(s, 1000) {
			t.Fatal("not connected")
		}
		h.seek(v)
		if n := uint64(len(h.revisions)); n != min(v-1, horizon) {
			t.Fatalf("version %d: %d revisions", v, n)
		}
	}
	s.Arrays[0].Words[0]++
	if h.state.Arrays[0].Words[0] != 0 {
		t.Error("the history shares memory")
	}
	many := mutate(rand.New(rand.NewPCG(1, 1)), s, 900)
	if h.add(many, 10) {
		t.Error("a version with more changes than the limit is connected")
	}
	other := s.Clone()
	other.Hasher.Seed.Lo++
	if h.add(other, 1000) {
		t.Error("a version with another hasher is connected")
	}
}

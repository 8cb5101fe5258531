package share

import (
	"bytes"
	"iter"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/internal/fixture"
	"github.com/umbel-filters/umbel/wire/delta"
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
		for _, a := range s.AllArrays() {
			a.Words[rng.IntN(len(a.Words))] ^= 1 << rng.IntN(64)
		}
	}
	if rng.IntN(2) == 0 {
		s.Params[0].Value = umbel.Uint(rng.Uint64())
		s.Parts[0].Params[0].Value = umbel.Uint(rng.Uint64())
	}
	return s
}

// The history reconstructs every version that it has, and what has changed since, as publishers use it:
// with versions that fail, and versions of another shape.
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
			connected := len(stored) > 0 && h.add(next, nil, limit)
			if fails := rng.IntN(4) == 0; fails && len(stored) > 0 {
				if connected {
					h.removeNewest()
				}
				checkHistory(t, &h, stored, h.oldest()+rng.Uint64N(uint64(len(stored))-h.oldest()+1))
				continue
			}
			stored, current = append(stored, next), next
			if !connected {
				h = newHistory(next.Clone(), uint64(len(stored)), nil)
			}
			if h.version != uint64(len(stored)) || h.bytes() > limit {
				t.Fatalf("at version %d of %d, %d bytes, the limit is %d", h.version, len(stored), h.bytes(), limit)
			}
			checkHistory(t, &h, stored, h.oldest()+rng.Uint64N(uint64(len(stored))-h.oldest()+1))
		}
		for v := uint64(len(stored)); v >= h.oldest(); v-- {
			checkHistory(t, &h, stored, v)
		}
	}
}

// checkHistory fails unless the history has a version, and what has changed since then. It need not have
// versions with which no delta begins.
func checkHistory(t *testing.T, h *history, stored []umbel.State, v uint64) {
	t.Helper()
	if !h.has(v) {
		if begins(v, h.version) {
			t.Errorf("at version %d, version %d is missing", h.version, v)
		}
		return
	}
	if err := h.visit(v, func(s umbel.State) error {
		if !s.Equal(stored[v-1]) {
			t.Errorf("version %d is another state than was added", v)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if !h.state.Equal(stored[h.version-1]) {
		t.Fatalf("after a visit of version %d the newest one is another", v)
	}
	if v == h.version {
		return
	}
	want, ok := delta.Compare(stored[v-1], h.state, nil)
	before, got := h.between(v, h.version)
	if !ok || !before.WithoutArrays().Equal(stored[v-1].WithoutArrays()) {
		t.Fatalf("version %d has other parameters", v)
	}
	if !bytes.Equal(got.Append(nil), want.Append(nil)) {
		t.Fatalf("since version %d other words have changed", v)
	}
}

// The history keeps few of the last versions and shares no memory with what was added.
func TestHistoryLimits(t *testing.T) {
	s := someState(t)
	h := newHistory(s.Clone(), 1, nil)
	for v := uint64(2); v < 2*horizon; v++ {
		s.Params[0].Value = umbel.Uint(v)
		if !h.add(s, nil, 1000) {
			t.Fatal("not connected")
		}
		if n := len(h.revisions); n > 5*levels+base || h.oldest() > max(base, v/3*2) {
			t.Fatalf("version %d: %d revisions, from version %d", v, n, h.oldest())
		}
	}
	s.Arrays[0].Words[0]++
	if h.state.Arrays[0].Words[0] != 0 {
		t.Error("the history shares memory")
	}
	many := mutate(rand.New(rand.NewPCG(1, 1)), s, 900)
	if h.add(many, nil, 1000) {
		t.Error("a version with more changes than the limit is connected")
	}
	other := s.Clone()
	other.Hasher.Seed = fixture.Seed(1, 0)
	if h.add(other, nil, 1000) {
		t.Error("a version with another hasher is connected")
	}
}

// If the changed words are listed, no other word is compared.
func TestHistoryChanged(t *testing.T) {
	s := someState(t)
	h := newHistory(s.Clone(), 1, nil)
	s.Arrays[0].Words[598]++
	s.Arrays[0].Words[599]++
	s.Parts[0].Arrays[0].Words[3]++
	if !h.add(s, func(array int) iter.Seq[uint64] {
		if array == 0 {
			return slices.Values([]uint64{0, 599})
		}
		return nil
	}, 1000) {
		t.Fatal("not connected")
	}
	want := someState(t)
	want.Arrays[0].Words[599] = 1
	if !h.state.Equal(want) {
		t.Error("the history has another state")
	}
	h.removeNewest()
	if !h.state.Equal(someState(t)) {
		t.Error("the history has another state before the version")
	}
}

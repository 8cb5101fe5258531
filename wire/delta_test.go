package wire_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/wire"
	"pgregory.net/rapid"
)

// mustDelta returns the delta from one state to another, having applied it.
func mustDelta(t testing.TB, old, new umbel.State) []byte {
	t.Helper()
	b, err := wire.Delta(nil, old, new)
	if err != nil {
		t.Fatal(err)
	}
	wantApplied(t, old, b, new)
	return b
}

// wantApplied fails unless delta makes want of old, and leaves old as it was.
func wantApplied(t testing.TB, old umbel.State, delta []byte, want umbel.State) {
	t.Helper()
	before := old.Clone()
	got, err := wire.Apply(old, delta, wire.Limits{Bytes: max(want.Bytes(), 1)})
	if err != nil {
		t.Fatalf("Apply: %v", err)
	}
	if !equal(got, want) {
		t.Fatal("Apply made another state")
	}
	if !equal(old, before) {
		t.Fatal("Apply changed the old state")
	}
}

// A delta makes its result of its base, whatever the two have in common, and isn't
// longer than the packed container but for its head and a few bytes for each block.
func TestDelta(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		old := drawState(t, umbel.MaxDepth)
		new := drawChange(t, old)
		before := old.Clone()
		b, err := wire.Differ{Workers: rapid.IntRange(0, 3).Draw(t, "workers")}.Delta([]byte("before"), old, new)
		if err != nil || !bytes.HasPrefix(b, []byte("before")) {
			t.Fatal(err)
		}
		b = b[len("before"):]
		if alone, err := wire.Delta(nil, old, new); err != nil || !bytes.Equal(alone, b) {
			t.Fatalf("the number of workers changes the bytes: %v", err)
		}
		l := wire.Limits{Workers: rapid.IntRange(0, 3).Draw(t, "workers of Apply")}
		got, err := wire.Apply(old, b, l)
		if err != nil || !equal(got, new) {
			t.Fatalf("Apply: %v", err)
		}
		if !equal(old, before) {
			t.Fatal("the old state changed")
		}
		if packed, err := (wire.Packer{}).Append(nil, new); err != nil || len(b) > len(packed)+slack(new)+len(b)/1000 {
			t.Fatalf("%d bytes, the packed container %d: %v", len(b), len(packed), err)
		}
	})
}

// slack is how much longer than the container of s a delta may be: by its head, a few
// bytes for each state and plane, and two or three for each block.
func slack(s umbel.State) int {
	n := 80
	for _, a := range s.Arrays {
		n += 16 + 3*(len(a.Words)/8192+1)
	}
	for _, p := range s.Parts {
		n += slack(p)
	}
	return n
}

// drawChange draws a state of the kind and the hasher of s that has something of it.
func drawChange(t *rapid.T, s umbel.State) umbel.State {
	new := s.Clone()
	for i := range new.Params {
		if rapid.Bool().Draw(t, "changed") {
			new.Params[i].Value = umbel.Uint(rapid.Uint64().Draw(t, "param"))
		}
	}
	if rapid.IntRange(0, 9).Draw(t, "fewer params") == 0 && len(new.Params) > 0 {
		new.Params = new.Params[1:]
	}
	for i, a := range new.Arrays {
		new.Arrays[i] = drawChangedPlane(t, a)
	}
	if rapid.IntRange(0, 4).Draw(t, "another plane") == 0 {
		new.Arrays = append([]cells.Array{drawArray(t)}, new.Arrays...)
	}
	for i, p := range new.Parts {
		new.Parts[i] = drawChange(t, p)
	}
	switch n := len(new.Parts); rapid.IntRange(0, 5).Draw(t, "parts") {
	case 0:
		if n > 0 {
			new.Parts = new.Parts[1:]
		}
	case 1:
		if n > 0 {
			new.Parts = append([]umbel.State{new.Parts[n-1].Clone()}, new.Parts...)
		}
	}
	return new
}

// drawChangedPlane draws what a plane may become: some cells changed, a fold, an unfold
// with cells changed, one that a is the fold of, another plane.
func drawChangedPlane(t *rapid.T, a cells.Array) cells.Array {
	group := rapid.SampledFrom([]uint64{1, 64, 256, 512, max(a.Len, 1)}).Draw(t, "group")
	factor := rapid.Uint64Range(1, 6).Draw(t, "factor")
	rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
	flip := func(a cells.Array, n int) cells.Array {
		for range n {
			if a.Len > 0 {
				a.Put(rng.Uint64N(a.Len), rng.Uint64()&a.Limit())
			}
		}
		return a
	}
	few := rapid.IntRange(0, 30).Draw(t, "flips")
	switch rapid.IntRange(0, 7).Draw(t, "change") {
	case 0:
		return a
	case 1, 2, 3:
		return flip(a, few)
	case 4:
		if f, err := a.Fold(factor, group); err == nil {
			return flip(f, few)
		}
	case 5:
		if u, err := a.Unfold(factor, group); err == nil {
			return flip(u, few)
		}
	case 6:
		if u, err := a.Unfold(factor, group); err == nil && factor > 1 {
			thin(rng, u, group, factor)
			return u
		}
	}
	return drawArray(t)
}

// thin clears cells of an unfold so that its fold stays what it was.
func thin(rng *rand.Rand, a cells.Array, group, factor uint64) {
	for i := uint64(0); i < a.Len; i += group * factor {
		for j := range group {
			keep := rng.Uint64N(factor)
			for s := range factor {
				if s != keep && rng.IntN(2) == 0 {
					a.Put(i+s*group+j, 0)
				}
			}
		}
	}
}

func TestDeltaErrors(t *testing.T) {
	s := sample(t)
	other := s.Clone()
	other.Kind = "other"
	hasher := s.Clone()
	hasher.Hasher = umbel.Hasher{}
	dst := []byte("before")
	for name, c := range map[string]struct {
		old, new umbel.State
		want     error
	}{
		"another kind":   {s, other, umbel.ErrMismatch},
		"another hasher": {s, hasher, umbel.ErrMismatch},
		"no old kind":    {umbel.State{}, s, umbel.ErrCorrupt},
		"no new kind":    {s, umbel.State{}, umbel.ErrCorrupt},
		"too many parts": {s, umbel.State{Kind: s.Kind, Hasher: s.Hasher, Parts: repeat(s, 1<<16)}, umbel.ErrLimit},
	} {
		b, err := wire.Delta(dst, c.old, c.new)
		if !errors.Is(err, c.want) || !bytes.Equal(b, dst) {
			t.Errorf("%s: %q, %v, want what was there and %v", name, b, err, c.want)
		}
	}
}

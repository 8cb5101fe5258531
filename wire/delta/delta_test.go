package delta_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/wire"
	"github.com/umbel-filters/umbel/wire/delta"
	"github.com/umbel-filters/umbel/wire/internal/wiretest"
	"pgregory.net/rapid"
)

// mustDelta returns the delta from base to result, and checks that it can be applied.
func mustDelta(t testing.TB, base, result umbel.State) []byte {
	t.Helper()
	b, err := delta.Append(nil, base, result)
	if err != nil {
		t.Fatal(err)
	}
	wantApplied(t, base, b, result)
	return b
}

// wantApplied fails unless delta gives want when applied to base, and leaves base unchanged.
func wantApplied(t testing.TB, base umbel.State, message []byte, want umbel.State) {
	t.Helper()
	before := base.Clone()
	got, err := delta.Apply(base, message, wire.Limits{Bytes: max(want.Bytes(), 1)})
	if err != nil {
		t.Fatalf("Apply: %v", err)
	}
	if !wiretest.Equal(got, want) {
		t.Fatal("Apply made another state")
	}
	if !wiretest.Equal(base, before) {
		t.Fatal("Apply changed the base")
	}
}

// Apply of a delta returns the result, for any base and result. A delta is at most
// as long as the packed container plus a head and a few bytes per block.
func TestDelta(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		base := wiretest.DrawState(t, umbel.MaxDepth)
		result := drawChange(t, base)
		before := base.Clone()
		b, err := delta.Encoder{Workers: rapid.IntRange(0, 3).Draw(t, "workers")}.Append([]byte("before"), base, result)
		if err != nil || !bytes.HasPrefix(b, []byte("before")) {
			t.Fatal(err)
		}
		b = b[len("before"):]
		if alone, err := delta.Append(nil, base, result); err != nil || !bytes.Equal(alone, b) {
			t.Fatalf("the number of workers changes the bytes: %v", err)
		}
		l := wire.Limits{Workers: rapid.IntRange(0, 3).Draw(t, "workers of Apply")}
		got, err := delta.Apply(base, b, l)
		if err != nil || !wiretest.Equal(got, result) {
			t.Fatalf("Apply: %v", err)
		}
		if !wiretest.Equal(base, before) {
			t.Fatal("the base changed")
		}
		if packed, err := (wire.Packer{}).Append(nil, result); err != nil || len(b) > len(packed)+slack(result)+len(b)/1000 {
			t.Fatalf("%d bytes, the packed container %d: %v", len(b), len(packed), err)
		}
	})
}

// slack returns the number of bytes by which a delta may exceed the container of s: its head, a few
// bytes per state and array, and two or three per block.
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

// drawChange draws a state with the kind and hasher of s that has something in common with s.
func drawChange(t *rapid.T, s umbel.State) umbel.State {
	result := s.Clone()
	for i := range result.Params {
		if rapid.Bool().Draw(t, "changed") {
			result.Params[i].Value = umbel.Uint(rapid.Uint64().Draw(t, "param"))
		}
	}
	if rapid.IntRange(0, 9).Draw(t, "fewer params") == 0 && len(result.Params) > 0 {
		result.Params = result.Params[1:]
	}
	for i, a := range result.Arrays {
		result.Arrays[i] = drawChangedArray(t, a)
	}
	if rapid.IntRange(0, 4).Draw(t, "another plane") == 0 {
		result.Arrays = append([]cells.Array{wiretest.DrawArray(t)}, result.Arrays...)
	}
	for i, p := range result.Parts {
		result.Parts[i] = drawChange(t, p)
	}
	switch n := len(result.Parts); rapid.IntRange(0, 5).Draw(t, "parts") {
	case 0:
		if n > 0 {
			result.Parts = result.Parts[1:]
		}
	case 1:
		if n > 0 {
			result.Parts = append([]umbel.State{result.Parts[n-1].Clone()}, result.Parts...)
		}
	}
	return result
}

// drawChangedArray draws a successor of an array: with some cells changed, a fold, an unfold
// with cells changed, an array that it is the fold of, or an unrelated array.
func drawChangedArray(t *rapid.T, a cells.Array) cells.Array {
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
	return wiretest.DrawArray(t)
}

// thin clears cells of an unfold without changing its fold.
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
	s := wiretest.Sample(t)
	other := s.Clone()
	other.Kind = "other"
	hasher := s.Clone()
	hasher.Hasher = umbel.Hasher{}
	dst := []byte("before")
	for name, c := range map[string]struct {
		base, result umbel.State
		want         error
	}{
		"another kind":   {s, other, umbel.ErrMismatch},
		"another hasher": {s, hasher, umbel.ErrMismatch},
		"no old kind":    {umbel.State{}, s, umbel.ErrCorrupt},
		"no new kind":    {s, umbel.State{}, umbel.ErrCorrupt},
		"too many parts": {s, umbel.State{Kind: s.Kind, Hasher: s.Hasher, Parts: slices.Repeat([]umbel.State{s}, 1<<16)}, umbel.ErrCorrupt},
	} {
		b, err := delta.Append(dst, c.base, c.result)
		if !errors.Is(err, c.want) || !bytes.Equal(b, dst) {
			t.Errorf("%s: %q, %v, want what was there and %v", name, b, err, c.want)
		}
	}
}

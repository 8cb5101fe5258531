package wire_test

import (
	"slices"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"pgregory.net/rapid"
)

// array returns an array of len cells of width bits; word i holds what word(i)
// returns, cut to the cells there are.
func array(t testing.TB, len uint64, width uint, word func(i int) uint64) cells.Array {
	t.Helper()
	a, err := cells.New(len, width)
	if err != nil {
		t.Fatal(err)
	}
	for i := range a.Words {
		a.Words[i] = word(i)
	}
	if used := len * uint64(width) & 63; used != 0 {
		a.Words[cap(a.Words)-1] &= 1<<used - 1
	}
	return a
}

// noise is a word function that neither repeats nor compresses.
func noise(i int) uint64 { return umbel.DigestFromHash64(uint64(i)).H2 }

func zeros(int) uint64 { return 0 }
func ones(int) uint64  { return ^uint64(0) }

// sample is a small state with all that a container knows: params of both types,
// raw, empty and full blocks, parts in parts.
func sample(t testing.TB) umbel.State {
	inner := umbel.State{Kind: "inner", Arrays: []cells.Array{array(t, 3, 16, noise)}}
	return umbel.State{
		Kind:   "example.org/outer",
		Hasher: umbel.Hasher{Alg: umbel.SipHash, Seed: umbel.SeedFrom([16]byte{1, 2, 15: 16})},
		Params: umbel.Params{{Name: "k", Value: umbel.Uint(7)}, {Name: "rate", Value: umbel.Float(0.01)}},
		Arrays: []cells.Array{array(t, 70, 1, noise), array(t, 9, 8, ones), array(t, 100, 2, zeros), {Width: 4}},
		Parts:  []umbel.State{inner, {Kind: "middle", Parts: []umbel.State{inner}}},
	}
}

// equal reports whether two states are the same; no planes is the same as none.
func equal(s, t umbel.State) bool {
	return s.Kind == t.Kind && s.Hasher == t.Hasher && slices.Equal(s.Params, t.Params) &&
		slices.EqualFunc(s.Arrays, t.Arrays, cells.Array.Equal) && slices.EqualFunc(s.Parts, t.Parts, equal)
}

var widths = []uint{1, 2, 4, 8, 16, 32, 64}

// drawState draws a state that nests depth deep at most.
func drawState(t *rapid.T, depth int) umbel.State {
	name := rapid.StringMatching(`[a-z0-9./-]{1,64}`)
	s := umbel.State{Kind: name.Draw(t, "kind"), Hasher: drawHasher(t)}
	for _, n := range rapid.SliceOfNDistinct(name, 0, 4, rapid.ID).Draw(t, "params") {
		v := umbel.Uint(rapid.Uint64().Draw(t, "whole"))
		if rapid.Bool().Draw(t, "is float") {
			v = umbel.Float(rapid.Float64Range(-1e300, 1e300).Draw(t, "float"))
		}
		s.Params = append(s.Params, umbel.Param{Name: n, Value: v})
	}
	for range rapid.IntRange(0, 3).Draw(t, "planes") {
		s.Arrays = append(s.Arrays, drawArray(t))
	}
	if depth > 1 {
		for range rapid.IntRange(0, 2).Draw(t, "parts") {
			s.Parts = append(s.Parts, drawState(t, depth-1))
		}
	}
	return s
}

func drawHasher(t *rapid.T) umbel.Hasher {
	h := umbel.Hasher{Alg: umbel.Alg(rapid.IntRange(int(umbel.XXH3), int(umbel.Caller)).Draw(t, "alg"))}
	switch h.Alg {
	case umbel.XXH3, umbel.XXH64:
		h.Seed.Lo = rapid.Uint64().Draw(t, "seed")
	case umbel.SipHash:
		h.Seed = umbel.Seed{Lo: rapid.Uint64().Draw(t, "lo"), Hi: rapid.Uint64().Draw(t, "hi")}
	}
	return h
}

// drawArray draws an array of some blocks, each noise, zeros or ones.
func drawArray(t *rapid.T) cells.Array {
	width := rapid.SampledFrom(widths).Draw(t, "width")
	bits := rapid.OneOf(rapid.Uint64Range(0, 300), rapid.Uint64Range(0, 3<<19)).Draw(t, "bits")
	a, err := cells.New(bits/uint64(width), width)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range a.Blocks(1 << 13) {
		word := rapid.SampledFrom([]func(int) uint64{noise, zeros, ones}).Draw(t, "block")
		for i := range b {
			b[i] = word(i)
		}
	}
	if used := a.Len * uint64(width) & 63; used != 0 {
		a.Words[len(a.Words)-1] &= 1<<used - 1
	}
	return a
}

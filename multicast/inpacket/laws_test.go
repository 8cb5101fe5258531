package inpacket

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestNoFalseNegative: links that were added match, for any form, m, K and seed.
func TestNoFalseNegative(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := drawHeader(t)
		cs := rapid.SliceOfN(rapid.Custom(drawCodeword), 1, 70).Draw(t, "codewords")
		before, dst := bytes.Clone(h.Filter), make([]uint64, 2)
		match := NewTable(cs).Match
		switch h.Form {
		case Single, Folded:
			for _, c := range cs {
				if err := h.Or(c); err != nil {
					t.Fatal(err)
				}
			}
		case Dense:
			h.Seed = 0
			sets := drawSets(t, h.Bits, len(cs))
			for _, c := range sets[0] {
				c[0] |= 1
				if err := h.OrDense(c); err != nil {
					t.Fatal(err)
				}
			}
			match = NewDenseTable(h.Bits, sets).Match
		default:
			if err := h.Or(cs[0]); !errors.Is(err, errors.ErrUnsupported) || !bytes.Equal(h.Filter, before) {
				t.Fatalf("added to form %d: %v", h.Form, err)
			}
			return
		}
		if err := h.check(); err != nil {
			t.Fatal(err)
		}
		match(dst, &h)
		for i := range cs {
			if dst[i/64]>>(i%64)&1 == 0 {
				t.Fatalf("link %d of %d isn't held", i, len(cs))
			}
		}
	})
}

// TestStagesHold: a link matches in its stage, at routers that see the TTL of that stage.
func TestStagesHold(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "filter's bits"), 0))
		n := rapid.IntRange(1, 8).Draw(t, "stages")
		h := Header{Form: Staged, K: rapid.Uint8Range(1, 15).Draw(t, "K"), Seed: rapid.Uint16().Draw(t, "seed")}
		h.Bits, h.Filter = randomStages(r, 200, n)
		h.TTL = uint8(rapid.IntRange(1, n).Draw(t, "TTL"))
		s, ok := stageFor(h.Filter, h.Bits, h.TTL)
		if !ok || s.bits == 0 {
			t.Skip("a stage without bits")
		}
		c := drawCodeword(t)
		for _, p := range c.AppendPositions(nil, StageSeed(h.Seed, s.nibble), h.K, s.bits) {
			at := s.first + int(p)
			h.Filter[at/8] |= 1 << (at % 8)
		}
		var dst [1]uint64
		NewTable([]Codeword{c}).Match(dst[:], &h)
		if dst[0] != 1 {
			t.Fatalf("not held in stage %d", h.TTL)
		}
	})
}

// TestFoldedPositions: positions at a divisor of FoldBase are the positions at FoldBase,
// divided.
func TestFoldedPositions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawCodeword(t)
		base := c.AppendPositions(nil, 0, maxK, FoldBase)
		for _, m := range divisors() {
			for i, p := range c.AppendPositions(nil, 0, maxK, m) {
				if int(p) != int(base[i])/(FoldBase/m) {
					t.Fatalf("m = %d: position %d is %d, at FoldBase %d", m, i, p, base[i])
				}
			}
		}
	})
}

// TestDivisor: tables divide every 16-bit number exactly by every divisor.
func TestDivisor(t *testing.T) {
	ds := divisors()
	if len(ds) != 120 {
		t.Fatalf("%d divisors of %d", len(ds), FoldBase)
	}
	for _, g := range ds {
		by := newDivisor(g)
		for n := range 1 << 16 {
			if got := by.quotient(uint16(n)); got != uint64(n/g) {
				t.Fatalf("%d/%d = %d", n, g, got)
			}
		}
	}
}

// TestMatchOfInvalid: an invalid header matches nothing, and Match doesn't panic.
func TestMatchOfInvalid(t *testing.T) {
	table := NewTable([]Codeword{{1, 2}, {3, 4}})
	dense := NewDenseTable(64, [][]BitString{{{1}, {2}}})
	for name, h := range map[string]Header{
		"zero":          {},
		"no filter":     {Form: Single, K: 1, Bits: 8},
		"short filter":  {Form: Linear, Bits: 100, Filter: []byte{255}},
		"K 0":           {Form: Single, Bits: 8, Filter: []byte{255}},
		"K 0, folded":   {Form: Folded, Bits: 8, Filter: []byte{255}},
		"K 16":          {Form: Single, K: 16, Bits: 8, Filter: []byte{255}},
		"no divisor":    {Form: Folded, K: 1, Bits: 13, Filter: []byte{255, 31}},
		"TTL 0":         {Form: Staged, K: 1, Bits: 13, Filter: []byte{0x10, 0x10}},
		"no stage":      {Form: Staged, K: 1, Bits: 13, TTL: 2, Filter: []byte{0x10, 0x10}},
		"stage cut":     {Form: Staged, K: 1, Bits: 13, TTL: 1, Filter: []byte{0xf0, 0x1f}},
		"stage of 0":    {Form: Staged, K: 1, Bits: 12, TTL: 1, Filter: []byte{0, 0}},
		"form 5":        {Form: 5, K: 1, Bits: 8, Filter: []byte{255}},
		"form 8":        {Form: 8, K: 1, Bits: 8, Filter: []byte{255}},
		"deep, of 0":    {Form: Deep, K: 15, Bits: 7, Filter: []byte{127}},
		"complement, K": {Form: Complement, K: 16, Bits: 8, Filter: []byte{255}},
		"dense, long":   {Form: Dense, Bits: 65, Filter: bytes.Repeat([]byte{255}, 9)},
		"dense, seed":   {Form: Dense, Seed: 1, Bits: 8, Filter: []byte{255}},
		"dense, short":  {Form: Dense, Bits: 16, Filter: []byte{255}},
		"sections of 0": {Form: Linear, K: 15, Bits: 7, Filter: []byte{127}},
	} {
		for which, match := range map[string]func([]uint64, *Header){"table": table.Match, "dense": dense.Match} {
			dst := []uint64{3}
			match(dst, &h)
			if dst[0] != 0 {
				t.Errorf("%s: %s matches %b", name, which, dst[0])
			}
		}
	}
}

func TestStageCodes(t *testing.T) {
	for code := range 256 {
		if got, ok := StageCode(StageBits(uint8(code))); !ok || int(got) != code {
			t.Errorf("code %d is of %d bits, whose code is %d, %v", code, StageBits(uint8(code)), got, ok)
		}
	}
	for n := range maxStageBits + 1 {
		code, ok := StageCode(n)
		if !ok || StageBits(code) < n || code > 0 && StageBits(code-1) >= n {
			t.Errorf("%d bits: code %d of %d bits, %v", n, code, StageBits(code), ok)
		}
	}
	for _, n := range []int{-1, maxStageBits + 1} {
		if _, ok := StageCode(n); ok {
			t.Errorf("%d bits have a code", n)
		}
	}
}

func TestSections(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k, m := rapid.Uint8Range(0, 15).Draw(t, "K"), rapid.IntRange(1, MaxBits).Draw(t, "m")
		form := rapid.SampledFrom(sectioned).Draw(t, "form")
		sections, bits := Sections(form, k, m)
		sum := 0
		for p, n := range bits {
			sum += n
			if n < 0 || p >= sections && n != 0 || form != Complement && p < sections-1 && n > bits[sections-1] {
				t.Fatalf("K = %d, m = %d: %v", k, m, bits)
			}
		}
		if sum != m {
			t.Fatalf("form %d, K = %d, m = %d: %v are %d", form, k, m, bits, sum)
		}
	})
	for f := range Form(16) {
		if sections, _ := Sections(f, 0, 100); (sections > 0) != slices.Contains(sectioned, f) {
			t.Errorf("form %d has %d sections", f, sections)
		}
	}
}

func TestAddRefuses(t *testing.T) {
	h := simple()
	if err := h.OrDense(BitString{1}); !errors.Is(err, errors.ErrUnsupported) {
		t.Error(err)
	}
	h.Filter = h.Filter[:2]
	if err := h.Or(Codeword{}); !errors.Is(err, ErrMalformed) {
		t.Error(err)
	}
	d := Header{Form: Dense, Bits: 65, Filter: make([]byte, 9)}
	if err := d.OrDense(BitString{1}); !errors.Is(err, ErrMalformed) {
		t.Error(err)
	}
}

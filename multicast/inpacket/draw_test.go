package inpacket

import (
	"math/rand/v2"

	"pgregory.net/rapid"
)

// drawHeader draws a valid header of any form.
func drawHeader(t *rapid.T) Header {
	return drawHeaderOf(t, rapid.SampledFrom([]Form{Single, Staged, Folded, Linear, Dense, Deep, Complement}).Draw(t, "form"))
}

// drawHeaderOf draws a valid header of a form. Its filter is empty, half full or nearly full.
func drawHeaderOf(t *rapid.T, form Form) Header {
	r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "filter's bits"), 0))
	h := Header{
		TTL:   rapid.Byte().Draw(t, "TTL"),
		Form:  form,
		Seed:  rapid.Uint16().Draw(t, "seed"),
		Bits:  rapid.OneOf(rapid.IntRange(1, 300), rapid.IntRange(1, 2000), rapid.Just(MaxBits)).Draw(t, "bits"),
		Epoch: rapid.Uint16().Draw(t, "epoch"),
		Group: rapid.Uint32().Draw(t, "group"),
	}
	if rapid.Bool().Draw(t, "narrow") {
		h.Seed &= 0xff
	}
	switch h.Form {
	case Folded:
		h.Seed = 0
		h.Bits = rapid.SampledFrom(divisors()).Draw(t, "divisor")
	case Linear, Deep, Complement:
		h.K = rapid.Uint8Range(0, 15).Draw(t, "K")
	}
	if h.Form <= Folded && h.Form != Linear {
		h.K = rapid.Uint8Range(1, 15).Draw(t, "K")
	}
	h.Filter = randomFilter(r, h.Bits)
	switch rapid.IntRange(0, 3).Draw(t, "fill") {
	case 0:
		clear(h.Filter)
	case 1:
		for range 2 {
			for i, b := range randomFilter(r, h.Bits) {
				h.Filter[i] |= b
			}
		}
	}
	if h.Form == Staged {
		n := rapid.IntRange(1, 12).Draw(t, "stages")
		h.Bits, h.Filter = randomStages(r, rapid.IntRange(13, 649).Draw(t, "stage"), n)
		h.TTL %= uint8(n + 2)
	}
	if rapid.Bool().Draw(t, "sequenced") {
		h.Sequenced, h.Source, h.Sequence = true, rapid.Uint32().Draw(t, "source"), rapid.Uint32().Draw(t, "sequence")
	}
	if rapid.Bool().Draw(t, "traced") {
		h.Trace = &Trace{Capacity: rapid.IntRange(0, 255).Draw(t, "capacity")}
		for range rapid.IntRange(0, h.Trace.Capacity).Draw(t, "nodes") {
			h.Trace.Nodes = append(h.Trace.Nodes, r.Uint32())
		}
	}
	return h
}

// divisors returns the divisors of FoldBase.
func divisors() []int {
	var ds []int
	for d := 1; d <= FoldBase; d++ {
		if FoldBase%d == 0 {
			ds = append(ds, d)
		}
	}
	return ds
}

func drawCodeword(t *rapid.T) Codeword {
	return Codeword{rapid.Uint64().Draw(t, "H1"), rapid.Uint64().Draw(t, "H2")}
}

// drawGarbage draws contents that Match must overwrite.
func drawGarbage(t *rapid.T, links int) []uint64 {
	dst := make([]uint64, words(links))
	for i := range dst {
		dst[i] = rapid.Uint64().Draw(t, "garbage")
	}
	return dst
}

// drawSets draws stored codewords, few of them without a one.
func drawSets(t *rapid.T, bits, links int) [][]BitString {
	r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "codewords' bits"), 0))
	sets := make([][]BitString, rapid.IntRange(1, 3).Draw(t, "sets"))
	for s := range sets {
		for range links {
			c := randomBitString(r, bits, r.IntN(6))
			if left := bits % 64; left != 0 {
				c[len(c)-1] |= r.Uint64() << left // counts for nothing
			}
			sets[s] = append(sets[s], c)
		}
	}
	return sets
}

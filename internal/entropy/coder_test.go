package entropy

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// random returns n bits, each a one with chance p.
func random(r *rand.Rand, n uint64, p float64) Bits {
	b := NewBits(n)
	for i := range n {
		if r.Float64() < p {
			b.Words[i/64] |= 1 << (i % 64)
		}
	}
	return b
}

// roundTrip returns the payload of the strings, decoded and compared.
func roundTrip(t testing.TB, c *Coder, strs ...Bits) []byte {
	t.Helper()
	payload := c.Append(nil, strs...)
	decoded := make([]Bits, len(strs))
	for i, s := range strs {
		decoded[i] = NewBits(s.Len)
		for j := range decoded[i].Words {
			decoded[i].Words[j] = 0x5555555555555555
		}
	}
	if err := c.Decode(payload, decoded...); err != nil {
		t.Fatalf("%d strings, payload %x: %v", len(strs), payload[:min(40, len(payload))], err)
	}
	for i, s := range strs {
		if !slices.Equal(decoded[i].Words, s.Words) {
			t.Fatalf("string %d of %d, %d bits: not what was coded", i, len(strs), s.Len)
		}
	}
	return payload
}

func TestRoundTrip(t *testing.T) {
	var c Coder
	r := rand.New(rand.NewPCG(1, 2))
	for n := range uint64(260) {
		for _, p := range []float64{0, 0.001, 0.01, 0.03, 0.1, 0.15, 0.3, 0.5, 0.7, 0.9, 0.99, 1} {
			for range 4 {
				roundTrip(t, &c, random(r, n, p))
			}
		}
	}
	for _, p := range []float64{0, 1e-6, 1e-5, 1e-4, 0.001, 0.01, 0.03, 0.1, 0.13, 0.15, 0.3, 0.5, 0.7, 0.9, 0.99, 1} {
		b := random(r, 524288-uint64(r.IntN(70)), p)
		roundTrip(t, &c, b)
	}
}

package inpacket

import (
	"testing"

	"pgregory.net/rapid"
)

func TestGuards(t *testing.T) {
	full := func(bits, ones int) Header {
		f := make([]byte, (bits+7)/8)
		for i := range ones {
			f[i/8] |= 1 << (i % 8)
		}
		return Header{Form: Single, K: 1, Bits: bits, Filter: f}
	}
	for _, c := range []struct {
		bits, ones        int
		allOnes, overfull bool
	}{
		{1, 0, false, false},
		{1, 1, true, true},
		{8, 6, false, false},
		{8, 7, false, true},
		{100, 75, false, false},
		{100, 76, false, true},
		{100, 100, true, true},
		{157, 117, false, false},
		{157, 118, false, true},
		{MaxBits, MaxBits, true, true},
		{MaxBits, 49151, false, false},
		{MaxBits, 49152, false, true},
	} {
		h := full(c.bits, c.ones)
		if h.Ones() != c.ones || h.AllOnes() != c.allOnes || h.Overfull() != c.overfull {
			t.Errorf("%d of %d: %d ones, all %v, too many %v", c.ones, c.bits, h.Ones(), h.AllOnes(), h.Overfull())
		}
	}
}

// TestGuardOfStages: a Staged filter is as full as its fullest stage, so empty stages can't hide
// one that matches every link.
func TestGuardOfStages(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := drawHeaderOf(t, Staged)
		want := false
		for at := 0; at < h.Bits; {
			code := number(h.Filter, at+4, 8)
			n := StageBits(uint8(code))
			ones := 0
			for i := range n {
				ones += int(number(h.Filter, at+12+i, 1))
			}
			want = want || 4*ones > 3*n
			at += 12 + n
		}
		if got := h.Overfull(); got != want {
			t.Fatalf("got %v, want %v", got, want)
		}
	})
	h := Header{Form: Staged, K: 1, Bits: 24, Filter: make([]byte, 3)}
	if h.Overfull() {
		t.Error("two stages without bits are too full")
	}
}

// TestFalseMatchWithoutChance: for filters of stored codewords FalseMatch depends on the fill,
// and a TTL without a stage matches nothing.
func TestFalseMatchWithoutChance(t *testing.T) {
	h := Header{Form: Dense, Bits: 8, Filter: []byte{0x0f}}
	if got := h.FalseMatch(); got != 0.5 {
		t.Errorf("half full: %g, want 0.5", got)
	}
	rapid.Check(t, func(t *rapid.T) {
		h := drawHeaderOf(t, Staged)
		stages := 0
		for at := 0; at < h.Bits; stages++ {
			at += 12 + StageBits(uint8(number(h.Filter, at+4, 8)))
		}
		for ttl := range 256 {
			h.TTL = uint8(ttl)
			if got := h.FalseMatch(); (ttl == 0 || ttl > stages) && got != 0 {
				t.Fatalf("TTL %d of %d stages: %g, want 0", ttl, stages, got)
			}
		}
	})
}

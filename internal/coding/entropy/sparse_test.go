package entropy

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"
)

// A sparse string has the code of the same string in words, at any fill ratio.
func TestSparse(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	var c Coder
	for range 2000 {
		var strs []Sparse
		var plain []Bits
		for range 1 + rng.IntN(3) {
			b := NewBits(rng.Uint64N(1 << rng.IntN(20)))
			if b.Len > 0 {
				for range rng.Uint64N(min(b.Len, 1<<rng.IntN(14)) + 1) {
					at := rng.Uint64N(b.Len)
					b.Words[at/64] |= 1 << (at % 64)
				}
			}
			s := Sparse{Len: b.Len}
			next := uint64(0)
			for g := range gaps(b) {
				s.Ones = append(s.Ones, next+g)
				next += g + 1
			}
			if !slices.Equal(s.Bits().Words, b.Words) {
				t.Fatal("Bits returns another string")
			}
			if got, want := AppendRiceSparse(nil, s), AppendRice(nil, b); !bytes.Equal(got, want) {
				t.Fatalf("%d of %d bits: positions take %d bytes, in words %d", len(s.Ones), s.Len, len(got), len(want))
			}
			strs, plain = append(strs, s), append(plain, b)
		}
		if got, want := c.AppendSparse(nil, strs...), c.Append(nil, plain...); !bytes.Equal(got, want) {
			t.Fatalf("%d strings take %d bytes, in words %d", len(strs), len(got), len(want))
		}
	}
}

// Positions that do not ascend, or are beyond the end, are an error of the program.
func TestSparsePanics(t *testing.T) {
	for _, ones := range [][]uint64{{1, 1}, {2, 1}, {100}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("positions %v of 100 were encoded", ones)
				}
			}()
			AppendRiceSparse(nil, Sparse{ones, 100})
		}()
	}
}

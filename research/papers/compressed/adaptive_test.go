package compressed

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/research/papers/internal/trial"
)

// readAdaptive decodes into b what appendAdaptive wrote.
func readAdaptive(src []byte, b cells.Array) {
	at := 0
	next := func() (x uint64) {
		if at < len(src) {
			x = uint64(src[at])
		}
		at++
		return x
	}
	var offset uint64 // of the code in the interval
	for range codeBits / 8 {
		offset = offset<<8 | next()
	}
	width, seen := uint64(codeTop), counts{1, 1}
	clear(b.Words)
	for i := range b.Len {
		bit := 0
		if zero := seen.split(width); offset < zero {
			width = zero
		} else {
			bit, offset, width = 1, offset-zero, width-zero
			b.Words[i/64] |= 1 << (i % 64)
		}
		seen[bit]++
		for width < codeLow {
			offset, width = offset<<8|next(), width<<8
		}
	}
}

func newBits(n uint64) cells.Array {
	return cells.Array{Len: n, Width: 1, Words: make([]uint64, (n+63)/64)}
}

func randomBits(r *rand.Rand, n uint64, fill float64) cells.Array {
	b := newBits(n)
	for i := range n {
		if r.Float64() < fill {
			b.Words[i/64] |= 1 << (i % 64)
		}
	}
	return b
}

// Decoding inverts encoding, and a code is at most one byte longer than the ideal.
func TestAdaptive(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, n := range []uint64{0, 1, 2, 63, 64, 65, 1000, 20_000} {
		for _, fill := range []float64{0, 0.001, 0.06, 0.13, 0.5, 0.9, 1} {
			t.Run(fmt.Sprintf("n=%d/fill=%g", n, fill), func(t *testing.T) {
				for range 20 {
					want := randomBits(r, n, fill)
					code := appendAdaptive([]byte("before"), want)
					if string(code[:6]) != "before" {
						t.Fatalf("%q before the code, want %q", code[:6], "before")
					}
					code = code[6:]
					got := newBits(n)
					readAdaptive(code, got)
					if !slices.Equal(got.Words, want.Words) {
						t.Fatalf("got %x, want %x", got.Words, want.Words)
					}
					ideal := laplaceBits(float64(n), float64(want.Nonzero())) / 8
					if over := float64(len(code)) - ideal; over > 1.01 {
						t.Errorf("%d bytes, %.2f more than the ideal %.2f, want at most 1 more", len(code), over, ideal)
					}
				}
			})
		}
	}
}

// BenchmarkTrial measures a trial of each of the paper's designs and of the delta of
// Table VI.
func BenchmarkTrial(b *testing.B) {
	delta := design{32, 2}
	sims := []trial.Simulation{deltas(delta, 0.05), deltasByBits(delta, 0.05)}
	for _, s := range simulations {
		sims = append(sims, filters(s.design), filtersByBits(s.design))
	}
	for _, sim := range sims {
		b.Run(strings.ReplaceAll(strings.TrimPrefix(sim.Name, "004 "), " ", "/"), func(b *testing.B) {
			one, err := sim.Worker()
			if err != nil {
				b.Fatal(err)
			}
			r, out := rand.NewChaCha8([32]byte{}), make([]int64, len(sim.Values))
			for b.Loop() {
				if err := one(r, out); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

package entropy

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// slowExtract extracts bit by bit.
func slowExtract(src, mask []uint64) (b Bits) {
	for i := range uint64(len(mask)) * 64 {
		if mask[i/64]>>(i%64)&1 == 0 {
			continue
		}
		if b.Len%64 == 0 {
			b.Words = append(b.Words, 0)
		}
		b.Words[b.Len/64] |= src[i/64] >> (i % 64) & 1 << (b.Len % 64)
		b.Len++
	}
	return b
}

func TestExtract(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for n := range uint64(40) {
		for _, fill := range []float64{0, 0.01, 0.1, 0.5, 0.9, 0.99, 1} {
			for _, density := range []float64{0, 0.02, 0.5, 1} {
				for room := range 3 {
					src, mask := random(r, 64*n, density).Words, random(r, 64*n, fill).Words
					if r.IntN(3) == 0 && n > 0 {
						clear(mask[n/2:])
					}
					want := slowExtract(src, mask)
					words := len(want.Words) + room
					want.Words = append(want.Words, make([]uint64, room)...)
					got := slices.Repeat([]uint64{0xaaaa5555aaaa5555}, words+1)
					if ones := Extract(got[:words], src, mask); ones != want.Len || !slices.Equal(got[:words], want.Words) {
						t.Fatalf("Extract of %d words, mask's fill %v: %d bits %x, want %d bits %x", n, fill, ones, got, want.Len, want.Words)
					}
					if got[words] != 0xaaaa5555aaaa5555 {
						t.Fatalf("Extract of %d words, mask's fill %v: wrote beyond dst", n, fill)
					}
					back := random(r, 64*n, 0.5).Words
					wantBack := slices.Clone(back)
					for i, m := range mask {
						wantBack[i] = back[i]&^m | src[i]&m
					}
					Deposit(back, got[:words:words], mask)
					if !slices.Equal(back, wantBack) {
						t.Fatalf("Deposit to %d words, mask's fill %v: %x, want %x", n, fill, back, wantBack)
					}
				}
			}
		}
	}
}

func TestExtractPanics(t *testing.T) {
	full := []uint64{^uint64(0), 1}
	for name, f := range map[string]func(){
		"src":          func() { Extract(make([]uint64, 2), full[:1], full) },
		"dst":          func() { Extract(make([]uint64, 1), full, full) },
		"deposit dst":  func() { Deposit(make([]uint64, 1), full, full) },
		"deposit bits": func() { Deposit(make([]uint64, 2), full[:1], full) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			f()
		})
	}
}

func BenchmarkExtract(b *testing.B) {
	r := rand.New(rand.NewPCG(3, 4))
	const words = 1 << 13
	for _, c := range []struct {
		name      string
		src, fill float64
	}{{"zero", 0, 0.5}, {"half", 0.5, 0.5}, {"few", 0.1, 0.1}} {
		src, mask := random(r, 64*words, c.src).Words, random(r, 64*words, c.fill).Words
		dst := make([]uint64, words)
		b.Run("extract/"+c.name, func(b *testing.B) {
			b.SetBytes(8 * words)
			for b.Loop() {
				Extract(dst, src, mask)
			}
		})
		b.Run("deposit/"+c.name, func(b *testing.B) {
			b.SetBytes(8 * words)
			for b.Loop() {
				Deposit(src, dst, mask)
			}
		})
	}
}

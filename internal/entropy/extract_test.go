package entropy

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// masked returns random words in which about one bit of 2^rarity is set.
func masked(r *rand.Rand, n, rarity int) []uint64 {
	words := make([]uint64, n)
	for i := range words {
		words[i] = ^uint64(0)
		for range rarity {
			words[i] &= r.Uint64()
		}
	}
	return words
}

// TestMask holds Extract and Deposit, and their plain twins, against a loop over bits.
func TestMask(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, n := range []int{0, 1, 2, 3, 17, 100} {
		for rarity := range 7 {
			for fill := range 7 {
				src, mask := masked(r, n, fill), masked(r, n, rarity)
				var want []uint64
				count := uint64(0)
				for i, m := range mask {
					for b := range 64 {
						if m>>b&1 != 0 {
							if count%64 == 0 {
								want = append(want, 0)
							}
							want[count/64] |= src[i] >> b & 1 << (count % 64)
							count++
						}
					}
				}
				exact, long, plain := make([]uint64, len(want)), masked(r, n+3, 1), make([]uint64, n+3)
				if got := Extract(exact, src, mask); got != count || !slices.Equal(exact, want) {
					t.Fatalf("%d words, mask 2^-%d, bits 2^-%d: Extract got %d bits %x, want %d bits %x", n, rarity, fill, got, exact, count, want)
				}
				Extract(long, src, mask)
				extractPlain(plain, src, mask)
				if !slices.Equal(long, plain) || !slices.Equal(long[:len(want)], want) {
					t.Fatalf("%d words, mask 2^-%d, bits 2^-%d: with room got %x, plain %x, want %x", n, rarity, fill, long, plain, want)
				}
				old := masked(r, n, 1)
				wantBack, got, plainBack := make([]uint64, n), slices.Clone(old), slices.Clone(old)
				for i, m := range mask {
					wantBack[i] = old[i]&^m | src[i]&m
				}
				Deposit(got, want, mask)
				depositPlain(plainBack, want, mask, 0)
				if !slices.Equal(got, wantBack) || !slices.Equal(plainBack, wantBack) {
					t.Fatalf("%d words, mask 2^-%d, bits 2^-%d: Deposit got %x, plain %x, want %x", n, rarity, fill, got, plainBack, wantBack)
				}
			}
		}
	}
}

func TestMaskTooShort(t *testing.T) {
	panics := func(name string, do func()) {
		t.Helper()
		defer func() {
			if recover() == nil {
				t.Errorf("%s: no panic", name)
			}
		}()
		do()
	}
	all := []uint64{^uint64(0), ^uint64(0), 1}
	panics("Extract into too few words", func() { Extract(make([]uint64, 2), all, all) })
	panics("Extract from too few words", func() { Extract(make([]uint64, 3), all[:2], all) })
	panics("Deposit from too few words", func() { Deposit(make([]uint64, 3), all[:2], all) })
	panics("Deposit into too few words", func() { Deposit(make([]uint64, 2), all, all) })
}

func BenchmarkMask(b *testing.B) {
	const n = 1 << 13
	r := rand.New(rand.NewPCG(2, 2))
	mask, dst := masked(r, n, 1), make([]uint64, n)
	for _, fill := range []int{1, 3, 10} {
		src := masked(r, n, fill)
		for _, test := range []struct {
			name             string
			extract, deposit func(dst, src, mask []uint64)
		}{
			{"fast", func(dst, src, mask []uint64) { Extract(dst, src, mask) }, Deposit},
			{"plain", func(dst, src, mask []uint64) { clear(dst); extractPlain(dst, src, mask) },
				func(dst, src, mask []uint64) { depositPlain(dst, src, mask, 0) }},
		} {
			name := fmt.Sprintf("%s/ones=2^-%d", test.name, fill)
			b.Run("extract/"+name, func(b *testing.B) {
				b.SetBytes(n * 8)
				for b.Loop() {
					test.extract(dst, src, mask)
				}
			})
			b.Run("deposit/"+name, func(b *testing.B) {
				b.SetBytes(n * 8)
				for b.Loop() {
					test.deposit(dst, src, mask)
				}
			})
		}
	}
}

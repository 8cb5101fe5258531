package xxh3

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/zeebo/xxh3"
)

// XXH3-128 of keys of all lengths up to three blocks is that of the hash library, with and without a seed.
func TestSum128(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 128))
	key := make([]byte, 3*1024+130)
	for i := range key {
		key[i] = byte(r.Uint64())
	}
	for n := range key {
		for _, seed := range []uint64{0, 1, 1 << 63, r.Uint64()} {
			b := key[len(key)-n:]
			want := xxh3.Hash128Seed(b, seed)
			if lo, hi := Sum128(b, seed); lo != want.Lo || hi != want.Hi {
				t.Fatalf("%d bytes, seed %#x: %x %x, want %x %x", n, seed, lo, hi, want.Lo, want.Hi)
			}
		}
	}
	if n := testing.AllocsPerRun(9, func() { Sum128(key, 7) }); n != 0 {
		t.Errorf("%v allocations, want 0", n)
	}
}

func BenchmarkSum128(b *testing.B) {
	key := make([]byte, 4096)
	for _, n := range []int{3, 8, 16, 20, 32, 64, 100, 200, 300, 1000, 4096} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				Sum128(key[:n], 0)
			}
		})
		b.Run(fmt.Sprint("library-", n), func(b *testing.B) {
			for b.Loop() {
				xxh3.Hash128(key[:n])
			}
		})
	}
}

package md5

import (
	"crypto/md5"
	"fmt"
	"math/rand/v2"
	"testing"
)

// Sum equals crypto/md5 for keys of every length up to four blocks, and for long ones.
func TestSum(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for n := range 3 * blockBytes * blockBytes {
		if n > 4*blockBytes {
			n = rng.IntN(10_000)
		}
		key := make([]byte, n)
		for i := range key {
			key[i] = byte(rng.Uint32())
		}
		if got, want := Sum(key), md5.Sum(key); got != want {
			t.Fatalf("%d bytes: %x, want %x", n, got, want)
		}
	}
}

func BenchmarkSum(b *testing.B) {
	for _, n := range []int{8, 40, 100, 1000} {
		key := make([]byte, n)
		for name, sum := range map[string]func([]byte) [16]byte{"here": Sum, "crypto": md5.Sum} {
			b.Run(fmt.Sprintf("%s/bytes=%d", name, n), func(b *testing.B) {
				b.SetBytes(int64(n))
				for b.Loop() {
					sum(key)
				}
			})
		}
	}
}

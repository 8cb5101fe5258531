package nixcache_test

import (
	"math/rand/v2"
	"testing"

	"github.com/umbel-filters/umbel/cmd/internal/nixcache"
	"github.com/umbel-filters/umbel/filter/nixbloom"
)

func randomPaths(seed uint64, n int) nixcache.Paths {
	rng := rand.NewPCG(seed, 1)
	p := make(nixcache.Paths, n)
	for i := range p {
		var h nixbloom.Hash
		for j := range h {
			h[j] = byte(rng.Uint64())
		}
		p[i] = h
	}
	return p
}

// BenchmarkNixBloom makes the file of a million paths at 0.01 %.
func BenchmarkNixBloom(b *testing.B) {
	p := randomPaths(1, 1e6)
	for b.Loop() {
		if _, err := p.NixBloom(0.0001); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkReadDir reads a directory of ten thousand paths.
func BenchmarkReadDir(b *testing.B) {
	d := b.TempDir()
	touch(b, d, 0, 10_000)
	for b.Loop() {
		if _, err := nixcache.ReadDir(d); err != nil {
			b.Fatal(err)
		}
	}
}

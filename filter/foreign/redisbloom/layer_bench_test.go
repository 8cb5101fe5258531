package redisbloom

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/umbel-filters/umbel"
)

// BenchmarkLayer uses a layer at 1 % with half of its bits set, in a cache and beyond all
// caches.
func BenchmarkLayer(b *testing.B) {
	for _, keys := range []uint64{1_000_000, 100_000_000} {
		rng := rand.New(rand.NewPCG(1, 2))
		l, err := newLayer(keys, 0.01)
		if err == nil {
			err = l.allocate()
		}
		if err != nil {
			b.Fatal(err)
		}
		for i := range l.words() {
			l.words()[i] = rng.Uint64()
		}
		ds := make([]umbel.Digest, 1<<16)
		for i := range ds {
			ds[i] = umbel.Digest{H1: rng.Uint64(), H2: rng.Uint64()}
		}
		run := func(name string, op func(umbel.Digest) bool) {
			b.Run(fmt.Sprintf("%s/keys=%d", name, keys), func(b *testing.B) {
				i := uint64(0)
				for b.Loop() {
					d := ds[i%uint64(len(ds))]
					op(umbel.Digest{H1: d.H1 + i, H2: d.H2})
					i++
				}
			})
		}
		run("HasMiss", l.has)
		run("Add", l.add)
	}
}

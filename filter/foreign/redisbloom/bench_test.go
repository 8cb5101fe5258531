package redisbloom_test

import (
	"fmt"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/foreign/redisbloom"
)

// BenchmarkFilter uses filters at 1 % with one layer and with five, half of the keys in the
// newest.
func BenchmarkFilter(b *testing.B) {
	const n = 310_000
	for layers, capacity := range map[int]uint64{1: n, 5: n / 31} {
		f := reserve(b, redisbloom.Options{ErrorRate: 0.01, Capacity: capacity})
		hits, misses := digests(1, n), digests(2, 1<<16)
		addAll(f, hits)
		each := func(name string, ds []umbel.Digest, op func(umbel.Digest) bool) {
			b.Run(fmt.Sprintf("%s/layers=%d", name, layers), func(b *testing.B) {
				i := 0
				for b.Loop() {
					op(ds[i])
					if i++; i == len(ds) {
						i = 0
					}
				}
			})
		}
		each("HasHit", hits, f.Has)
		each("HasMiss", misses, f.Has)
		for name, ds := range map[string][]umbel.Digest{"HasAllHit": hits, "HasAllMiss": misses} {
			b.Run(fmt.Sprintf("%s/layers=%d", name, layers), func(b *testing.B) {
				has, i := make([]bool, 64), 0
				for b.Loop() {
					f.HasAll(has, ds[i:i+64])
					if i += 64; i+64 > len(ds) {
						i = 0
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/64, "ns/key")
			})
		}
	}
	b.Run("Add", func(b *testing.B) {
		f := reserve(b, redisbloom.Options{ErrorRate: 0.01, Capacity: n, NonScaling: true})
		ds, i := digests(1, n), 0
		for b.Loop() {
			f.Add(ds[i])
			if i++; i == len(ds) {
				i = 0
				f.Clear()
			}
		}
	})
}

// BenchmarkReserve makes small filters, for which the design takes longer than the allocation.
func BenchmarkReserve(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		reserve(b, redisbloom.Options{ErrorRate: 0.01, Capacity: 100})
	}
}

package filter_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/blocked"
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/internal/fixture"
)

// BenchmarkStrings compares single keys with batches in filters of 256 MiB, far larger than
// the caches.
func BenchmarkStrings(b *testing.B) {
	type front interface {
		umbel.Filter
		AddString(string) bool
		HasString(string) bool
	}
	const n = 1 << 16
	m := uint64(1) << 31
	if testing.Short() {
		m = 1 << 24
	}
	keys := make([]string, n)
	for i := range keys {
		keys[i] = fmt.Sprintf("user-%016x", rand.Uint64())
	}
	dst := make([]bool, n)
	for name, f := range map[string]front{
		"bloom":   fixture.Must(bloom.NewShape(bloom.Shape{M: m, K: 7, Group: 6})),
		"blocked": fixture.Must(blocked.NewShape(blocked.Shape{M: m, Words: 3, Bits: 2})),
	} {
		umbel.AddKeys(f, keys[:n/2])
		for op, run := range map[string]func(){
			"Add/single": func() {
				for _, key := range keys {
					f.AddString(key)
				}
			},
			"Add/any": func() {
				for _, key := range keys {
					umbel.AddKey(f, key)
				}
			},
			"Add/batch": func() { umbel.AddKeys(f, keys) },
			"Has/single": func() {
				for i, key := range keys {
					dst[i] = f.HasString(key)
				}
			},
			"Has/any": func() {
				for i, key := range keys {
					dst[i] = umbel.HasKey(f, key)
				}
			},
			"Has/batch": func() { umbel.HasKeys(f, dst, keys) },
		} {
			b.Run(name+"/"+op, func(b *testing.B) {
				for b.Loop() {
					run()
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/key")
			})
		}
	}
}

package delta_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/umbel-filters/umbel/wire/delta"
	"github.com/umbel-filters/umbel/wire/hashtree"
	"github.com/umbel-filters/umbel/wire/internal/wiretest"
)

// BenchmarkDelta makes and applies deltas of a filter of 64 MiB of which a fraction of the bits
// change, with known IDs. Bytes are those of the filter. Run it with go test -run - -bench Delta
// ./wire/delta.
func BenchmarkDelta(b *testing.B) {
	const words = 8 << 20
	rng := rand.New(rand.NewPCG(1, 2))
	for _, fill := range []struct {
		name string
		word func(int) uint64
	}{
		{"fill=0.5", wiretest.Noise},
		{"fill=0.06", func(i int) uint64 {
			return wiretest.Noise(i) & wiretest.Noise(i+words) & wiretest.Noise(i+2*words) & wiretest.Noise(i+3*words)
		}},
	} {
		base := bloomOf(wiretest.Array(b, words*64, 1, fill.word))
		for _, every := range []uint64{1 << 20, 1 << 14, 1000, 100, 10} {
			result := base.Clone()
			for range words * 64 / every {
				i := rng.Uint64N(words * 64)
				result.Arrays[0].Words[i/64] ^= 1 << (i % 64)
			}
			d := delta.Encoder{Base: hashtree.Identify(base), Result: hashtree.Identify(result)}
			message, err := d.Append(nil, base, result)
			if err != nil {
				b.Fatal(err)
			}
			b.Run(fmt.Sprintf("delta/%s/changed=1:%d", fill.name, every), func(b *testing.B) {
				b.SetBytes(words * 8)
				for b.Loop() {
					message, _ = d.Append(message[:0], base, result)
				}
				b.ReportMetric(float64(len(message)), "message-B")
			})
			for _, p := range []struct {
				name string
				delta.Decoder
			}{
				{"apply", delta.Decoder{Base: d.Base, Unverified: true}},
				{"apply-verified", delta.Decoder{Base: d.Base}},
			} {
				b.Run(fmt.Sprintf("%s/%s/changed=1:%d", p.name, fill.name, every), func(b *testing.B) {
					b.SetBytes(words * 8)
					for b.Loop() {
						if _, err := p.Apply(base, message); err != nil {
							b.Fatal(err)
						}
					}
				})
			}
		}
	}
}

package wire_test

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"math/bits"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/wire"
	"github.com/umbel-filters/umbel/wire/hashtree"
	"github.com/umbel-filters/umbel/wire/internal/wiretest"
)

func Benchmark(b *testing.B) {
	const mib = 1 << 20
	for _, c := range []struct {
		name string
		size uint64
		word func(int) uint64
	}{
		{"raw/n=1KiB", 1 << 10, wiretest.Noise},
		{"raw/n=64MiB", 64 * mib, wiretest.Noise},
		{"empty/n=64MiB", 64 * mib, wiretest.Zeros},
		{"full/n=64MiB", 64 * mib, wiretest.Ones},
	} {
		s := umbel.State{Kind: "bench", Arrays: []cells.Array{wiretest.Array(b, c.size*8, 1, c.word)}}
		box := mustAppend(b, s)
		dst := make([]byte, 0, len(box))
		for _, op := range []struct {
			name string
			run  func() error
		}{
			{"append", func() error { _, err := wire.Append(dst, s); return err }},
			{"write", func() error { return wire.Write(io.Discard, s) }},
			{"parse", func() error { _, err := wire.Parse(box, wire.Limits{}); return err }},
			{"read", func() error { _, err := wire.Read(bytes.NewReader(box), wire.Limits{}); return err }},
			{"stream", func() error { _, err := wire.Read(bytes.NewBuffer(box), wire.Limits{}); return err }},
			{"identify", func() error { hashtree.Identify(s); return nil }},
		} {
			b.Run(fmt.Sprintf("%s/%s", op.name, c.name), func(b *testing.B) {
				b.SetBytes(int64(c.size))
				b.ReportAllocs()
				for b.Loop() {
					if err := op.run(); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// BenchmarkPacked measures packing and reading packed containers, in bytes of arrays.
func BenchmarkPacked(b *testing.B) {
	const size = 4 << 20
	for _, fill := range []float64{0.001, 0.01, 0.13, 0.5} {
		s := umbel.State{Kind: "bench", Arrays: []cells.Array{sown(b, size*8, fill)}}
		box := mustPack(b, s)
		for _, workers := range []int{1, 2} {
			p, l := wire.Packer{Workers: workers}, wire.Limits{Workers: workers}
			dst := make([]byte, 0, len(box))
			for _, op := range []struct {
				name string
				run  func() error
			}{
				{"append", func() error { _, err := p.Append(dst, s); return err }},
				{"write", func() error { return p.Write(io.Discard, s) }},
				{"parse", func() error { _, err := wire.Parse(box, l); return err }},
				{"readblocks", func() error { return readBlocks(bytes.NewReader(box), l) }},
			} {
				b.Run(fmt.Sprintf("%s/packed,workers=%d,fill=%g/n=4MiB", op.name, workers, fill), func(b *testing.B) {
					b.SetBytes(size)
					b.ReportAllocs()
					for b.Loop() {
						if err := op.run(); err != nil {
							b.Fatal(err)
						}
					}
				})
			}
		}
	}
}

// sown returns an array of bits of which about the fraction fill are ones, at random.
func sown(t testing.TB, len uint64, fill float64) cells.Array {
	a := wiretest.Array(t, len, 1, wiretest.Zeros)
	for i := range uint64(-math.Log1p(-fill) * float64(len)) {
		at, _ := bits.Mul64(wiretest.Noise(int(i)), len)
		a.SetBit(at)
	}
	return a
}

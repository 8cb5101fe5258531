package nixbloom_test

import (
	"fmt"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/foreign/nixbloom"
	"github.com/umbel-filters/umbel/internal/fixture"
)

// BenchmarkFilter uses filters of Nix' shape at 0.01 %, in cache and beyond most caches. An operation is a batch
// of 1024 keys.
func BenchmarkFilter(b *testing.B) {
	for _, n := range []int{1e5, 1e7} {
		f := fixture.Must(nixbloom.NewShape(fixture.Must(nixbloom.NixShape(uint64(n), 0.0001))))
		f.AddAll(nil, digests(1, n))
		const batch = 1024
		hits, misses := digests(1, 64*batch), digests(2, 64*batch)
		dst := make([]bool, batch)
		many := func(op string, ds []umbel.Digest, do func([]umbel.Digest)) {
			b.Run(fmt.Sprintf("%s/nixbloom/n=%d", op, n), func(b *testing.B) {
				b.ReportAllocs()
				for i := 0; b.Loop(); i += batch {
					do(ds[i%len(ds):][:batch])
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/batch, "ns/key")
			})
		}
		has := func(ds []umbel.Digest) {
			for _, d := range ds {
				f.Has(d)
			}
		}
		many("hashit", hits, has)
		many("hasmiss", misses, has)
		many("hasallmiss", misses, func(ds []umbel.Digest) { f.HasAll(dst, ds) })
		many("addall", hits, func(ds []umbel.Digest) { f.AddAll(nil, ds) })
	}
}

func BenchmarkParsePath(b *testing.B) {
	const path = "/nix/store/nvd61k9nalji1zl9rrdfmsmvyyjqpzg4-hello-2.12"
	b.ReportAllocs()
	for b.Loop() {
		if _, err := nixbloom.ParsePath(path); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkFile writes and reads the file of a million paths.
func BenchmarkFile(b *testing.B) {
	f := fixture.Must(nixbloom.NewShape(fixture.Must(nixbloom.NixShape(1e6, 0.0001))))
	file := fixture.Must(f.AppendFile(nil))
	b.Run("append", func(b *testing.B) {
		b.SetBytes(int64(len(file)))
		for b.Loop() {
			file, _ = f.AppendFile(file[:0])
		}
	})
	b.Run("parse", func(b *testing.B) {
		b.SetBytes(int64(len(file)))
		for b.Loop() {
			fixture.Must(nixbloom.ParseFile(file))
		}
	})
}

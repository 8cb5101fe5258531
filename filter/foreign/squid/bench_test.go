package squid

import (
	"fmt"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/internal/fixture"
)

// BenchmarkFilter uses filters of 8 bits per key, 2.4 %: in cache, and beyond most caches. An operation is a
// batch of 1024 keys.
func BenchmarkFilter(b *testing.B) {
	for _, n := range []int{1e5, 1e7} {
		f := testFilter(b, 8*uint64(n))
		f.AddAll(nil, fixture.Digests(1, n))
		const batch = 1024
		ds := fixture.Digests(2, 256*batch)
		dst := make([]bool, batch)
		many := func(op string, do func([]umbel.Digest)) {
			b.Run(fmt.Sprintf("%s/squid/n=%d", op, n), func(b *testing.B) {
				for i := 0; b.Loop(); i += batch {
					do(ds[i%len(ds):][:batch])
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/batch, "ns/key")
			})
		}
		each := func(do func(umbel.Digest) bool) func([]umbel.Digest) {
			return func(ds []umbel.Digest) {
				for _, d := range ds {
					do(d)
				}
			}
		}
		many("has", each(f.Has))
		many("add", each(f.Add))
		many("addatomic", each(f.AddAtomic))
		many("hasall", func(ds []umbel.Digest) { f.HasAll(dst, ds) })
		many("addall", func(ds []umbel.Digest) { f.AddAll(nil, ds) })
		many("addallatomic", f.AddAllAtomic)
	}
}

// BenchmarkDigest reads and writes the digest of 100,000 objects at 5 bits each.
func BenchmarkDigest(b *testing.B) {
	f := testFilter(b, 5e5)
	f.AddAll(nil, fixture.Digests(1, 1e5))
	d := fixture.Must(f.Digest())
	wire := fixture.Must(d.AppendBinary(nil))
	room := make([]byte, 0, len(wire))
	run := func(op string, do func()) {
		b.Run(op, func(b *testing.B) {
			b.SetBytes(int64(len(wire)))
			b.ReportAllocs()
			for b.Loop() {
				do()
			}
		})
	}
	run("parse", func() { fixture.Must(Parse(wire, Limits{})) })
	run("append", func() { fixture.Must(d.AppendBinary(room)) })
	run("tolerant", func() { d.Tolerant() })
	run("filter", func() { fixture.Must(d.Filter()) })
}

// BenchmarkKey makes the key of a URL and its hash.
func BenchmarkKey(b *testing.B) {
	b.ReportAllocs()
	var room [256]byte
	for b.Loop() {
		Hasher.HashBytes(AppendKey(room[:0], MethodGet, "http://www.example.org/a/path/to/some/object?with=query", ""))
	}
}

package sparse_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/sparse"
	"github.com/umbel-filters/umbel/wire"
)

// sizes are numbers of keys: one in the second-level cache, one beyond all caches.
var sizes = []int{100_000, 10_000_000}

func full(b *testing.B, n int, rate float64) *sparse.Filter {
	b.Helper()
	if n > 1_000_000 && testing.Short() {
		b.Skip("takes 150 MB")
	}
	shape, err := sparse.Plan(umbel.Goal{Keys: uint64(n), FPRate: rate})
	if err != nil {
		b.Fatal(err)
	}
	f, err := sparse.NewShape(shape)
	if err != nil {
		b.Fatal(err)
	}
	f.AddAll(nil, digests(1, n))
	f.Compact()
	return f
}

// queries is the number of keys that an operation queries.
const queries = 1 << 14

func perKey(b *testing.B, keys int, do func()) {
	for b.Loop() {
		do()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(keys), "ns/key")
}

func BenchmarkHas(b *testing.B) {
	for _, n := range sizes {
		f := full(b, n, 0.01)
		yes, answers := 0, make([]bool, queries)
		for what, ds := range map[string][]umbel.Digest{"hit": digests(1, queries), "miss": digests(2, queries)} {
			b.Run(fmt.Sprintf("one/%s/n=%d", what, n), func(b *testing.B) {
				perKey(b, queries, func() {
					for _, d := range ds {
						if f.Has(d) {
							yes++
						}
					}
				})
			})
			b.Run(fmt.Sprintf("batch/%s/n=%d", what, n), func(b *testing.B) {
				perKey(b, queries, func() { f.HasAll(answers, ds) })
			})
		}
	}
}

// BenchmarkAdd fills a filter key by key, and in one batch.
func BenchmarkAdd(b *testing.B) {
	for _, n := range sizes {
		f := full(b, n, 0.01)
		ds := digests(1, n)
		b.Run(fmt.Sprintf("one/n=%d", n), func(b *testing.B) {
			perKey(b, n, func() {
				f.Clear()
				for _, d := range ds {
					f.Add(d)
				}
			})
		})
		b.Run(fmt.Sprintf("batch/n=%d", n), func(b *testing.B) {
			perKey(b, n, func() {
				f.Clear()
				f.AddAll(nil, ds)
			})
		})
	}
}

// BenchmarkMessage writes a filter as packed cells and reads it, and packs the filter's own
// state and opens it. bits/key is the size of the message or, for open, of the memory.
func BenchmarkMessage(b *testing.B) {
	const n = 100_000
	for _, rate := range []float64{0.1, 0.0216, 0.01, 0.001, 0.0001} {
		f := full(b, n, rate)
		state, bits := f.State(), 0
		var message bytes.Buffer
		if err := f.WriteBloom(&message, wire.Packer{}); err != nil {
			b.Fatal(err)
		}
		for what, do := range map[string]func() error{
			"write": func() error {
				var w bytes.Buffer
				err := f.WriteBloom(&w, wire.Packer{})
				bits = w.Len() * 8
				return err
			},
			"read": func() error {
				bits = message.Len() * 8
				_, err := sparse.Read(bytes.NewReader(message.Bytes()), wire.Limits{})
				return err
			},
			"pack": func() error {
				c, err := wire.Packer{}.Append(nil, state)
				bits = len(c) * 8
				return err
			},
			"open": func() error {
				bits = int(state.Bytes()) * 8
				_, err := sparse.Open(state)
				return err
			},
		} {
			b.Run(fmt.Sprintf("%s/p=%g/n=%d", what, rate, n), func(b *testing.B) {
				perKey(b, n, func() {
					if err := do(); err != nil {
						b.Fatal(err)
					}
				})
				b.ReportMetric(float64(bits)/n, "bits/key")
			})
		}
	}
}

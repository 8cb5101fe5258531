package folding_test

import (
	"fmt"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/filter/folding"
	"github.com/umbel-filters/umbel/internal/fixture"
)

// stocked returns a filter for 100,000 keys that contains 50,000, and digests of others.
func stocked(b *testing.B, width uint64) (umbel.Filter, []umbel.Digest) {
	b.Helper()
	f, err := folding.Kind.New(umbel.Goal{Keys: 100_000, FPRate: 0.01}, umbel.Params{{Name: "width", Value: umbel.Uint(width)}})
	if err != nil {
		b.Fatal(err)
	}
	ds := fixture.Digests(1, 1<<16)
	umbel.AddAll(f, nil, ds[:50_000])
	return f, ds
}

func BenchmarkFilter(b *testing.B) {
	for _, width := range []uint64{0, 4} {
		f, ds := stocked(b, width)
		i := 0
		next := func() umbel.Digest { i++; return ds[i%len(ds)] }
		b.Run(fmt.Sprintf("Has/width=%d", width), func(b *testing.B) {
			for b.Loop() {
				f.Has(next())
			}
		})
		r, counts := f.(umbel.Remover)
		if !counts {
			continue
		}
		b.Run(fmt.Sprintf("AddRemove/width=%d", width), func(b *testing.B) {
			for b.Loop() {
				d := next()
				f.Add(d)
				r.Remove(d)
			}
		})
	}
}

// BenchmarkFill adds 100,000 keys to an empty filter, including all folds of the base.
func BenchmarkFill(b *testing.B) {
	for _, width := range []uint64{0, 4} {
		f, _ := stocked(b, width)
		ds := fixture.Digests(2, 100_000)
		b.Run(fmt.Sprintf("width=%d", width), func(b *testing.B) {
			for b.Loop() {
				f.(umbel.Clearer).Clear()
				umbel.AddAll(f, nil, ds)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(ds)), "ns/key")
		})
	}
}

// BenchmarkRefold folds a base of 1 GiB as a filter does when it changes its size, and
// copies it. It takes 2.5 GiB.
func BenchmarkRefold(b *testing.B) {
	if testing.Short() {
		b.Skip("takes 2.5 GiB")
	}
	const bytes = 1 << 30 / 2880 * 2880
	for _, width := range []uint{0, 4} {
		s := folding.Shape{M: bytes * 8 / uint64(max(width, 1)) / 11520 * 11520, K: 7, Width: width, Group: 6}
		s, err := s.Keep(0.01, 0.002)
		if err != nil {
			b.Fatal(err)
		}
		var f interface {
			umbel.Filter
			FoldedBy(uint64) (*bloom.Filter, error)
		}
		if width == 0 {
			f, err = folding.NewShape(s)
		} else {
			f, err = folding.NewCountingShape(s)
		}
		if err != nil {
			b.Fatal(err)
		}
		base := f.State().Parts[0].Arrays[0]
		for i := range base.Words { // as full as 12 times what is needed is
			base.Words[i] = 0x1000000100000000 >> (i % 7 * 4)
		}
		b.Run(fmt.Sprintf("width=%d/copy", width), func(b *testing.B) {
			b.SetBytes(int64(base.Bytes()))
			for b.Loop() {
				base.Clone()
			}
		})
		for _, r := range []uint64{1, 2, 3, 12, 60} {
			b.Run(fmt.Sprintf("width=%d/r=%d", width, r), func(b *testing.B) {
				b.SetBytes(int64(base.Bytes()))
				for b.Loop() {
					if _, err := f.FoldedBy(r); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

package model_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/internal/coding/model"
)

// BenchmarkCoder measures blocks of 64 KiB, in bytes of the block.
func BenchmarkCoder(b *testing.B) {
	const words = 1 << 13
	r := rand.New(rand.NewPCG(8, 8))
	var c model.Modeler
	both := func(name string, n uint64, encode func(dst []byte) []byte, decode func(src []byte) error) {
		src := encode(nil)
		for _, op := range []string{"encode", "decode"} {
			b.Run(op+"/"+name, func(b *testing.B) {
				b.SetBytes(int64(n))
				b.ReportAllocs()
				for b.Loop() {
					if op == "encode" {
						src = encode(src[:0])
					} else if err := decode(src); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(len(src)), "payload")
			})
		}
	}
	block := func(width uint, each float64) cells.Array {
		a := newArray(b, words*64/uint64(width), width)
		throw(r, a, uint64(each*float64(a.Len)))
		return a
	}
	for _, each := range []float64{.01, .14} {
		a, got := block(1, each), block(1, 0)
		both(fmt.Sprintf("bits/ones=%.2f", each), a.Bytes(),
			func(dst []byte) []byte { return c.Append(dst, a) },
			func(src []byte) error { return c.Decode(src, got) })
	}
	for _, width := range []uint{4, 8, 16} {
		for _, each := range []float64{.01, .625} {
			a, got := block(width, each), block(width, 0)
			both(fmt.Sprintf("counters/width=%d,ones=%.2f", width, each), a.Bytes(),
				func(dst []byte) []byte { return c.Append(dst, a) },
				func(src []byte) error { return c.Decode(src, got) })
		}
	}
	for _, width := range []uint{1, 4} {
		for _, churn := range []float64{.0001, .01, .1} {
			each := .625 / float64(width)
			rest, now, base := block(width, each*(1-churn)), block(width, each*churn), block(width, each*churn)
			_, _ = now.Sum(rest), base.Sum(rest)
			got := base.Clone()
			both(fmt.Sprintf("delta/width=%d,churn=%.4f", width, churn), base.Bytes(),
				func(dst []byte) []byte { return c.AppendDelta(dst, base, now) },
				func(src []byte) error { return c.DecodeDelta(src, base, got) })
		}
	}
	for _, by := range []uint64{2, 6} {
		for _, group := range []uint64{1, 64} {
			full := newArray(b, words*64/(by*64)*(by*64), 1)
			throw(r, full, full.Len/50)
			got := full.Clone()
			fold, err := full.Fold(by, group)
			if err != nil {
				b.Fatal(err)
			}
			both(fmt.Sprintf("refinement/r=%d,group=%d", by, group), full.Bytes(),
				func(dst []byte) []byte { return c.AppendRefinement(dst, full, by, group, 0, fold.Len) },
				func(src []byte) error { got.Clear(); return c.DecodeRefinement(src, got, fold, by, group, 0, fold.Len) })
		}
	}
}

package message

import (
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/filter/ribbon"
	"github.com/umbel-filters/umbel/plan"
	"github.com/umbel-filters/umbel/wire"
	"pgregory.net/rapid"
)

// TestOverhead: what surrounds the cells in a message doesn't depend on the filter, as the sizes of the smallest
// messages state.
func TestOverhead(t *testing.T) {
	for _, c := range []struct {
		m uint64
		k int
		p umbel.Planned
	}{{1, 1, umbel.Planned{Keys: 1, FPRate: 0.5}}, {1000, 200, umbel.Planned{Keys: 1 << 60, FPRate: 0.0123456789}}, {1 << 20, 7, umbel.Planned{Keys: 1e5, FPRate: 0.01}}} {
		f := must(bloom.NewShape(bloom.Shape{M: c.m, K: c.k}))
		f.SetPlanned(c.p)
		if got, want := rawBits(c.m), 8*float64(wire.Size(f.State())); got != want {
			t.Errorf("%+v: %g bits, a container has %g", c, got, want)
		}
	}
	for _, n := range []uint64{1, 100, 3000} {
		f := must(ribbon.New(n, 0.01))
		for i := range n {
			umbel.AddKey(f, i)
		}
		if err := f.Seal(); err != nil {
			t.Fatal(err)
		}
		s := f.State()
		if got, want := measured().ribbon, 8*float64(wire.Size(s)-s.Bytes()); got != want {
			t.Errorf("%d keys in a ribbon filter: %g bits, a container has %g", n, got, want)
		}
	}
}

// sentBits returns the size of an update of kind bloom.
func sentBits(f plan.Filter, n uint64, churn, tail float64) float64 {
	q := Goal{Keys: n, Churn: churn}
	return q.updateBits(q.bits(), f, tail)
}

// TestSizesRise: for each k the size rises with the number of cells, which the bisection
// requires.
func TestSizesRise(t *testing.T) {
	const n = 100_000
	for _, c := range []struct{ churn, tail float64 }{{0, 1e-6}, {.001, 1e-6}, {1, .5}} {
		for k := 1; k <= 16; k++ {
			before := 0.0
			for m := uint64(n / 10); m < 1e12; m += m / 7 {
				bits := sentBits(plan.Filter{M: m, K: k}, n, c.churn, c.tail)
				if bits < before*(1-1e-9) {
					t.Errorf("%+v: k=%d: %d cells take %g bits, fewer took %g", c, k, m, bits, before)
				}
				before = bits
			}
		}
	}
}

// TestSizesRiseWhereFewChange: the same for deltas in which positions replace cells, above a
// fill of one half.
func TestSizesRiseWhereFewChange(t *testing.T) {
	const n = 100_000
	for _, c := range []struct{ churn, tail float64 }{{.001, 1e-6}, {1e-4, 1e-6}, {.001, .5}} {
		for k := 1; k <= 4; k++ {
			before := 0.0
			for m := uint64(3 * k * n / 2); m < 1e12; m += m / 500 {
				bits := sentBits(plan.Filter{M: m, K: k}, n, c.churn, c.tail)
				if bits < before {
					t.Fatalf("%+v: k=%d: %d cells take %g bits, fewer took %g", c, k, m, bits, before)
				}
				before = bits
			}
		}
	}
}

// TestSearchOfMessages: the largest filter of a search is within the size, and one cell more is not.
func TestSearchOfMessages(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Uint64Range(1, 1<<40).Draw(t, "n")
		churn := rapid.SampledFrom([]float64{0, 0, 0.001, 0.05, 1}).Draw(t, "churn")
		tail := rapid.SampledFrom([]float64{0.5, 1e-6}).Draw(t, "tail")
		s := plan.CompressedSearch{
			Keys: n, Cells: uint64(float64(n)*rapid.Float64Range(1, 1000).Draw(t, "limit")) + 1,
			Bits: func(f plan.Filter) float64 { return sentBits(f, n, churn, tail) },
		}
		bits := float64(n)*rapid.Float64Range(0.01, 30).Draw(t, "bits") + 4000
		got, err := s.MinFPRate(bits)
		if err != nil {
			t.Fatal(err)
		}
		if s.Bits(got) > bits || got.M > s.Cells {
			t.Fatalf("%d keys in %v bits: %+v is beyond the limits", n, bits, got)
		}
		if more := (plan.Filter{M: got.M + 1, K: got.K}); got.M < s.Cells && s.Bits(more) <= bits {
			t.Fatalf("%d keys in %v bits: %+v, one cell more fits", n, bits, got)
		}
	})
}

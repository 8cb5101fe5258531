package model_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/umbel-filters/umbel/internal/coding/model"
)

// rareCells returns x cells of a run of n, with values if they have more than a bit.
func rareCells(rng *rand.Rand, x int, n uint64, width uint) (r model.Rare) {
	for range x {
		r.At = append(r.At, uint32(rng.Uint64N(n)))
	}
	slices.Sort(r.At)
	r.At = slices.Compact(r.At)
	for range r.At {
		if width > 1 {
			r.Values = append(r.Values, max(1, rng.Uint64()>>(64-rng.Uint64N(uint64(width))-1)))
		}
	}
	return r
}

func sameRare(a, b model.Rare) bool {
	return slices.Equal(a.At, b.At) && slices.Equal(a.Values, b.Values)
}

func TestRareRoundTrip(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var c model.Modeler
	got := rareCells(rng, 5, 100, 8) // what a decoder overwrites
	for trial := range 2000 {
		n := 1 + rng.Uint64N(1<<rng.Uint64N(32))
		x := int(rng.Uint64N(min(n, 1<<rng.Uint64N(14))))
		width := uint(1) << rng.Uint64N(7)
		if 8*width > 64 && n > 1<<31/uint64(width) {
			n = 1<<31/uint64(width) + n%1000
		}
		want := rareCells(rng, x, n, width)
		if trial%3 == 0 && len(want.At) > 0 { // all together, somewhere
			first := uint32(rng.Uint64N(n - uint64(len(want.At)) + 1))
			for i := range want.At {
				want.At[i] = first + uint32(i)
			}
		}
		code := c.AppendRare([]byte{7}, want, n, width)[1:]
		if err := c.DecodeRare(code, &got, n, width); err != nil || !sameRare(got, want) {
			t.Fatalf("%d of %d cells of %d bits: %v", len(want.At), n, width, err)
		}
	}
}

// TestRareLength: the code of x random cells of n is at most 9 bytes longer than the logarithm of the number of ways to
// choose them. A byte or two of these are the information in x.
func TestRareLength(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	var c model.Modeler
	for _, x := range []int{1, 10, 100, 1000, 8000, model.MaxRare} {
		for _, rate := range []float64{0.004, 0.001, 1e-4, 1e-5, 3e-6} {
			n := uint64(float64(x) / rate)
			if n > 1<<32 {
				continue
			}
			r := rareCells(rng, x, n, 1)
			lgamma := func(v float64) float64 { l, _ := math.Lgamma(v); return l }
			k := float64(len(r.At))
			// ln n! - ln (n-k)! by an integral, because the difference of two logarithms of 2^32! has no digits left.
			ways := k*math.Log(float64(n)) - k*k/2/float64(n) - lgamma(k+1)
			most := ways/math.Ln2/8*1.0003 + 9
			if code := c.AppendRare(nil, r, n, 1); float64(len(code)) > most {
				t.Errorf("%d of %d cells: %d bytes, want %.1f at most", len(r.At), n, len(code), most)
			}
		}
	}
}

func FuzzDecodeRare(f *testing.F) {
	f.Fuzz(func(t *testing.T, src []byte, n uint32, log uint8) {
		var c model.Modeler
		var r, again model.Rare
		width := widths[int(log)%len(widths)]
		if err := c.DecodeRare(src, &r, uint64(n), width); err != nil {
			if !errors.Is(err, model.ErrCorrupt) {
				t.Fatalf("error without sentinel: %v", err)
			}
			return
		}
		if len(r.At) > model.MaxRare || !slices.IsSorted(r.At) || len(slices.Compact(slices.Clone(r.At))) != len(r.At) ||
			len(r.At) > 0 && r.At[len(r.At)-1] >= n || width > 1 && len(r.Values) != len(r.At) || slices.Contains(r.Values, 0) {
			t.Fatalf("%d cells of %d, %d values", len(r.At), n, len(r.Values))
		}
		if err := c.DecodeRare(c.AppendRare(nil, r, uint64(n), width), &again, uint64(n), width); err != nil || !sameRare(r, again) {
			t.Fatalf("the code of what was decoded: %v", err)
		}
	})
}

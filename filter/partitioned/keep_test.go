package partitioned_test

import (
	"errors"
	"math"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/partitioned"
	"github.com/umbel-filters/umbel/internal/fixture"
)

// Sailhan and Stehr 2012, related work: a partitioned filter shrinks by its slices. What remains is bit for bit the filter
// that was made with fewer slices, also folded and merged, and contains all keys.
func TestKeepSlicesEqualsBuiltWithThem(t *testing.T) {
	a, b := fixture.Digests(1, 300), fixture.Digests(2, 100)
	same := func(what string, f, want *partitioned.Filter) {
		t.Helper()
		if f.Shape() != want.Shape() || !f.State().Arrays[0].Equal(want.State().Arrays[0]) {
			t.Errorf("%s: %+v differs from the filter made as %+v", what, f.Shape(), want.Shape())
		}
	}
	for _, s := range []struct {
		slice uint64
		group uint8
	}{{60, 0}, {64, 0}, {192, 6}, {1000, 0}, {1280, 6}} {
		for _, slices := range []int{1, 2, 7} {
			shape := partitioned.Shape{M: s.slice * uint64(slices), K: slices, Group: s.group}
			for k := 1; k <= slices; k++ {
				small := partitioned.Shape{M: s.slice * uint64(k), K: k, Group: s.group}
				f, want := mustNew(t, shape), mustNew(t, small)
				f.AddAll(nil, a)
				want.AddAll(nil, a)
				folded := f.Clone()
				if err := f.KeepSlices(k); err != nil {
					t.Fatal(err)
				}
				same("slices kept", f, want)
				for i, d := range a {
					if !f.Has(d) {
						t.Fatalf("digest %d is absent from %d of %d slices", i, k, slices)
					}
				}
				other := mustNew(t, small)
				other.AddAll(nil, b)
				if err := errors.Join(f.Merge(other.State()), want.Merge(other.State())); err != nil {
					t.Fatal(err)
				}
				f.AddAll(nil, b)
				same("and merged", f, want)
				factor := uint64(2)
				if s.slice>>s.group%factor != 0 {
					factor = s.slice >> s.group
				}
				plain := mustNew(t, small)
				plain.AddAll(nil, a)
				if err := errors.Join(folded.Fold(factor), folded.KeepSlices(k), plain.Fold(factor)); err != nil {
					t.Fatal(err)
				}
				same("folded, then slices kept", folded, plain)
			}
		}
	}
}

// The rate of k of K slices is that of all to the power k/K. For half of the cells it is above that of a fold if less than
// 38.2 % of them are set, as (1-(1-x)^2)^K and x^(K/2) are equal at x = (3-√5)/2.
func TestRateOfFewerSlices(t *testing.T) {
	all := partitioned.Shape{M: 8 * 6400, K: 8, Group: 6}
	for _, n := range []uint64{1000, 3000, 5000} {
		for k := 1; k <= 8; k++ {
			few := partitioned.Shape{M: 6400 * uint64(k), K: k, Group: 6}
			p, want := few.Forecast(n).FPRate, math.Pow(all.Forecast(n).FPRate, float64(k)/8)
			if math.Abs(p/want-1) > 1e-9 {
				t.Errorf("%d keys, %d of 8 slices: a rate of %.9g, want %.9g", n, k, p, want)
			}
		}
		half := partitioned.Shape{M: 4 * 6400, K: 4, Group: 6}.Forecast(n).FPRate
		folded := partitioned.Shape{M: 8 * 3200, K: 8, Group: 6}.Forecast(n).FPRate
		if fill := -math.Expm1(float64(n) * math.Log1p(-1.0/6400)); (fill < (3-math.Sqrt(5))/2) != (folded < half) {
			t.Errorf("%d keys, fill ratio %.3f: half of the slices have a rate of %.4g, a fold by 2 of %.4g", n, fill, half, folded)
		}
	}
}

func TestKeepSlicesRefuses(t *testing.T) {
	f := mustNew(t, partitioned.Shape{M: 700, K: 7})
	f.AddAll(nil, fixture.Digests(1, 50))
	before := f.State().Clone()
	for _, k := range []int{-1, 0, 8} {
		if err := f.KeepSlices(k); !errors.Is(err, umbel.ErrMismatch) || !f.State().Arrays[0].Equal(before.Arrays[0]) || f.Shape().K != 7 {
			t.Errorf("%d of 7 slices: %v", k, err)
		}
	}
	if err := new(partitioned.Filter).KeepSlices(1); !errors.Is(err, umbel.ErrMismatch) {
		t.Errorf("a slice of a zero filter: %v", err)
	}
}

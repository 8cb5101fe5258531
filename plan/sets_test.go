package plan

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// twoSets fills two filters, which share some keys, and their union.
type twoSets struct{ a, b, or *bits }

func newTwoSets(m uint64) twoSets { return twoSets{newBits(m), newBits(m), newBits(m)} }

func (s twoSets) fill(r *rand.Rand, k int, onlyA, onlyB, both uint64) {
	m := uint64(len(s.a.cells))
	s.a.clear()
	s.b.clear()
	s.or.clear()
	for i := range uint64(k) * (onlyA + onlyB + both) {
		cell := r.Uint64N(m)
		s.or.set(cell)
		if i < uint64(k)*(onlyA+both) {
			s.a.set(cell)
		}
		if i >= uint64(k)*onlyA {
			s.b.set(cell)
		}
	}
}

func TestPapapetrouUnionAndIntersection(t *testing.T) {
	for _, c := range []struct {
		name               string
		m                  uint64
		k                  int
		onlyA, onlyB, both uint64
	}{
		{"half shared", 4000, 4, 250, 200, 250},
		{"unequal", 4000, 3, 900, 50, 50},
		{"few shared", 10000, 5, 600, 500, 30},
		{"nothing shared", 4000, 4, 300, 300, 0},
		{"one holds the other", 4000, 4, 300, 0, 200},
		{"the same", 4000, 4, 0, 0, 300},
		{"nearly full", 2000, 6, 400, 300, 200},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, s := newRand(7), newTwoSets(c.m)
			var raw, union sample
			var inUnion, inBoth coverage
			variance := 0.0
			const trials = 600
			for range trials {
				s.fill(r, c.k, c.onlyA, c.onlyB, c.both)
				u, i := KeysInterval(c.m, c.k, s.or.ones), IntersectionKeys(c.m, c.k, s.a.ones, s.b.ones, s.or.ones)
				checkEstimate(t, u)
				checkEstimate(t, i)
				union.add(u.Value)
				inUnion.add(u, float64(c.onlyA+c.onlyB+c.both))
				inBoth.add(i, float64(c.both))
				raw.add(Keys(c.m, c.k, s.a.ones) + Keys(c.m, c.k, s.b.ones) - Keys(c.m, c.k, s.or.ones))
			}
			union.wantMean(t, float64(c.onlyA+c.onlyB+c.both), 0.01)
			raw.wantMean(t, float64(c.both), 0.03)
			inUnion.want(t, 0.99)
			inBoth.want(t, 1)

			// The variance of the doc comment, at the true numbers.
			g := func(keys uint64) float64 {
				load := float64(c.k) * float64(keys) / float64(c.m)
				return math.Expm1(load) - load
			}
			variance = float64(c.m) / float64(c.k*c.k) * (g(c.onlyA+c.onlyB+c.both) + 2*g(c.both) - g(c.onlyA+c.both) - g(c.onlyB+c.both))
			if got, want := raw.sd(), math.Sqrt(variance); !near(got, want, 3/math.Sqrt(2*trials)+0.03) {
				t.Errorf("standard deviation %.4g, formula has %.4g", got, want)
			}
			if share := float64(inBoth.inside) / trials; c.both > 0 && c.onlyA > 0 && c.onlyB > 0 && share > 0.985 {
				t.Errorf("%.1f %% of the intervals hold the truth: they are too wide", 100*share)
			}
		})
	}
}

func TestIntersectionHolds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := rapid.Uint64Range(1, 1<<63).Draw(t, "m")
		k := rapid.IntRange(1, 64).Draw(t, "k")
		a := rapid.Uint64Range(0, m).Draw(t, "a")
		b := rapid.Uint64Range(0, m).Draw(t, "b")
		or := rapid.Uint64().Draw(t, "or") // also numbers that contradict a and b
		e := IntersectionKeys(m, k, a, b, or)
		checkEstimate(t, e)
		if swapped := IntersectionKeys(m, k, b, a, or); fmt.Sprint(swapped) != fmt.Sprint(e) {
			t.Fatalf("%v, with a and b exchanged %v", e, swapped)
		}
		if e.Value > min(Keys(m, k, a), Keys(m, k, b)) {
			t.Fatalf("%g keys in both, more than in one", e.Value)
		}
	})
}

func TestIntersectionEdges(t *testing.T) {
	const m, k = 1000, 4
	if got := IntersectionKeys(m, k, 0, 300, 300); got != (Estimate{}) {
		t.Errorf("with an empty filter: %+v, want zeros", got)
	}
	if got, want := IntersectionKeys(m, k, 300, 300, 300).Value, Keys(m, k, 300); got != want {
		t.Errorf("of a filter with itself: %g, want %g", got, want)
	}
	full := IntersectionKeys(m, k, 900, 300, 1000)
	if !math.IsNaN(full.Value) || full.Low != 0 || full.High != KeysInterval(m, k, 300).High {
		t.Errorf("full union: %+v, want NaN, 0 and the bound of the smaller", full)
	}
	if got, want := IntersectionKeys(m, k, 300, 200, 100), IntersectionKeys(m, k, 300, 200, 300); got != want {
		t.Errorf("union smaller than a: %+v, want %+v", got, want)
	}
	if got, want := IntersectionKeys(m, k, 300, 200, 700), IntersectionKeys(m, k, 300, 200, 500); got != want {
		t.Errorf("union larger than a+b: %+v, want %+v", got, want)
	}
	wantPanic(t, "m=0", func() { IntersectionKeys(0, 1, 0, 0, 0) })
	if got, want := KeysInterval(8000, 5, 3718).String(), "1000 [983, 1018]"; got != want {
		t.Errorf("String: %s, want %s", got, want)
	}
}

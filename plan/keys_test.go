package plan

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/umbel-filters/umbel/internal/fixture"
)

func TestSwamidassBaldi(t *testing.T) {
	for _, c := range []struct {
		m    uint64
		k    int
		ones uint64
		want string
	}{
		{8000, 5, 3718, "1000.0"},
		{140000, 2, 18637, "9999.9"},
		{64, 4, 25, "7.9251"},
		{64, 4, 0, "0"},
		{64, 4, 64, "+Inf"},
		{64, 4, 65, "+Inf"},
	} {
		got := Filter{c.m, c.k}.Keys(c.ones).Value
		digits := len(c.want) - 1
		if i := len(c.want); i > 1 && c.want != "+Inf" {
			for i > 0 && c.want[i-1] != '.' {
				i--
			}
			digits = len(c.want) - i
		}
		if s := fmt.Sprintf("%.*f", digits, got); s != c.want {
			t.Errorf("Keys(%d, %d, %d) = %s, want %s", c.m, c.k, c.ones, s, c.want)
		}
	}
}

// TestPapapetrou: Papapetrou et al. 2010 invert the mean fill exactly; our estimate differs by
// 1-1/(2m).
func TestPapapetrou(t *testing.T) {
	for _, m := range []uint64{64, 1000, 1e6} {
		for _, k := range []int{1, 4, 8} {
			n := m / 10
			mean := Filter{m, k}.Fill(n) * float64(m)
			got := Filter{m, k}.keys(mean) * (1 - 1/(2*float64(m)))
			if !fixture.Near(got, float64(n), 1e-4) {
				t.Errorf("m=%d k=%d n=%d: %g", m, k, n, got)
			}
		}
	}
}

func TestKeysUndoesFill(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := rapid.Uint64Range(1000, 1<<50).Draw(t, "m")
		k := rapid.IntRange(1, 20).Draw(t, "k")
		n := uint64(float64(m)/float64(k)*rapid.Float64Range(0, 3).Draw(t, "kn/m")) + 1
		got := Filter{m, k}.Keys(uint64(math.Round(Filter{m, k}.Fill(n) * float64(m)))).Value
		half := 11 / float64(k) // half a cell, in keys, at the fullest
		if math.Abs(got-float64(n)) > half+float64(n)*1e-3 {
			t.Fatalf("%g keys, want %d", got, n)
		}
	})
}

// checkEstimate checks properties of every estimate.
func checkEstimate(t rapid.TB, e Estimate) {
	t.Helper()
	ok := e.Low >= 0 && e.Low <= e.High && !math.IsInf(e.Low, 1)
	if !math.IsNaN(e.Value) {
		ok = ok && e.Low <= e.Value && e.Value <= e.High
	}
	if !ok {
		t.Fatalf("estimate %+v is out of order", e)
	}
}

func TestKeysIntervalHolds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := rapid.Uint64Range(1, 1<<63).Draw(t, "m")
		k := rapid.IntRange(1, 64).Draw(t, "k")
		ones := rapid.Uint64Range(0, m).Draw(t, "ones")
		e := Filter{m, k}.Keys(ones)
		checkEstimate(t, e)
		if e.Value != (Filter{m, k}).Keys(ones).Value {
			t.Fatalf("value %g, Keys has %g", e.Value, Filter{m, k}.Keys(ones).Value)
		}
		if e.Low*float64(k) < float64(ones)*(1-1e-12) {
			t.Fatalf("%d cells set by fewer than %g keys", ones, e.Low)
		}
	})
	if got := (Filter{1000, 7}).Keys(0); got != (Estimate{}) {
		t.Errorf("empty filter: %+v, want zeros", got)
	}
	full := Filter{64, 4}.Keys(64)
	if !math.IsInf(full.Value, 1) || !math.IsInf(full.High, 1) || full.Low < 30 || full.Low > 64 {
		t.Errorf("full filter: %+v, want +Inf above, and about 44 below", full)
	}
	fixture.WantPanic(t, "m=0", func() { Filter{0, 1}.Keys(0) })
	fixture.WantPanic(t, "k=0", func() { Filter{1, 0}.Keys(0) })
}

// coverage counts how often the true value is in the interval.
type coverage struct{ trials, inside int }

func (c *coverage) add(e Estimate, truth float64) {
	c.trials++
	if e.Low <= truth && truth <= e.High {
		c.inside++
	}
}

// want allows three standard deviations below 95 percent, and up to most.
func (c *coverage) want(t *testing.T, most float64) {
	t.Helper()
	got := float64(c.inside) / float64(c.trials)
	sigma := math.Sqrt(0.95 * 0.05 / float64(c.trials))
	if got < 0.95-3*sigma || got > most {
		t.Errorf("%.2f %% of %d intervals hold the truth, want 95 %% or a little more", 100*got, c.trials)
	}
}

func TestKeysIntervalCoverage(t *testing.T) {
	for _, c := range []struct {
		m    uint64
		k    int
		n    uint64
		most float64
	}{
		{64, 4, 8, 1},
		{500, 3, 10, 1}, // few cells to be off by
		{1000, 7, 100, 0.985},
		{2000, 1, 500, 0.98},
		{2000, 4, 400, 0.98},
		{2000, 8, 900, 0.98}, // 97 percent full
	} {
		t.Run(fmt.Sprintf("m=%d/k=%d/n=%d", c.m, c.k, c.n), func(t *testing.T) {
			r, f := fixture.Rand(5), fixture.NewCells(c.m)
			var value fixture.Sample
			var inside coverage
			for range 1000 {
				f.Clear()
				f.AddKeys(r, c.k, c.n)
				e := Filter{c.m, c.k}.Keys(f.Ones)
				value.Add(e.Value)
				inside.add(e, float64(c.n))
			}
			value.WantMean(t, float64(c.n), 0.03)
			inside.want(t, c.most)
		})
	}
}

// TestKeysOfBlocks: Keys is accurate for split blocks, and too low by (k-1)/(2b) for blocks of b
// bits.
func TestKeysOfBlocks(t *testing.T) {
	const m, block, k, n = 1 << 16, 256, 7, 7000
	r := fixture.Rand(6)
	var blocked, split fixture.Sample
	for range 60 {
		b, s := fixture.NewCells(m), fixture.NewCells(m)
		b.Clear()
		s.Clear()
		for range n {
			base := r.Uint64N(m/block) * block
			for range k {
				b.Set(base + r.Uint64N(block))
			}
			for w := range uint64(8) {
				s.Set(base + w*32 + r.Uint64N(32))
			}
		}
		blocked.Add(Filter{m, k}.Keys(b.Ones).Value)
		split.Add(Filter{m, 8}.Keys(s.Ones).Value)
	}
	split.WantMean(t, n, 0)
	blocked.WantMean(t, n*(1-float64(k-1)/(2*block)), 0.001)
}

func BenchmarkKeys(b *testing.B) {
	b.Run("one", func(b *testing.B) {
		for b.Loop() {
			Filter{10_000_000, 7}.Keys(5_000_000)
		}
	})
	b.Run("intersection", func(b *testing.B) {
		for b.Loop() {
			Filter{10_000_000, 7}.CommonKeys(3_000_000, 4_000_000, 5_000_000)
		}
	})
}

// twoSets fills two filters, which share some keys, and their union.
type twoSets struct {
	m        uint64
	a, b, or *fixture.Cells
}

func newTwoSets(m uint64) twoSets {
	return twoSets{m, fixture.NewCells(m), fixture.NewCells(m), fixture.NewCells(m)}
}

func (s twoSets) fill(r *rand.Rand, k int, onlyA, onlyB, both uint64) {
	s.a.Clear()
	s.b.Clear()
	s.or.Clear()
	for i := range uint64(k) * (onlyA + onlyB + both) {
		cell := r.Uint64N(s.m)
		s.or.Set(cell)
		if i < uint64(k)*(onlyA+both) {
			s.a.Set(cell)
		}
		if i >= uint64(k)*onlyA {
			s.b.Set(cell)
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
			r, s := fixture.Rand(7), newTwoSets(c.m)
			var raw, union fixture.Sample
			var inUnion, inBoth coverage
			variance := 0.0
			const trials = 600
			for range trials {
				s.fill(r, c.k, c.onlyA, c.onlyB, c.both)
				u, i := Filter{c.m, c.k}.Keys(s.or.Ones), Filter{c.m, c.k}.CommonKeys(s.a.Ones, s.b.Ones, s.or.Ones)
				checkEstimate(t, u)
				checkEstimate(t, i)
				union.Add(u.Value)
				inUnion.add(u, float64(c.onlyA+c.onlyB+c.both))
				inBoth.add(i, float64(c.both))
				raw.Add(Filter{c.m, c.k}.Keys(s.a.Ones).Value + Filter{c.m, c.k}.Keys(s.b.Ones).Value - Filter{c.m, c.k}.Keys(s.or.Ones).Value)
			}
			union.WantMean(t, float64(c.onlyA+c.onlyB+c.both), 0.01)
			raw.WantMean(t, float64(c.both), 0.03)
			inUnion.want(t, 0.99)
			inBoth.want(t, 1)

			// The variance of the doc comment, at the true numbers.
			g := func(keys uint64) float64 {
				load := float64(c.k) * float64(keys) / float64(c.m)
				return math.Expm1(load) - load
			}
			variance = float64(c.m) / float64(c.k*c.k) * (g(c.onlyA+c.onlyB+c.both) + 2*g(c.both) - g(c.onlyA+c.both) - g(c.onlyB+c.both))
			if got, want := raw.SD(), math.Sqrt(variance); !fixture.Near(got, want, 3/math.Sqrt(2*trials)+0.03) {
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
		e := Filter{m, k}.CommonKeys(a, b, or)
		checkEstimate(t, e)
		if swapped := (Filter{m, k}).CommonKeys(b, a, or); fmt.Sprint(swapped) != fmt.Sprint(e) {
			t.Fatalf("%v, with a and b exchanged %v", e, swapped)
		}
		if e.Value > min(Filter{m, k}.Keys(a).Value, Filter{m, k}.Keys(b).Value) {
			t.Fatalf("%g keys in both, more than in one", e.Value)
		}
	})
}

func TestIntersectionEdges(t *testing.T) {
	const m, k = 1000, 4
	if got := (Filter{m, k}).CommonKeys(0, 300, 300); got != (Estimate{}) {
		t.Errorf("with an empty filter: %+v, want zeros", got)
	}
	if got, want := (Filter{m, k}).CommonKeys(300, 300, 300).Value, (Filter{m, k}).Keys(300).Value; got != want {
		t.Errorf("of a filter with itself: %g, want %g", got, want)
	}
	full := Filter{m, k}.CommonKeys(900, 300, 1000)
	if !math.IsNaN(full.Value) || full.Low != 0 || full.High != (Filter{m, k}).Keys(300).High {
		t.Errorf("full union: %+v, want NaN, 0 and the bound of the smaller", full)
	}
	if got, want := (Filter{m, k}).CommonKeys(300, 200, 100), (Filter{m, k}).CommonKeys(300, 200, 300); got != want {
		t.Errorf("union smaller than a: %+v, want %+v", got, want)
	}
	if got, want := (Filter{m, k}).CommonKeys(300, 200, 700), (Filter{m, k}).CommonKeys(300, 200, 500); got != want {
		t.Errorf("union larger than a+b: %+v, want %+v", got, want)
	}
	fixture.WantPanic(t, "m=0", func() { Filter{0, 1}.CommonKeys(0, 0, 0) })
	if got, want := (Filter{8000, 5}).Keys(3718).String(), "1000 [983, 1018]"; got != want {
		t.Errorf("String: %s, want %s", got, want)
	}
}

// TestEstimateJSON: an estimate without a value or a bound has JSON, with null.
func TestEstimateJSON(t *testing.T) {
	for e, want := range map[Estimate]string{
		{Value: 1.5, Low: 0, High: 1e9}:         `{"Value":1.5,"Low":0,"High":1e+09}`,
		{Value: 2, High: math.Inf(1)}:           `{"Value":2,"Low":0,"High":null}`,
		{Value: math.Inf(1), High: math.Inf(1)}: `{"Value":null,"Low":0,"High":null}`,
	} {
		if b, err := json.Marshal(e); err != nil || string(b) != want {
			t.Errorf("JSON of %v is %s, %v, want %s", e, b, err, want)
		}
	}
	if b, err := json.Marshal(Estimate{Value: math.NaN(), High: 3}); err != nil || string(b) != `{"Value":null,"Low":0,"High":3}` {
		t.Errorf("JSON of an unknown value is %s, %v", b, err)
	}
}

package plan

import (
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/umbel-filters/umbel/internal/fixture"
)

// TestSailhanStehrEquation1: equation (1) of Sailhan and Stehr 2012, as printed, is the fill and
// not the rate.
func TestSailhanStehrEquation1(t *testing.T) {
	const m, k, n = 8e6, 5, 1e6
	if got := (Filter{m, k}).Fill(n); !fixture.Near(got, 0.4647, 1e-4) {
		t.Errorf("as printed: %.5f, want .4647", got)
	}
	if got := (Filter{m, k}).FPRate(n); !fixture.Near(got, 0.02168, 1e-4) {
		t.Errorf("with the power k: %.6f, want .02168", got)
	}
}

// Mitzenmacher 2002, Tables I to VII: the column f of uncompressed and compressed
// filters. The fourth row of Table IV is rounded up there (.0216 for .021542).
func TestMitzenmacherTables(t *testing.T) {
	const n = 1e7
	for _, c := range []struct {
		table      string
		bitsPerKey float64
		k          int
		want       float64
	}{
		{"I", 8, 6, .0215771}, {"I", 14, 2, .0177215}, {"I", 92, 1, .0108107},
		{"II", 16, 11, .0004587}, {"II", 28, 4, .0003141}, {"II", 48, 3, .0002224},
		{"III", 4, 3, .1468916}, {"III", 7, 1, .1331221},
		{"IV", 12.6, 2, .0215424}, {"IV", 46, 1, .0215045},
		{"V", 37.5, 3, .0004545}, {"V", 93, 2, .0004527},
		{"VI", 8, 5, .0216792}, {"VI", 12, 3, .0108231}, {"VI", 32, 2, .0036708}, {"VI", 13, 2, .0203336},
		{"VII", 16, 3, .0049977}, {"VII", 48, 2, .0016655},
	} {
		if got := (Filter{uint64(c.bitsPerKey * n), c.k}).FPRate(n); !fixture.Near(got, c.want, 2e-4) {
			t.Errorf("table %s, m/n=%v k=%d: %.7f, want %.7f", c.table, c.bitsPerKey, c.k, got, c.want)
		}
	}
}

func TestFPRateAgainstSimulation(t *testing.T) {
	for _, c := range []struct {
		m      uint64
		k      int
		n      uint64
		trials int
	}{
		{512, 1, 100, 2000},
		{1000, 7, 100, 2000},
		{4096, 5, 500, 600},
		{4096, 3, 3000, 300},
		{10000, 16, 400, 300},
	} {
		t.Run(fmt.Sprintf("m=%d/k=%d/n=%d", c.m, c.k, c.n), func(t *testing.T) {
			r, f := fixture.Rand(1), fixture.NewCells(c.m)
			var rate, fill fixture.Sample
			for range c.trials {
				f.Clear()
				f.AddKeys(r, c.k, c.n)
				fill.Add(float64(f.Ones) / float64(c.m))
				rate.Add(FPRateAtFill(float64(f.Ones)/float64(c.m), c.k))
			}
			fill.WantMean(t, Filter{c.m, c.k}.Fill(c.n), 0)
			rate.WantMean(t, Filter{c.m, c.k}.FPRate(c.n), 0.03)
			rate.WantMean(t, Filter{c.m, c.k}.FPRateExact(c.n), 0)
		})
	}
}

// TestFPRateKeepsPrecision: with 2^63 cells 1-1/m is 1 in a float64, but the rate is accurate.
func TestFPRateKeepsPrecision(t *testing.T) {
	const m = 1 << 63
	for _, c := range []struct {
		k int
		n uint64
	}{{1, 1}, {10, 1}, {3, 1000}, {7, 1 << 40}} {
		load := float64(c.k) * float64(c.n) / m
		if got, want := (Filter{m, c.k}).FPRate(c.n), math.Pow(load, float64(c.k)); !fixture.Near(got, want, 1e-5) || got == 0 {
			t.Errorf("FPRate(2^63, %d, %d) = %g, want %g", c.k, c.n, got, want)
		}
	}
	if got, want := (Filter{m, 1}).FPRate(math.MaxUint64), 1-math.Exp(-2); !fixture.Near(got, want, 1e-12) {
		t.Errorf("2^64-1 keys in 2^63 cells: %g, want %g", got, want)
	}
}

func TestFPRateEdges(t *testing.T) {
	for _, c := range []struct {
		name      string
		got, want float64
	}{
		{"no keys", Filter{100, 4}.FPRate(0), 0},
		{"one cell, no keys", Filter{1, 4}.FPRate(0), 0},
		{"one cell, one key", Filter{1, 4}.FPRate(1), 1},
		{"far too many keys", Filter{64, 4}.FPRate(math.MaxUint64), 1},
		{"nothing set", FPRateAtFill(0, 3), 0},
		{"half set", FPRateAtFill(0.5, 3), 0.125},
		{"all set", FPRateAtFill(1, 3), 1},
	} {
		if c.got != c.want {
			t.Errorf("%s: %g, want %g", c.name, c.got, c.want)
		}
	}
	fixture.WantPanic(t, "m=0", func() { Filter{0, 1}.FPRate(1) })
	fixture.WantPanic(t, "k=0", func() { Filter{1, 0}.FPRate(1) })
	fixture.WantPanic(t, "k=-1", func() { FPRateAtFill(0.5, -1) })
}

func TestFPRateRisesWithKeysAndFallsWithCells(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := rapid.Uint64Range(1, 1<<62).Draw(t, "m")
		k := rapid.IntRange(1, 64).Draw(t, "k")
		n := rapid.Uint64Range(0, 1<<62).Draw(t, "n")
		more := rapid.Uint64Range(1, 1<<62).Draw(t, "more")
		rate := Filter{m, k}.FPRate(n)
		if !(rate >= 0 && rate <= 1) {
			t.Fatalf("rate %g is outside [0, 1]", rate)
		}
		if got := (Filter{m, k}).FPRate(n + more); got < rate*(1-1e-9) {
			t.Fatalf("with %d more keys the rate falls from %g to %g", more, rate, got)
		}
		if got := (Filter{m + more, k}).FPRate(n); got > rate*(1+1e-9) {
			t.Fatalf("with %d more cells the rate rises from %g to %g", more, rate, got)
		}
	})
}

func BenchmarkFPRate(b *testing.B) {
	for _, n := range []uint64{1, 2, 10, 100} { // 64 draws at most, or more
		b.Run(fmt.Sprintf("few/n=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Filter{44 * n, 30}.FPRate(n)
			}
		})
	}
	for _, n := range []uint64{1e3, 1e6, 1e9} {
		b.Run(fmt.Sprintf("plain/n=%d", n), func(b *testing.B) {
			for b.Loop() {
				Filter{10 * n, 7}.FPRate(n)
			}
		})
	}
	for _, n := range []uint64{100, 1000, 1e6} {
		b.Run(fmt.Sprintf("exact/n=%d", n), func(b *testing.B) {
			for b.Loop() {
				Filter{10 * n, 7}.FPRateExact(n)
			}
		})
	}
}

// Computed from the equation of Bose et al. 2008 with large integers:
// sum over i of S(k,i) (m)_i m^-k sum over j of (-1)^j C(i,j) (1-j/m)^(kn).
func TestBoseEquation(t *testing.T) {
	for _, c := range []struct {
		m, n uint64
		k    int
		want float64
	}{
		{16, 4, 2, .165989378016},
		{32, 8, 3, .15574078509},
		{64, 8, 5, .0234160874769},
		{64, 16, 3, .151271932102},
		{128, 20, 4, .04788671921},
		{256, 32, 5, .022107004794},
		{1000, 100, 7, .00826624751484},
		{8192, 1000, 5, .0199108695604},
	} {
		if got := (Filter{c.m, c.k}).FPRateExact(c.n); !fixture.Near(got, c.want, 1e-11) {
			t.Errorf("m=%d n=%d k=%d: %.12g, want %.12g", c.m, c.n, c.k, got, c.want)
		}
	}
}

// TestBoseFormulaIsLow: the formula for independent cells is too low, most of all for small
// filters.
func TestBoseFormulaIsLow(t *testing.T) {
	if got := FPRateAtFill(Filter{64, 4}.Fill(8), 4); !fixture.Near(got, .02455621643, 1e-9) {
		t.Errorf("the formula gives %.11g, want .02455621643", got)
	}
	if got := (Filter{64, 4}).FPRate(8); !fixture.Near(got, .02535443462, 1e-9) {
		t.Errorf("FPRate = %.11g, want .02535443462", got)
	}
	if got := (Filter{64, 4}).FPRateExact(8); !fixture.Near(got, .02535443462, 1e-9) {
		t.Errorf("FPRateExact = %.11g, want .02535443462", got)
	}
	rapid.Check(t, func(t *rapid.T) {
		m := rapid.Uint64Range(1, 2000).Draw(t, "m")
		k := rapid.IntRange(1, 20).Draw(t, "k")
		n := rapid.Uint64Range(0, 100).Draw(t, "n")
		exact, formula := Filter{m, k}.FPRateExact(n), FPRateAtFill(Filter{m, k}.Fill(n), k)
		if exact < formula*(1-1e-11) || exact > 1+1e-11 {
			t.Fatalf("exact %g, formula %g", exact, formula)
		}
		if k == 1 && !fixture.Near(exact, formula, 1e-11) {
			t.Fatalf("with one cell per key both are the mean fill, got %g and %g", exact, formula)
		}
	})
}

// TestBoseByEnumeration enumerates all ways to place two keys of two cells each and a query
// among three cells.
func TestBoseByEnumeration(t *testing.T) {
	const m, k, n = 3, 2, 2
	yes, all := 0, 0
	for code := range 3 * 3 * 3 * 3 * 3 * 3 {
		var cell [6]int
		for i := range cell {
			cell[i] = code % 3
			code /= 3
		}
		var set [3]bool
		for _, c := range cell[:k*n] {
			set[c] = true
		}
		if set[cell[4]] && set[cell[5]] {
			yes++
		}
		all++
	}
	if got, want := (Filter{m, k}).FPRateExact(n), float64(yes)/float64(all); !fixture.Near(got, want, 1e-14) {
		t.Errorf("%.15g, want %d of %d = %.15g", got, yes, all, want)
	}
}

// TestFPRateExactSecondOrder compares the approximation above exactLimit with the exact rate
// where both can be computed.
func TestFPRateExactSecondOrder(t *testing.T) {
	for _, c := range []struct {
		k, most int // the number of positions, rounded down to whole keys
		m       uint64
		within  float64
	}{
		{32, exactLimit, 70_000, 2e-6},
		{7, exactLimit / 8, 8000, 3e-7}, // the error goes with the inverse square of most
		{16, exactLimit / 8, 8000, 6e-6},
		{16, exactLimit / 8, 16_000, 6e-6},
		{16, exactLimit / 8, 100_000, 6e-6},
	} {
		n := uint64(c.most / c.k)
		got := secondOrder(float64(c.m), float64(c.k), float64(c.k)*float64(n))
		if want := (Filter{c.m, c.k}).FPRateExact(n); !fixture.Near(got, want, c.within) {
			t.Errorf("m=%d k=%d n=%d: %.12g, exact %.12g", c.m, c.k, n, got, want)
		}
	}
	const m, k = 100_000, 8
	below, above := Filter{m, k}.FPRateExact(exactLimit/k), Filter{m, k}.FPRateExact(exactLimit/k+1)
	if !fixture.Near(below, above, 1e-3) || above <= below {
		t.Errorf("across the limit the rate goes from %.10g to %.10g", below, above)
	}
	if got := (Filter{64, 4}).FPRateExact(1 << 40); got != 1 {
		t.Errorf("full filter: %g, want 1", got)
	}
	if got, want := (Filter{1 << 63, 4}).FPRateExact(1<<62), (Filter{1 << 63, 4}).FPRate(1<<62); !fixture.Near(got, want, 1e-12) {
		t.Errorf("2^63 cells: %g, want %g", got, want)
	}
}

package plan

import (
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"
)

// Sailhan and Stehr 2012 print the fill where the rate belongs.
func TestSailhanStehrEquation1(t *testing.T) {
	const m, k, n = 8e6, 5, 1e6
	if got := Fill(m, k, n); !near(got, 0.4647, 1e-4) {
		t.Errorf("as printed: %.5f, want .4647", got)
	}
	if got := FPRate(m, k, n); !near(got, 0.02168, 1e-4) {
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
		if got := FPRate(uint64(c.bitsPerKey*n), c.k, n); !near(got, c.want, 2e-4) {
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
			r, f := newRand(1), newBits(c.m)
			var rate, fill sample
			for range c.trials {
				f.clear()
				f.addKeys(r, c.k, c.n)
				fill.add(float64(f.ones) / float64(c.m))
				rate.add(FPRateAtFill(float64(f.ones)/float64(c.m), c.k))
			}
			fill.wantMean(t, Fill(c.m, c.k, c.n), 0)
			rate.wantMean(t, FPRate(c.m, c.k, c.n), 0.03)
			rate.wantMean(t, FPRateExact(c.m, c.k, c.n), 0)
		})
	}
}

// With 2^63 cells 1-1/m is 1 in a float64, and the rate must be right all the same.
func TestFPRateKeepsPrecision(t *testing.T) {
	const m = 1 << 63
	for _, c := range []struct {
		k int
		n uint64
	}{{1, 1}, {10, 1}, {3, 1000}, {7, 1 << 40}} {
		load := float64(c.k) * float64(c.n) / m
		if got, want := FPRate(m, c.k, c.n), math.Pow(load, float64(c.k)); !near(got, want, 1e-5) || got == 0 {
			t.Errorf("FPRate(2^63, %d, %d) = %g, want %g", c.k, c.n, got, want)
		}
	}
	if got, want := FPRate(m, 1, math.MaxUint64), 1-math.Exp(-2); !near(got, want, 1e-12) {
		t.Errorf("2^64-1 keys in 2^63 cells: %g, want %g", got, want)
	}
}

func TestFPRateEdges(t *testing.T) {
	for _, c := range []struct {
		name      string
		got, want float64
	}{
		{"no keys", FPRate(100, 4, 0), 0},
		{"one cell, no keys", FPRate(1, 4, 0), 0},
		{"one cell, one key", FPRate(1, 4, 1), 1},
		{"far too many keys", FPRate(64, 4, math.MaxUint64), 1},
		{"nothing set", FPRateAtFill(0, 3), 0},
		{"half set", FPRateAtFill(0.5, 3), 0.125},
		{"all set", FPRateAtFill(1, 3), 1},
	} {
		if c.got != c.want {
			t.Errorf("%s: %g, want %g", c.name, c.got, c.want)
		}
	}
	wantPanic(t, "m=0", func() { FPRate(0, 1, 1) })
	wantPanic(t, "k=0", func() { FPRate(1, 0, 1) })
	wantPanic(t, "k=-1", func() { FPRateAtFill(0.5, -1) })
}

func TestFPRateRisesWithKeysAndFallsWithCells(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := rapid.Uint64Range(1, 1<<62).Draw(t, "m")
		k := rapid.IntRange(1, 64).Draw(t, "k")
		n := rapid.Uint64Range(0, 1<<62).Draw(t, "n")
		more := rapid.Uint64Range(1, 1<<62).Draw(t, "more")
		rate := FPRate(m, k, n)
		if !(rate >= 0 && rate <= 1) {
			t.Fatalf("rate %g is outside [0, 1]", rate)
		}
		if got := FPRate(m, k, n+more); got < rate*(1-1e-9) {
			t.Fatalf("with %d more keys the rate falls from %g to %g", more, rate, got)
		}
		if got := FPRate(m+more, k, n); got > rate*(1+1e-9) {
			t.Fatalf("with %d more cells the rate rises from %g to %g", more, rate, got)
		}
	})
}

func BenchmarkFPRate(b *testing.B) {
	for _, n := range []uint64{1e3, 1e6, 1e9} {
		b.Run(fmt.Sprintf("plain/n=%d", n), func(b *testing.B) {
			for b.Loop() {
				FPRate(10*n, 7, n)
			}
		})
	}
	for _, n := range []uint64{100, 1000, 1e6} {
		b.Run(fmt.Sprintf("exact/n=%d", n), func(b *testing.B) {
			for b.Loop() {
				FPRateExact(10*n, 7, n)
			}
		})
	}
	for _, n := range []uint64{1e3, 1e6, 1e9} {
		b.Run(fmt.Sprintf("blocked/n=%d", n), func(b *testing.B) {
			for b.Loop() {
				BlockedFPRate(10*n, 3, 2, n)
			}
		})
	}
}

package plan_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/umbel-filters/umbel/internal/number"
	"github.com/umbel-filters/umbel/plan"
	"pgregory.net/rapid"
)

func TestLadder(t *testing.T) {
	for _, c := range []struct {
		m, unit uint64
		want    []uint64
	}{
		{12, 1, []uint64{1, 2, 3, 4, 6, 12}}, {12, 2, []uint64{2, 4, 6, 12}}, {12, 12, []uint64{12}},
		{12, 5, nil}, {12, 0, nil}, {12, 24, nil}, {0, 1, nil}, {1 << 63, 1 << 62, []uint64{1 << 62, 1 << 63}},
	} {
		if got := plan.FoldSizes(c.m, c.unit); !slices.Equal(got, c.want) {
			t.Errorf("FoldSizes(%d, %d) = %d, want %d", c.m, c.unit, got, c.want)
		}
	}
}

// Sizes and targets of Sailhan and Stehr 2012, section IV, planned as they ask: the
// most divisors in the interval, and then a divisor in the interval for n.
func TestSailhanPlanning(t *testing.T) {
	type target struct {
		n, low, high, size uint64
		inside             bool
		rate               float64
	}
	for _, c := range []struct {
		n        uint64
		k        int
		p, eps   float64
		m        uint64
		divisors int
		covered  float64
		targets  []target
	}{
		{1000, 2, 0.02, 0.005, 15120, 80, 0.599, []target{
			{1000, 11621, 15308, 15120, true, 0.01535218}, {750, 8716, 11481, 15120, false, 0.0089202628},
			{500, 5811, 7654, 7560, true, 0.01535313}, {333, 3871, 5098, 5040, true, 0.015325369},
			{200, 2325, 3062, 2520, true, 0.021550332}, {100, 1163, 1531, 1260, true, 0.021558229}, {50, 582, 765, 630, true, 0.021574037},
		}},
		{1000, 4, 0.01, 0.002, 10080, 72, 0.409, []target{
			{1000, 9953, 11257, 10080, true, 0.01151259}, {750, 7465, 8442, 10080, false, 0.0043915209},
			{500, 4977, 5628, 5040, true, 0.011514451}, {333, 3315, 3748, 3360, true, 0.011478825},
			{200, 1991, 2251, 2016, true, 0.011520038}, {100, 996, 1126, 1008, true, 0.011529357}, {50, 499, 563, 504, true, 0.011548029},
		}},
		{10000, 4, 0.02, 0.002, 83160, 128, 0.2373, []target{
			{10000, 82248, 87690, 83160, true, 0.02125753}, {7500, 61686, 65767, 83160, false, 0.0084120472},
			{5000, 41124, 43845, 41580, true, 0.021257928}, {3333, 27414, 29227, 27720, true, 0.021251705},
			{2000, 16450, 17538, 16632, true, 0.021259122}, {1000, 8226, 8769, 8316, true, 0.021261113}, {500, 4113, 4384, 4158, true, 0.021265096},
		}},
		{10000, 7, 0.01, 0.001, 95760, 120, 0.1499, []target{
			{10000, 94019, 98070, 95760, true, 0.01008467}, {7500, 70514, 73552, 95760, false, 0.0023848792},
			{5000, 47010, 49035, 47880, true, 0.01008492}, {3333, 31337, 32687, 31920, true, 0.01008038},
			{2000, 18805, 19614, 19152, true, 0.010085671}, {1000, 9403, 9807, 9576, true, 0.010086922}, {500, 4702, 4903, 4788, true, 0.010089424},
		}},
		{200, 3, 0.1, 0.02, 1008, 30, 0.43, []target{
			{200, 884, 1064, 1008, true, 0.090356641}, {150, 663, 798, 1008, false, 0.046746382}, {100, 442, 532, 504, true, 0.090455182},
			{66, 292, 351, 336, true, 0.088575673}, {40, 178, 213, 252, false, 0.054631058}, {20, 89, 106, 112, false, 0.072071936},
			{10, 45, 53, 48, true, 0.10267474},
		}},
	} {
		m, err := plan.BaseSize(c.n, c.k, c.p, c.eps, 1)
		ladder := plan.FoldSizes(m, 1)
		if m != c.m || len(ladder) != c.divisors || err != nil {
			t.Errorf("Base(%d, %d, %v, %v, 1) = %d with %d divisors, %v, want %d with %d", c.n, c.k, c.p, c.eps, m, len(ladder), err, c.m, c.divisors)
		}
		if got, _ := foldAll(ladder, c.n, c.k, c.p, c.eps); math.Abs(got-c.covered) > 1e-9 {
			t.Errorf("from %d: %v of n up to %d have a size inside, want %v", m, got, c.n, c.covered)
		}
		for _, want := range c.targets {
			low, high, err := plan.SizeInterval(want.n, c.k, c.p, c.eps)
			if low != want.low || high != want.high || err != nil {
				t.Errorf("Interval(%d, %d, %v, %v) = %d, %d, %v, want %d, %d", want.n, c.k, c.p, c.eps, low, high, err, want.low, want.high)
			}
			size, inside := plan.FoldTarget(ladder, want.n, c.k, c.p, c.eps)
			if rate := plan.FPRate(size, c.k, want.n); size != want.size || inside != want.inside || math.Abs(rate/want.rate-1) > 1e-7 {
				t.Errorf("from %d with %d keys: %d, %v, at a rate of %v, want %+v", m, want.n, size, inside, rate, want)
			}
		}
	}
}

// foldAll folds for each number of keys up to n, and returns for how large a share
// of them a size was inside the interval, and by how much the sizes are too large in
// the mean.
func foldAll(ladder []uint64, n uint64, k int, p, eps float64) (covered, waste float64) {
	for keys := uint64(1); keys <= n; keys++ {
		size, inside := plan.FoldTarget(ladder, keys, k, p, eps)
		if inside {
			covered++
		}
		low, err := plan.SizeForK(keys, k, p+eps)
		if err != nil {
			panic(err)
		}
		waste += float64(size)/float64(low) - 1
	}
	return covered / float64(n), waste / float64(n)
}

// The table of docs/folding.md: what it brings to make the base t times as large
// as its keys need.
func TestOversizing(t *testing.T) {
	const n, k, p, eps = 1000, 4, 0.01, 0.002
	t.Logf("%d keys, k=%d, rate %v±%v", n, k, p, eps)
	t.Log("times  base    sizes  inside   too large")
	for _, c := range []struct {
		times          float64
		m              uint64
		divisors       int
		covered, waste float64
	}{
		{1, 10080, 72, 40.9, 26.4}, {2, 20160, 84, 59.5, 13.7}, {3, 30240, 96, 72.8, 9.6}, {4, 40320, 96, 81.1, 7.8},
		{6, 65520, 120, 91.7, 5.9}, {8, 83160, 128, 94.3, 5.4}, {12, 131040, 144, 99.3, 4.0}, {16, 166320, 160, 100, 4.0},
		{24, 262080, 168, 99.9, 3.2},
	} {
		m, err := plan.BaseSize(n, k, p, eps, c.times)
		ladder := plan.FoldSizes(m, 1)
		if m != c.m || len(ladder) != c.divisors || err != nil {
			t.Errorf("%v times: %d with %d divisors, %v, want %d with %d", c.times, m, len(ladder), err, c.m, c.divisors)
		}
		covered, waste := foldAll(ladder, n, k, p, eps)
		t.Logf("%5v  %6d  %5d  %5.1f %%  %7.1f %%", c.times, m, len(ladder), 100*covered, 100*waste)
		if math.Abs(100*covered-c.covered) > 0.051 || math.Abs(100*waste-c.waste) > 0.051 {
			t.Errorf("%v times: %.1f %% and %.1f %%, want %.1f %% and %.1f %%", c.times, 100*covered, 100*waste, c.covered, c.waste)
		}
	}
	// A power of two.
	if covered, waste := foldAll(plan.FoldSizes(16384, 1), n, k, p, eps); math.Abs(covered-0.192) > 0.0005 || math.Abs(waste-0.461) > 0.0005 {
		t.Errorf("from 2^14: %v and %v", covered, waste)
	}
	if m, err := plan.BaseSize(n, k, p, eps, 0); m != 131040 || err != nil {
		t.Errorf("by default %d, %v, want 131040", m, err)
	}
}

// The second table of docs/folding.md: what whole words cost.
func TestOversizingWords(t *testing.T) {
	const k, p, eps = 4, 0.01, 0.002
	t.Log("keys   base of cells          base of words")
	for _, n := range []uint64{1000, 3000, 10000, 30000} {
		low, high, err := plan.SizeInterval(n, k, p, eps)
		if err != nil {
			t.Fatal(err)
		}
		row := fmt.Sprintf("%5d", n)
		var wastes []float64
		for _, unit := range []uint64{1, 64} {
			groups, _ := number.MostDivisors(12*low/unit, 12*high/unit)
			ladder := plan.FoldSizes(groups*unit, unit)
			covered, waste := foldAll(ladder, n, k, p, eps)
			row += fmt.Sprintf("  %7d %5.1f %% %4.1f %%", groups*unit, 100*covered, 100*waste)
			wastes = append(wastes, waste)
		}
		t.Log(row)
		if wastes[0] > 0.045 || 12*low >= plan.WholeWordsFrom && wastes[1] > 0.06 {
			t.Errorf("%d keys: folds are %.3v too large", n, wastes)
		}
	}
}

func TestGranularity(t *testing.T) {
	for m, want := range map[uint64]float64{ // measured with sizes drawn at random
		1 << 20: 0.4409, 1e6: 0.2088, 786432: 0.2260, 720720: 0.0951, 831600: 0.0957, 942480: 0.0966, 982800: 0.0972,
		997920: 0.0960, 1081080: 0.0967, 1048320: 0.0991, 1049580: 0.1181,
	} {
		if got := plan.MeanOvershoot(plan.FoldSizes(m, 1)); math.Abs(got/want-1) > 0.01 {
			t.Errorf("Granularity of %d = %v, want %v", m, got, want)
		}
	}
	for _, c := range []struct {
		ladder []uint64
		want   float64
	}{
		{[]uint64{1}, 0}, {[]uint64{1, 2}, 1/math.Ln2 - 1}, {[]uint64{64}, 63/math.Log(64) - 1},
		{[]uint64{1, 1e6}, 999/math.Log(1000) - 1},
	} {
		if got := plan.MeanOvershoot(c.ladder); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("Granularity of %d = %v, want %v", c.ladder, got, c.want)
		}
	}
}

func TestFoldTarget(t *testing.T) {
	ladder := plan.FoldSizes(720720, 1)
	for _, c := range []struct {
		n      uint64
		p, eps float64
		want   uint64
	}{
		{0, 0.01, 0.002, 1},           // nothing in it
		{1e9, 0.01, 0.002, 720720},    // too full at any size
		{1000, math.NaN(), 0, 720720}, // no rate is right
		{1000, 0.01, math.Inf(1), 1},  // any is
		{1000, -1, 0, 720720}, {1000, 2, 0.1, 1},
	} {
		got, inside := plan.FoldTarget(ladder, c.n, 4, c.p, c.eps)
		if got != c.want || inside && !math.IsInf(c.eps, 1) {
			t.Errorf("FoldTarget(%d, %v, %v) = %d, %v, want %d", c.n, c.p, c.eps, got, inside, c.want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Uint64Range(1, 1e6).Draw(t, "n")
		p := math.Exp(-rapid.Float64Range(0.1, 9).Draw(t, "-ln p"))
		eps := min(p, 1-p) * rapid.Float64Range(0, 0.9).Draw(t, "share")
		got, inside := plan.FoldTarget(ladder, n, 4, p, eps)
		low, high, err := plan.SizeInterval(n, 4, p, eps)
		i := slices.IndexFunc(ladder, func(s uint64) bool { return err == nil && s >= low })
		switch {
		case err != nil && inside:
			t.Errorf("FoldTarget = %d is inside, but %v", got, err)
		case err == nil && i < 0 && (inside || got != 720720):
			t.Errorf("FoldTarget = %d, %v, want the largest", got, inside)
		case err == nil && i >= 0 && (got != ladder[i] || inside != (got <= high)):
			t.Errorf("FoldTarget = %d, %v, want %d of [%d, %d]", got, inside, ladder[i], low, high)
		}
	})
	if n := testing.AllocsPerRun(10, func() { plan.FoldTarget(ladder, 1000, 4, 0.01, 0.002) }); n != 0 {
		t.Errorf("FoldTarget allocates %v times", n)
	}
}

func BenchmarkFoldTarget(b *testing.B) {
	ladder := plan.FoldSizes(963761198400, 1)
	for b.Loop() {
		plan.FoldTarget(ladder, 1e9, 4, 0.01, 0.002)
	}
}

package plan_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/umbel-filters/umbel/internal/number"
	"github.com/umbel-filters/umbel/plan"
)

// independent is the rate by the formula for independent cells, with which folds are planned.
func independent(m uint64, k int, n uint64) float64 {
	return plan.FPRateAtFill(plan.Filter{M: m, K: k}.Fill(n), k)
}

func TestSailhanEquation14(t *testing.T) {
	for _, c := range []struct {
		n         uint64
		k         int
		p, eps    float64
		low, high uint64
	}{
		{1000, 2, 0.02, 0.005, 11621, 15308}, {1000, 4, 0.01, 0.002, 9953, 11257}, {1000, 7, 0.01, 0.001, 9403, 9807},
		{10000, 2, 0.02, 0.005, 116205, 153082}, {10000, 4, 0.02, 0.002, 82248, 87690}, {10000, 7, 0.01, 0.001, 94019, 98070},
		{100, 2, 0.1, 0.05, 409, 790}, {200, 3, 0.1, 0.02, 884, 1064},
	} {
		low, high, err := plan.Interval{K: c.k, FPRate: c.p, Eps: c.eps}.Sizes(c.n)
		if low != c.low || high != c.high || err != nil {
			t.Errorf("Interval(%d, %d, %v, %v) = %d, %d, %v, want %d, %d", c.n, c.k, c.p, c.eps, low, high, err, c.low, c.high)
		}
		// In closed form.
		size := func(p float64) float64 {
			return 1 / -math.Expm1(math.Log1p(-math.Pow(p, 1/float64(c.k)))/float64(c.k)/float64(c.n))
		}
		if l, h := math.Ceil(size(c.p+c.eps)), math.Floor(size(c.p-c.eps)); l != float64(low) || h != float64(high) {
			t.Errorf("in closed form [%v, %v], want [%d, %d]", l, h, low, high)
		}
	}
	// As printed, eps/(p±eps) in place of the root: nothing lies between these.
	printed := func(rate float64) float64 { return 1 / (1 - math.Pow(1-0.005/rate, 1/2000.0)) }
	if l, h := printed(0.025), printed(0.015); math.Abs(l-8963.3) > 0.05 || math.Abs(h-4933.1) > 0.05 {
		t.Errorf("as printed %v <= m <= %v", l, h)
	}
}

// TestSailhanFigure2: Figure 2, the size for a rate, k = 2. A narrow interval contains at most
// one size.
func TestSailhanFigure2(t *testing.T) {
	rates := []float64{0.01, 0.02, 0.05, 0.1, 0.2}
	for n, sizes := range map[uint64][]float64{
		10: {190.32487, 131.66796, 79.522396, 53.115107, 34.241595}, 50: {949.62225, 656.33676, 395.60692, 263.56793, 169.19612},
		100: {1898.7444, 1312.1733, 790.71352, 526.63539, 337.8915}, 500: {9491.7216, 6558.8663, 3951.5671, 2631.1762, 1687.4563},
		1000: {18982.943, 13117.233, 7902.6342, 5261.8523, 3374.4125}, 5000: {94912.716, 65584.163, 39511.171, 26307.262, 16870.063},
		10000: {189824.93, 131167.83, 79021.842, 52614.023, 33739.625},
	} {
		for i, p := range rates {
			if got, err := plan.SizeForK(n, 2, p); got != uint64(math.Ceil(sizes[i])) || err != nil {
				t.Errorf("SizeForK(%d, 2, %v) = %d, %v, want %v rounded up", n, p, got, err, sizes[i])
			}
			// The rate falls like m^-2: one cell more or less changes it by 2/m.
			low, high, err := plan.Interval{K: 2, FPRate: p, Eps: p * 4 / sizes[i]}.Sizes(n)
			if err != nil || float64(low) > sizes[i] || float64(high) < sizes[i] || high-low > 6 {
				t.Errorf("n=%d, p=%v: [%d, %d], %v, want it around %v", n, p, low, high, err, sizes[i])
			}
		}
	}
}

// TestInterval: the interval contains exactly the sizes with a rate in the band.
func TestInterval(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Uint64Range(1, 1e9).Draw(t, "n")
		k := rapid.IntRange(1, 20).Draw(t, "k")
		p := math.Exp(-rapid.Float64Range(0.1, 14).Draw(t, "-ln p"))
		eps := min(p, 1-p) * rapid.Float64Range(0, 0.999).Draw(t, "share")
		low, high, err := plan.Interval{K: k, FPRate: p, Eps: eps}.Sizes(n)
		if err != nil {
			if !errors.Is(err, plan.ErrRange) {
				t.Error(err)
			}
			return
		}
		in := func(m uint64) bool {
			rate := independent(m, k, n)
			return rate <= (p+eps)*(1+1e-9) && rate >= (p-eps)*(1-1e-9)
		}
		out := func(m uint64) bool {
			rate := independent(m, k, n)
			return rate > p+eps || rate < p-eps
		}
		if low > high || !in(low) || !in(high) || low > 1 && !out(low-1) || !out(high+1) {
			t.Errorf("Interval(%d, %d, %v, %v) = [%d, %d]", n, k, p, eps, low, high)
		}
	})
}

func TestIntervalErrors(t *testing.T) {
	for _, c := range []struct {
		n      uint64
		k      int
		p, eps float64
		want   string
	}{
		{0, 2, 0.02, 0.005, "0 keys"},
		{1, 0, 0.02, 0.005, "0 cells per key"},
		{1, 2, 2, 0.005, "rate 2,"},
		{1, 2, 0.02, -1, "0.02±-1"},
		{1, 2, 0.02, math.NaN(), "0.02±NaN"},
		{1, 2, 0.02, 0.02, "below 0.02"},
		{1, 2, 0.02, math.Inf(1), "0.02±+Inf"},
		{1, 2, 0.75, 0.25, "below 0.25"},
		{1, 2, 0.9, 0.1, "below 0.1"}, // and not 0.09999999999999998
		{1, 2, 0.02, 0.0001, "13 cells give 0.02188299 and 14 give 0.01897647"},
		{1 << 63, 2, 0.02, 0.01, "9223372036854775808 keys"},
	} {
		low, high, err := plan.Interval{K: c.k, FPRate: c.p, Eps: c.eps}.Sizes(c.n)
		if !errors.Is(err, plan.ErrRange) || !strings.Contains(err.Error(), c.want) || low != 0 || high != 0 {
			t.Errorf("Interval(%d, %d, %v, %v): %d, %d, %v, want an error with %q", c.n, c.k, c.p, c.eps, low, high, err, c.want)
		}
	}
}

func TestBase(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Uint64Range(1, 1e12).Draw(t, "n")
		k := rapid.IntRange(1, 20).Draw(t, "k")
		p := math.Exp(-rapid.Float64Range(0.5, 14).Draw(t, "-ln p"))
		eps := min(p, 1-p) * rapid.Float64Range(0.001, 0.9).Draw(t, "share")
		times := rapid.Float64Range(1, 30).Draw(t, "times")
		m, err := plan.Interval{K: k, FPRate: p, Eps: eps}.Base(n, times)
		low, high, errInterval := plan.Interval{K: k, FPRate: p, Eps: eps}.Sizes(n)
		if errInterval != nil {
			if !errors.Is(err, plan.ErrRange) {
				t.Errorf("%v, want %v", err, errInterval)
			}
			return
		}
		if errors.Is(err, plan.ErrRange) && float64(low)*times > 1<<63 {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		unit := uint64(1)
		if m >= plan.WholeWordsFrom {
			unit = 64
		}
		from := float64(low) * times
		to := min(float64(high)*times, math.Ceil(from)*1.5)
		if float64(m) < from*(1-1e-9) || float64(m) > max(to, from+float64(unit))*(1+1e-9) || m%unit != 0 {
			t.Errorf("Base(%d, %d, %v, %v, %v) = %d, want it in [%v, %v]", n, k, p, eps, times, m, from, to)
		}
		if size, _ := (plan.Interval{K: k, FPRate: p, Eps: eps}).Target(plan.FoldSizes(m, unit), n); independent(size, k, n) > (p+eps)*(1+1e-9) {
			t.Errorf("Base(%d, %d, %v, %v, %v) = %d folds to %d, too small", n, k, p, eps, times, m, size)
		}
	})
}

// Only the lower end of a wide interval must have a base of at most 2^63 cells.
func TestBaseOfWideInterval(t *testing.T) {
	n, k, p := uint64(1e12), 1, math.Exp(-14)
	low, high, err := plan.Interval{K: k, FPRate: p, Eps: 0.75 * p}.Sizes(n)
	if err != nil || float64(high)*1.9375 < 1<<63 {
		t.Fatalf("an interval from %d to %d, %v", low, high, err)
	}
	if m, err := (plan.Interval{K: k, FPRate: p, Eps: 0.75 * p}).Base(n, 1.9375); err != nil || float64(m) < float64(low)*1.9375 || float64(m) > float64(low)*1.9375*1.5 {
		t.Errorf("a base of %d cells, %v, where %d suffice", m, err, low)
	}
}

func TestBaseErrors(t *testing.T) {
	for _, c := range []struct {
		n     uint64
		times float64
		want  string
	}{
		{1000, 0.5, "a base 0.5 times as large as its keys need, want 1 or more, or 0 for 12"},
		{1000, math.NaN(), "a base NaN times as large as its keys need, want 1 or more, or 0 for 12"},
		{1000, math.Inf(1), "a base +Inf times as large as 1000 keys need has more than 2^63 cells; accept a smaller one or a higher rate"},
		{0, 1, "0 keys, want at least 1; give the number of keys the filter will hold"},
	} {
		if m, err := (plan.Interval{K: 4, FPRate: 0.01, Eps: 0.002}).Base(c.n, c.times); !errors.Is(err, plan.ErrRange) || err.Error() != c.want || m != 0 {
			t.Errorf("Base(%d, %v) = %d, %v, want %s", c.n, c.times, m, err, c.want)
		}
	}
}

// BenchmarkBase plans bases for up to 10^11 keys, which take more than 2^40 cells.
func BenchmarkBase(b *testing.B) {
	for name, c := range map[string]struct {
		n   uint64
		eps float64
	}{"n=1e4": {1e4, 2e-3}, "n=1e8": {1e8, 2e-3}, "n=1e10": {1e10, 2e-3}, "n=1e10/narrow": {1e10, 1e-6}} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := (plan.Interval{K: 4, FPRate: 0.01, Eps: c.eps}).Base(c.n, 0); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func TestFoldable(t *testing.T) {
	for groups, want := range map[uint64]uint64{
		0: 0, 1: 1, 255: 255, 257: 258, 4609: 4644, 15639: 15720, 23041: 23220, 149892: 150360,
		1 << 63: 1<<63 + 720720 - 1<<63%720720, 1<<63 + 1: 1<<63 + 1,
	} {
		if got := plan.RoundFoldable(groups); got != want {
			t.Errorf("Foldable(%d) = %d, want %d", groups, got, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		groups := rapid.Uint64Range(1, 1<<63).Draw(t, "groups")
		got := plan.RoundFoldable(groups)
		if got < groups || got-groups > groups/128 {
			t.Errorf("Foldable(%d) = %d, want at most a 128th more", groups, got)
		}
		if again := plan.RoundFoldable(got); again < got || again-got > got/128 {
			t.Errorf("Foldable(%d) = %d", got, again)
		}
		if groups >= 1680*128 && got%840 != 0 {
			t.Errorf("Foldable(%d) = %d, want a multiple of 840", groups, got)
		}
	})
}

func BenchmarkFoldable(b *testing.B) {
	for name, groups := range map[string]uint64{"groups=1e4": 1e4, "groups=1e6": 1e6, "groups=1e9": 1e9} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				plan.RoundFoldable(groups)
			}
		})
	}
}

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

// TestSailhanPlanning: sizes and targets of Sailhan and Stehr 2012, section IV: the size in the
// interval with the most divisors, and then a divisor in the interval for n.
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
		m, err := plan.Interval{K: c.k, FPRate: c.p, Eps: c.eps}.Base(c.n, 1)
		ladder := plan.FoldSizes(m, 1)
		if m != c.m || len(ladder) != c.divisors || err != nil {
			t.Errorf("Base(%d, %d, %v, %v, 1) = %d with %d divisors, %v, want %d with %d", c.n, c.k, c.p, c.eps, m, len(ladder), err, c.m, c.divisors)
		}
		if got, _ := foldAll(ladder, c.n, c.k, c.p, c.eps); math.Abs(got-c.covered) > 1e-9 {
			t.Errorf("from %d: %v of n up to %d have a size inside, want %v", m, got, c.n, c.covered)
		}
		for _, want := range c.targets {
			low, high, err := plan.Interval{K: c.k, FPRate: c.p, Eps: c.eps}.Sizes(want.n)
			if low != want.low || high != want.high || err != nil {
				t.Errorf("Interval(%d, %d, %v, %v) = %d, %d, %v, want %d, %d", want.n, c.k, c.p, c.eps, low, high, err, want.low, want.high)
			}
			size, inside := plan.Interval{K: c.k, FPRate: c.p, Eps: c.eps}.Target(ladder, want.n)
			if rate := independent(size, c.k, want.n); size != want.size || inside != want.inside || math.Abs(rate/want.rate-1) > 1e-7 {
				t.Errorf("from %d with %d keys: %d, %v, at a rate of %v, want %+v", m, want.n, size, inside, rate, want)
			}
		}
	}
}

// foldAll folds for each number of keys up to n. It returns the fraction of these numbers for
// which a size is inside the interval, and by which fraction sizes are too large on average.
func foldAll(ladder []uint64, n uint64, k int, p, eps float64) (covered, waste float64) {
	for keys := uint64(1); keys <= n; keys++ {
		size, inside := plan.Interval{K: k, FPRate: p, Eps: eps}.Target(ladder, keys)
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

// TestOversizing: the table in docs/folding.md about bases that are t times as large as their
// keys need.
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
		m, err := plan.Interval{K: k, FPRate: p, Eps: eps}.Base(n, c.times)
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
	if m, err := (plan.Interval{K: k, FPRate: p, Eps: eps}).Base(n, 0); m != 131040 || err != nil {
		t.Errorf("by default %d, %v, want 131040", m, err)
	}
}

// TestOversizingWords: the second table in docs/folding.md, about the cost of whole words.
func TestOversizingWords(t *testing.T) {
	const k, p, eps = 4, 0.01, 0.002
	t.Log("keys   base of cells          base of words")
	for _, n := range []uint64{1000, 3000, 10000, 30000} {
		low, high, err := plan.Interval{K: k, FPRate: p, Eps: eps}.Sizes(n)
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
		got, inside := plan.Interval{K: 4, FPRate: c.p, Eps: c.eps}.Target(ladder, c.n)
		if got != c.want || inside && !math.IsInf(c.eps, 1) {
			t.Errorf("FoldTarget(%d, %v, %v) = %d, %v, want %d", c.n, c.p, c.eps, got, inside, c.want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Uint64Range(1, 1e6).Draw(t, "n")
		p := math.Exp(-rapid.Float64Range(0.1, 9).Draw(t, "-ln p"))
		eps := min(p, 1-p) * rapid.Float64Range(0, 0.9).Draw(t, "share")
		got, inside := plan.Interval{K: 4, FPRate: p, Eps: eps}.Target(ladder, n)
		low, high, err := plan.Interval{K: 4, FPRate: p, Eps: eps}.Sizes(n)
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
	if n := testing.AllocsPerRun(10, func() { plan.Interval{K: 4, FPRate: 0.01, Eps: 0.002}.Target(ladder, 1000) }); n != 0 {
		t.Errorf("FoldTarget allocates %v times", n)
	}
}

func BenchmarkFoldTarget(b *testing.B) {
	ladder := plan.FoldSizes(963761198400, 1)
	for b.Loop() {
		plan.Interval{K: 4, FPRate: 0.01, Eps: 0.002}.Target(ladder, 1e9)
	}
}

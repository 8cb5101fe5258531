package plan_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/umbel-filters/umbel/plan"
	"pgregory.net/rapid"
)

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
		low, high, err := plan.SizeInterval(c.n, c.k, c.p, c.eps)
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

// Figure 2: the size for a rate, k = 2. An interval that is narrow enough has one
// number or none.
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
			low, high, err := plan.SizeInterval(n, 2, p, p*4/sizes[i])
			if err != nil || float64(low) > sizes[i] || float64(high) < sizes[i] || high-low > 6 {
				t.Errorf("n=%d, p=%v: [%d, %d], %v, want it around %v", n, p, low, high, err, sizes[i])
			}
		}
	}
}

// The interval is the sizes with a rate in the band, no more and no fewer.
func TestInterval(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Uint64Range(1, 1e9).Draw(t, "n")
		k := rapid.IntRange(1, 20).Draw(t, "k")
		p := math.Exp(-rapid.Float64Range(0.1, 14).Draw(t, "-ln p"))
		eps := min(p, 1-p) * rapid.Float64Range(0, 0.999).Draw(t, "share")
		low, high, err := plan.SizeInterval(n, k, p, eps)
		if err != nil {
			if !errors.Is(err, plan.ErrRange) {
				t.Error(err)
			}
			return
		}
		in := func(m uint64) bool {
			rate := plan.FPRate(m, k, n)
			return rate <= (p+eps)*(1+1e-9) && rate >= (p-eps)*(1-1e-9)
		}
		out := func(m uint64) bool {
			rate := plan.FPRate(m, k, n)
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
		{1, 2, 0.02, 0.0001, "13 cells give 0.02188299 and 14 give 0.01897647"},
		{1 << 63, 2, 0.02, 0.01, "9223372036854775808 keys"},
	} {
		low, high, err := plan.SizeInterval(c.n, c.k, c.p, c.eps)
		if !errors.Is(err, plan.ErrRange) || !strings.Contains(err.Error(), c.want) || low != 0 || high != 0 {
			t.Errorf("Interval(%d, %d, %v, %v): %d, %d, %v, want an error with %q", c.n, c.k, c.p, c.eps, low, high, err, c.want)
		}
	}
}

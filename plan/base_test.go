package plan_test

import (
	"errors"
	"math"
	"testing"

	"github.com/umbel-filters/umbel/plan"
	"pgregory.net/rapid"
)

func TestBase(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Uint64Range(1, 1e12).Draw(t, "n")
		k := rapid.IntRange(1, 20).Draw(t, "k")
		p := math.Exp(-rapid.Float64Range(0.5, 14).Draw(t, "-ln p"))
		eps := min(p, 1-p) * rapid.Float64Range(0.001, 0.9).Draw(t, "share")
		times := rapid.Float64Range(1, 30).Draw(t, "times")
		m, err := plan.BaseSize(n, k, p, eps, times)
		low, high, errInterval := plan.SizeInterval(n, k, p, eps)
		if errInterval != nil {
			if !errors.Is(err, plan.ErrRange) {
				t.Errorf("%v, want %v", err, errInterval)
			}
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
		if size, _ := plan.FoldTarget(plan.FoldSizes(m, unit), n, k, p, eps); plan.FPRate(size, k, n) > (p+eps)*(1+1e-9) {
			t.Errorf("Base(%d, %d, %v, %v, %v) = %d folds to %d, too small", n, k, p, eps, times, m, size)
		}
	})
}

func TestBaseErrors(t *testing.T) {
	for _, c := range []struct {
		n     uint64
		times float64
		want  string
	}{
		{1000, 0.5, "plan: a base 0.5 times as large as its keys need, want 1 or more, or 0 for 12: out of range"},
		{1000, math.NaN(), "plan: a base NaN times as large as its keys need, want 1 or more, or 0 for 12: out of range"},
		{1000, math.Inf(1), "plan: a base +Inf times as large as 1000 keys need has more than 2^63 cells; accept a smaller one or a higher rate: out of range"},
		{0, 1, "plan: 0 keys, want at least 1; give the number of keys the filter will hold: out of range"},
	} {
		if m, err := plan.BaseSize(c.n, 4, 0.01, 0.002, c.times); !errors.Is(err, plan.ErrRange) || err.Error() != c.want || m != 0 {
			t.Errorf("Base(%d, %v) = %d, %v, want %s", c.n, c.times, m, err, c.want)
		}
	}
}

// From some keys up to 10^11, which take 2^40 cells and more.
func BenchmarkBase(b *testing.B) {
	for name, c := range map[string]struct {
		n   uint64
		eps float64
	}{"n=1e4": {1e4, 2e-3}, "n=1e8": {1e8, 2e-3}, "n=1e10": {1e10, 2e-3}, "n=1e10/narrow": {1e10, 1e-6}} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := plan.BaseSize(c.n, 4, 0.01, c.eps, 0); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

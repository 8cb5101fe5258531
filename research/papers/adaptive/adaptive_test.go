package adaptive

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/umbel-filters/umbel/multicast/adaptive"
)

func near(t *testing.T, what string, got, want, within float64) {
	t.Helper()
	if !(math.Abs(got-want) <= within) {
		t.Errorf("%s is %.6g, want %.6g within %g", what, got, want, within)
	}
}

// Mean lengths agree with another program.
func TestFigure3(t *testing.T) {
	methods := make(map[string]method)
	for _, ms := range [][]method{ours, counterparts, others} {
		for _, m := range ms {
			methods[m.name] = m
		}
	}
	for name, want := range map[string][5]float64{
		formula:                            {722.35, 1032.375, 1342.435, 2062.67, 3092.93},
		optimumA:                           {487.229, 697.066, 906.904, 1394.13, 2091.2},
		optimumB:                           {417.506, 596.686, 776.176, 1193.04, 1789.4},
		"incremental":                      {676, 929.92, 1133.39, 1554, 2108.03},
		"scalable":                         {1120, 1400.32, 1672.96, 2268.16, 3128.32},
		"scalable, 128 in the first layer": {1106.56, 1427.92, 1620.08, 2269.6, 3053.04},
		"plain, for 200":                   {676, 963, 1250, 1920, 2877},
		"plain, any length":                {340.075, 484.235, 628.81, 965.095, 1445.96},
		"n log2 1/f":                       {233.354, 333.854, 434.354, 667.708, 1001.56},
	} {
		for i, f := range rates {
			got, err := methods[name].mean(f)
			if err != nil {
				t.Fatal(err)
			}
			near(t, fmt.Sprintf("%s, f=%g", name, f), got, want[i], 0.02)
		}
	}
}

// The simulation agrees with the formulas.
func TestCutting(t *testing.T) {
	d, err := adaptive.Optimum(adaptive.Requirements{Objective: adaptive.Hashed, Rate: rate, Weights: adaptive.Uniform(links)})
	if err != nil {
		t.Fatal(err)
	}
	again := d.Redrawn()
	d.Least = 0
	one, err := cutting("test", d).Worker()
	if err != nil {
		t.Fatal(err)
	}
	const trials = 400
	sums, out := make([]float64, 1+len(sizes)), make([]int64, 1+len(sizes))
	var source rand.ChaCha8
	source.Seed([32]byte{1})
	for range trials {
		if err := one(&source, out); err != nil {
			t.Fatal(err)
		}
		for i, n := range out {
			sums[i] += float64(n) / (trials * questions)
		}
	}
	near(t, "share of links with no one at the front", sums[0], again, 4*math.Sqrt(0.1*0.9/trials/questions))
	for i, n := range sizes {
		near(t, fmt.Sprintf("rate of %d links", n), sums[1+i], d.FPRate(n), 0.009)
	}
}

func TestOnesOf(t *testing.T) {
	w, filter := []uint64{1<<63 | 1, 3}, []uint64{1, 2}
	for _, c := range []struct{ m, whole, missing int }{{1, 1, 0}, {63, 1, 0}, {64, 2, 1}, {65, 3, 2}, {66, 4, 2}, {128, 4, 2}} {
		if whole, missing := onesOf(w, nil, c.m), onesOf(w, filter, c.m); whole != c.whole || missing != c.missing {
			t.Errorf("up to %d: %d ones, %d missing, want %d and %d", c.m, whole, missing, c.whole, c.missing)
		}
	}
}

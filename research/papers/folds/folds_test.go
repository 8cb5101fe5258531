package folds

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/umbel-filters/umbel/filter/folding"
	"github.com/umbel-filters/umbel/internal/number"
	"github.com/umbel-filters/umbel/plan"
)

func near(got, want, relative float64) bool { return math.Abs(got-want) <= relative*math.Abs(want) }

// Equation (1) as printed and corrected agrees with another program.
func TestEquation1(t *testing.T) {
	for _, c := range []struct{ perKey, k, printed, right float64 }{
		{8, 5, 0.46474, 0.021679}, {8, 6, 0.52763, 0.021577}, {10, 7, 0.50341, 0.0081937}, {16, 11, 0.49717, 0.00045871}, {14, 2, 0.13312, 0.017721},
	} {
		if got := printedRate(c.perKey, c.k); !near(got, c.printed, 2e-5) {
			t.Errorf("m/n=%g, k=%g: as printed %.6g, want %g", c.perKey, c.k, got, c.printed)
		}
		const n = 1 << 24
		if got := (plan.Filter{M: uint64(c.perKey * n), K: int(c.k)}).FPRate(n); !near(got, c.right, 1e-4) {
			t.Errorf("m/n=%g, k=%g: %.6g, want %g", c.perKey, c.k, got, c.right)
		}
	}
}

func TestEquation6(t *testing.T) {
	for _, c := range []struct {
		size  uint64
		at    func(uint64) uint64
		right int
	}{
		{10, func(h uint64) uint64 { return h % 5 }, 25},
		{5, func(h uint64) uint64 { return h % 10 }, 25},
		{5, func(h uint64) uint64 { return h % 5 % 2 }, 20},
		{5, func(h uint64) uint64 { return h % 5 }, 50},
	} {
		if got := foundAt(50, c.size, c.at); got != c.right {
			t.Errorf("folded to %d: %d of 50 are right, want %d", c.size, got, c.right)
		}
	}
}

func TestEquation14(t *testing.T) {
	want := []struct {
		low, high           uint64
		lowPrint, highPrint float64
	}{
		{11621, 15308, 8963.3, 4933.1}, {9953, 11257, 21939.8, 13904.7}, {9403, 9807, 73444.9, 59431.8}, {116205, 153082, 0, 0},
		{82248, 87690, 0, 0}, {94019, 98070, 0, 0}, {409, 790, 0, 0}, {884, 1064, 0, 0},
	}
	for i, b := range bands {
		w := want[i]
		low, high, err := plan.Interval{K: b.k, FPRate: b.rho, Eps: b.eps}.Sizes(uint64(b.n))
		if err != nil || low != w.low || high != w.high {
			t.Errorf("%+v: %d to %d, %v, want %d to %d", b, low, high, err, w.low, w.high)
		}
		if got := printedEnd(b.n, b.k, b.rho+b.eps, b.eps); w.lowPrint != 0 && !near(got, w.lowPrint, 1e-5) {
			t.Errorf("%+v: as printed from %.6g, want %g", b, got, w.lowPrint)
		}
		if got := printedEnd(b.n, b.k, b.rho-b.eps, b.eps); w.highPrint != 0 && !near(got, w.highPrint, 1e-5) {
			t.Errorf("%+v: as printed to %.6g, want %g", b, got, w.highPrint)
		}
	}
}

// All numbers of Table III are largely composite, and twelve numbers are missing.
func TestTable3(t *testing.T) {
	largely := number.LargelyComposite(printed3[len(printed3)-1])
	if extra := without(printed3, largely); len(printed3) != 70 || len(extra) != 0 {
		t.Errorf("%d numbers; %v are not largely composite, want 70 numbers and none", len(printed3), extra)
	}
	want := []uint64{1, 336, 2160, 2520, 3360, 3780, 3960, 4200, 4320, 4620, 4680, 5040}
	if missing := without(largely, printed3); !slices.Equal(missing, want) {
		t.Errorf("missing: %v, want %v", missing, want)
	}
	superior := number.SuperiorHighlyComposite(200_000)
	if missing := without(superior, starred); !slices.Equal(missing, []uint64{2520, 5040}) || len(without(starred, superior)) != 0 {
		t.Errorf("not marked with *: %v, want [2520 5040]", missing)
	}
}

func TestSieve(t *testing.T) {
	for _, c := range []struct {
		x, z, y        uint64
		printed, added int
	}{{100, 50, 5, 0, 33}, {1000, 100, 7, 0, 71}, {10, 60, 3, 0, 38}} {
		if a, b := sieve(c.x, c.z, c.y, false), sieve(c.x, c.z, c.y, true); a != c.printed || b != c.added {
			t.Errorf("[%d, %d], y=%d: %d as printed and %d with a sum, want %d and %d", c.x, c.x+c.z, c.y, a, b, c.printed, c.added)
		}
	}
}

// A sequence of folds reads less than twice the cells of the first filter.
func TestCellsRead(t *testing.T) {
	if got := cellsRead(2, 3, 5); !near(got, 1+1./2+1./6, 1e-12) {
		t.Errorf("by 2, 3 and 5: %g, want 5/3", got)
	}
	if got := cellsRead(twenties(2)...); got >= 2 || got < 1.99999 {
		t.Errorf("by 2 twenty times: %g, want just below 2", got)
	}
}

// The shares of n with a size in the interval and the mean excess agree with another
// program.
func TestCoverage(t *testing.T) {
	for _, c := range []struct {
		m             uint64
		band          int
		inside, waste float64
	}{
		{15120, 0, 0.599, 0.298}, {16384, 0, 0.338, 0.470}, {10080, 1, 0.409, 0.264}, {16384, 1, 0.192, 0.461},
		{1008, 7, 0.430, 0.301}, {1024, 7, 0.235, 0.436}, {131040, 1, 0.993, 0.040},
	} {
		b := bands[c.band]
		t.Run(fmt.Sprintf("m=%d/n=%d", c.m, b.n), func(t *testing.T) {
			inside, waste := coverage(plan.FoldSizes(c.m, 1), uint64(b.n), b.k, b.rho, b.eps)
			if math.Abs(inside-c.inside) > 0.0005 || math.Abs(waste-c.waste) > 0.0005 {
				t.Errorf("inside %.4f, excess %.4f, want %.3f and %.3f", inside, waste, c.inside, c.waste)
			}
		})
	}
}

func TestFigure2(t *testing.T) {
	for _, c := range []struct {
		n         uint64
		rho, size float64
	}{
		{10, 0.01, 190.32487}, {10, 0.2, 34.241595}, {100, 0.05, 790.71352}, {1000, 0.01, 18982.943},
		{1000, 0.02, 13117.233}, {1000, 0.05, 7902.6342}, {1000, 0.1, 5261.8523}, {1000, 0.2, 3374.4125}, {10_000, 0.01, 189824.93},
	} {
		if m, err := plan.SizeForK(c.n, 2, c.rho); err != nil || float64(m) != math.Ceil(c.size) {
			t.Errorf("n=%d, ρ=%g: %d, %v, want %g rounded up", c.n, c.rho, m, err, c.size)
		}
	}
}

func TestJoined(t *testing.T) {
	if got := joined([]int{1}); !near(got, 0.00480418, 1e-4) {
		t.Errorf("order of equation (3): %.7g, want 0.00480418", got)
	}
	if got := joined(neighbors(3, 4)); !near(got, 0.0156, 5e-3) {
		t.Errorf("umbel's order: %.7g, want 0.0156", got)
	}
}

// The rates of piece 000/self-folding are those of random positions, simulated without a
// filter of umbel, and the forecast is within 1 percent of them.
func TestSmallFolds(t *testing.T) {
	const trials = 20_000
	b := bands[1]
	m, err := plan.Interval{K: b.k, FPRate: b.rho, Eps: b.eps}.Base(uint64(b.n), 0)
	if err != nil {
		t.Fatal(err)
	}
	shape, err := folding.Shape{M: m, K: b.k}.Keep(b.rho, b.eps)
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct {
		n               int
		measured, sigma float64 // docs/papers/000/self-folding.csv
	}{{50, 0.010906, 0.000022}, {100, 0.011023, 0.000021}} {
		var sum, squares float64
		for range trials {
			positions := make([]uint64, b.k*c.n)
			for i := range positions {
				positions[i] = r.Uint64N(m)
			}
			rate := smallestFold(positions, m, b.k, shape.High)
			sum, squares = sum+rate, squares+rate*rate
		}
		got := sum / trials
		sigma := math.Hypot(c.sigma, math.Sqrt((squares/trials-got*got)/trials))
		if math.Abs(got-c.measured) > 4*sigma {
			t.Errorf("n=%d: rate %.6f, want %.6f ± %.6f", c.n, got, c.measured, sigma)
		}
		if forecast := shape.Forecast(uint64(c.n)).FPRate; math.Abs(forecast/got-1) > 0.01+3*sigma/got {
			t.Errorf("n=%d: the forecast is %.6f, the rate %.6f", c.n, forecast, got)
		}
	}
}

// smallestFold returns the rate of the smallest fold of m cells whose fill ratio is at
// most high/2^64.
func smallestFold(positions []uint64, m uint64, k int, high uint64) float64 {
	for _, size := range plan.FoldSizes(m, 1) {
		if size < 2*uint64(len(positions)) {
			continue // about 39 % full or more: far above the interval
		}
		set := make([]bool, size)
		ones := uint64(0)
		for _, p := range positions {
			if at := p / (m / size); !set[at] {
				set[at] = true
				ones++
			}
		}
		if most, _ := bits.Mul64(high, size); ones <= most {
			return math.Pow(float64(ones)/float64(size), float64(k))
		}
	}
	return 1
}

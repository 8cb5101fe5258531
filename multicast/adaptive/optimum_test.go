package adaptive

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/umbel-filters/umbel"
)

// goldenMeans are the means of optima with fractional positions, from another program. It tried
// no k above 2.5·log2(1/f), which is too few if small sets are frequent.
var goldenMeans = []struct {
	rate                float64
	weights             string
	independent, hashed float64
	k                   int
	best                float64 // with any k, if the golden one isn't the best
	bestK               int
}{
	{0.2, "uniform", 487.23, 417.51, 4, 0, 0},
	{0.1, "uniform", 697.066, 596.686, 6, 0, 0},
	{0.05, "uniform", 906.904, 776.176, 8, 0, 0},
	{0.01, "uniform", 1394.13, 1193.04, 12, 0, 0},
	{0.001, "uniform", 2091.2, 1789.4, 18, 0, 0},
	{0.1, "1/i", 260.13, 247.33, 9, 238.84, 13},
	{0.01, "1/i", 520.25, 500.81, 17, 477.47, 26},
	{0.001, "1/i", 780.38, 754.91, 25, 716.11, 39},
}

var shapes = map[string]func(int) Weights{"uniform": Uniform, "1/i": Inverse}

// TestOptimum checks both problems of section V: the means of another program, the dual's bound,
// whole positions for at most half a bit more, and the rate at every length.
func TestOptimum(t *testing.T) {
	t.Parallel()
	for _, c := range goldenMeans {
		w := shapes[c.weights](200)
		for _, o := range []Objective{Independent, Hashed} {
			t.Run(fmt.Sprintf("%g/%s/%v", c.rate, c.weights, o), func(t *testing.T) {
				g := Requirements{Objective: o, Rate: c.rate, Weights: w}
				r := relax(t, g)
				want := c.independent
				if o == Hashed {
					g.K = c.k
					golden := relax(t, g)
					near(t, fmt.Sprintf("mean with k=%d", c.k), golden.Mean, c.hashed, 0.13)
					want, g.K = c.hashed, 0
					k := c.k
					if c.best > 0 {
						want, k = c.best, c.bestK
					}
					if r.K != k {
						t.Errorf("k is %d, want %d", r.K, k)
					}
					mass := 0.0
					for i, b := range r.Blocks {
						mass += b * r.Odds[i]
					}
					if mass > 1 || mass < 0.999 {
						t.Errorf("the probabilities of all positions sum to %g, want 1", mass)
					}
				}
				near(t, "mean", r.Mean, want, 0.02)
				near(t, "mean of the lengths", Lengths(r.Lengths()).Mean(w), r.Mean, 1e-6)
				near(t, "bound", r.Bound, r.Mean, 1e-3)
				d := mustOptimum(t, g)
				near(t, "mean of whole lengths", d.Lengths().Mean(w), r.Mean+0.5, 0.3)
				for i := range d.Ends {
					if f := d.FPRate(i + 1); f > c.rate*(1+1e-9) {
						t.Fatalf("%d links have a rate of %g, want at most %g", i+1, f, c.rate)
					}
				}
				if d.Least < 1 || d.Redrawn() > mostRedrawn && d.Least > 1 {
					t.Errorf("%g of the codewords are drawn again for %d ones", d.Redrawn(), d.Least)
				}
			})
		}
	}
}

// TestOptimumFigure2: the lengths of the optima in Figure 2, which another program rounded in
// another way.
func TestOptimumFigure2(t *testing.T) {
	want := golden[map[string][]int](t, "002.figure2.f0.1")
	for o, name := range map[Objective]string{Independent: "va", Hashed: "vb"} {
		d := mustOptimum(t, Requirements{Objective: o, Rate: 0.1, Weights: Uniform(200)})
		for i, m := range d.Ends {
			if off := m - want[name][i]; off < -2 || off > 2 {
				t.Errorf("%v: a filter of %d links has %d bits, want %d", o, i+1, m, want[name][i])
			}
		}
		near(t, name+", sum of lengths", 200*d.Lengths().Mean(Uniform(200)), map[string]float64{"va": 139510, "vb": 119435}[name], 12)
	}
}

// TestOptimumFigure1: the odds of some blocks in Figure 1, for V-B times k.
func TestOptimumFigure1(t *testing.T) {
	for o, want := range map[Objective]map[int]float64{
		Independent: {1: 0.01063, 5: 0.01033, 20: 0.009377, 100: 0.00664, 200: 0.004978},
		Hashed:      {1: 0.008041, 5: 0.007882, 20: 0.007297, 100: 0.005167},
	} {
		r := relax(t, Requirements{Objective: o, Rate: 0.1, Weights: Uniform(200)})
		for block, q := range want {
			near(t, fmt.Sprintf("%v: odds of block %d", o, block), r.Odds[block-1]*float64(max(1, r.K)), q, q/300)
		}
	}
}

func TestOptimumGrows(t *testing.T) {
	for n, want := range map[int][2]float64{10: {39.26, 32.2}, 50: {177.76, 151.1}, 400: {1389.5, 1190.8}} {
		for o := range want {
			r := relax(t, Requirements{Objective: Objective(o), Rate: 0.1, Weights: Uniform(n)})
			near(t, fmt.Sprintf("%v: mean of up to %d links", Objective(o), n), r.Mean, want[o], 0.06)
		}
	}
}

// TestOptimumOfAnyWeights: for random weights the dual's bound is met, so neither another design
// nor another k is better.
func TestOptimumOfAnyWeights(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	random := make(Weights, 60)
	for i := range random {
		random[i] = rng.Uint64N(1000)
	}
	random[59] = 1
	for name, w := range map[string]Weights{
		"one size":   append(make(Weights, 39), 1),
		"one link":   {1},
		"two sizes":  append(append(Weights{0, 0, 1000}, make(Weights, 76)...), 5),
		"mostly one": append(append(Weights{1 << 50}, make(Weights, 48)...), 1),
		"random":     random,
		"falling":    Inverse(150),
	} {
		for _, o := range []Objective{Independent, Hashed} {
			t.Run(fmt.Sprintf("%s/%v", name, o), func(t *testing.T) {
				g := Requirements{Objective: o, Rate: 0.05, Weights: w}
				r := relax(t, g)
				near(t, "bound", r.Bound, r.Mean, 1e-3*r.Mean)
				for t1, b := range r.Blocks {
					if !(b >= 0) {
						t.Errorf("block %d has %g positions", t1+1, b)
					}
				}
				d := mustOptimum(t, g)
				if m := d.Lengths().Mean(w); m < r.Bound || m > r.Mean+1 {
					t.Errorf("the mean is %g with whole positions, want at most 1 above %g", m, r.Mean)
				}
				for i := range d.Ends {
					if f := d.FPRate(i + 1); f > 0.05*(1+1e-9) {
						t.Fatalf("%d links have a rate of %g, want at most 0.05", i+1, f)
					}
				}
				if o == Independent || len(w) > 60 {
					return
				}
				for k := 1; k <= 20; k++ {
					g.K = k
					if other := relax(t, g); other.Mean < r.Mean-1e-6*r.Mean {
						t.Errorf("the mean is %g with k=%d, want at least the %g of k=%d", other.Mean, k, r.Mean, r.K)
					}
				}
			})
		}
	}
}

// TestOptimumOfOneSize: for filters of one size the optima have e·ln(1/f) bits per link, or
// those of a plain filter.
func TestOptimumOfOneSize(t *testing.T) {
	w := append(make(Weights, 199), 1)
	va := relax(t, Requirements{Rate: 0.1, Weights: w})
	near(t, "independent, bits a link", va.Mean/200, math.E*math.Log(10), 0.03)
	near(t, "odds", va.Odds[0], 1./201, 1e-5)
	vb := relax(t, Requirements{Objective: Hashed, Rate: 0.1, Weights: w})
	plain, err := AnyLength(200, 0.1)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "hashed", vb.Mean, plain[199], 1)
}

func TestRequirementsRefuse(t *testing.T) {
	good := Requirements{Objective: Hashed, Rate: 0.1, Weights: Uniform(5), K: 3}
	for what, c := range map[string]struct {
		change func(*Requirements)
		says   string
	}{
		"objective":        {func(g *Requirements) { g.Objective = 7 }, "7"},
		"rate of none":     {func(g *Requirements) { g.Rate = 0 }, "0"},
		"rate of one":      {func(g *Requirements) { g.Rate = 1 }, "1"},
		"no rate":          {func(g *Requirements) { g.Rate = math.NaN() }, "NaN"},
		"k":                {func(g *Requirements) { g.K = 256 }, "256"},
		"k of independent": {func(g *Requirements) { g.Objective = Independent }, "3"},
		"no weights":       {func(g *Requirements) { g.Weights = nil }, "0"},
		"a last zero":      {func(g *Requirements) { g.Weights = Weights{1, 0} }, "2"},
	} {
		g := good
		c.change(&g)
		if _, err := Optimum(g); !errors.Is(err, umbel.ErrGoal) || !strings.Contains(fmt.Sprint(err), c.says) {
			t.Errorf("%s: %v, want an error wrapping %q that contains %q", what, err, umbel.ErrGoal, c.says)
		}
	}
	long := Requirements{Rate: 1e-12, Weights: Uniform(2000)}
	if _, err := Optimum(long); !errors.Is(err, umbel.ErrGoal) || !strings.Contains(fmt.Sprint(err), "65535") {
		t.Errorf("%v, want an error that contains 65535", err)
	}
}

func BenchmarkOptimum(b *testing.B) {
	for _, o := range []Objective{Independent, Hashed} {
		b.Run(fmt.Sprintf("%v/n=200", o), func(b *testing.B) {
			for b.Loop() {
				if _, err := Optimum(Requirements{Objective: o, Rate: 0.1, Weights: Uniform(200)}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// TestOptimumAtTheEnds: for rates near one and far below, and for few and many links, all
// lengths meet the rate and codewords can be drawn.
func TestOptimumAtTheEnds(t *testing.T) {
	for _, n := range []int{1, 2, 3, 40} {
		for _, f := range []float64{0.999, 0.9, 0.5, 1e-6, 1e-15, 1e-60} {
			for _, o := range []Objective{Independent, Hashed} {
				d := mustOptimum(t, Requirements{Objective: o, Rate: f, Weights: Inverse(n)})
				for i := range d.Ends {
					if got := d.FPRate(i + 1); got > f*(1+1e-9) {
						t.Errorf("%v: %d of %d links have a rate of %g, want at most %g", o, i+1, n, got, f)
					}
				}
				near(t, fmt.Sprintf("%v, n=%d, f=%g: share that is drawn again", o, n, f), d.Redrawn(), 0, max(mostRedrawn, 1.05*f))
				mustSampler(t, d)
			}
		}
	}
}

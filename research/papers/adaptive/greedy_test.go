package adaptive

import (
	"errors"
	"reflect"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/multicast/adaptive"
)

// Section V-C, Algorithm 1: about 738 and 704 bits, by seed.
func TestGreedyAlgorithm1(t *testing.T) {
	t.Parallel()
	for o, want := range map[adaptive.Objective][2]float64{adaptive.Independent: {720, 750}, adaptive.Hashed: {680, 730}} {
		if testing.Short() && o == adaptive.Independent {
			continue // takes seconds
		}
		d, err := greedy(adaptive.Requirements{Objective: o, Rate: 0.1, Weights: adaptive.Uniform(200)}, search{seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		if m := d.Lengths().Mean(d.Weights); m < want[0] || m > want[1] {
			t.Errorf("%v: the mean is %g, want %g to %g", o, m, want[0], want[1])
		}
	}
}

// The design keeps the rate, is between the heuristic and the optimum in length, and
// depends only on the seed.
func TestGreedy(t *testing.T) {
	start := mustHeuristic(t, 40, 0.05)
	for _, o := range []adaptive.Objective{adaptive.Independent, adaptive.Hashed} {
		g := adaptive.Requirements{Objective: o, Rate: 0.05, Weights: adaptive.Inverse(40)}
		d, err := greedy(g, search{seed: 7})
		if err != nil {
			t.Fatal(err)
		}
		again, err := greedy(g, search{seed: 7, steps: []float64{0.1, 0.01, 0.001}, patience: 300})
		if err != nil || !reflect.DeepEqual(d, again) {
			t.Errorf("%v: with the same seed another design, %v", o, err)
		}
		other, err := greedy(g, search{seed: 8})
		if err != nil || reflect.DeepEqual(d, other) {
			t.Errorf("%v: with another seed the same design, %v", o, err)
		}
		finer, err := greedy(g, search{seed: 7, steps: []float64{0.1, 0.01, 0.001, 0.0002}})
		if err != nil {
			t.Fatal(err)
		}
		optimum, err := adaptive.Optimum(g)
		if err != nil {
			t.Fatal(err)
		}
		best := optimum.Lengths().Mean(g.Weights)
		for _, x := range []*adaptive.Design{d, other, finer} {
			if m := x.Lengths().Mean(g.Weights); m > start.Lengths().Mean(g.Weights) || m < best-1 {
				t.Errorf("%v: the mean is %g, want between the optimum's %g and the start's %g", o, m, best, start.Lengths().Mean(g.Weights))
			}
			for i := range x.Ends {
				if f := x.FPRate(i + 1); f > 0.05*(1+1e-9) {
					t.Errorf("%v: %d links have a rate of %g, want at most 0.05", o, i+1, f)
				}
			}
		}
	}
	if _, err := greedy(adaptive.Requirements{Objective: adaptive.Hashed, Rate: 0.05, Weights: adaptive.Uniform(20), K: 6}, search{}); !errors.Is(err, umbel.ErrGoal) {
		t.Errorf("with a k of its own: %v, want an error wrapping %q", err, umbel.ErrGoal)
	}
}

func TestGreedyRefuses(t *testing.T) {
	g := adaptive.Requirements{Rate: 0.1, Weights: adaptive.Uniform(5)}
	for what, s := range map[string]search{
		"a step of none":   {steps: []float64{0.1, 0}},
		"a step of one":    {steps: []float64{1}},
		"no steps":         {steps: []float64{}},
		"patience of none": {patience: -1},
	} {
		if _, err := greedy(g, s); !errors.Is(err, umbel.ErrGoal) {
			t.Errorf("%s: %v, want an error wrapping %q", what, err, umbel.ErrGoal)
		}
	}
}

func BenchmarkGreedy(b *testing.B) {
	g := adaptive.Requirements{Objective: adaptive.Hashed, Rate: 0.1, Weights: adaptive.Uniform(60)}
	for b.Loop() {
		if _, err := greedy(g, search{seed: 1}); err != nil {
			b.Fatal(err)
		}
	}
}

// The formula's probabilities reach every rate, so that the search can always start.
func TestGreedyStarts(t *testing.T) {
	for _, n := range []int{1, 2, 3, 10, 60} {
		for f := 0.99; f > 1e-9; f *= 0.7 {
			for _, o := range []adaptive.Objective{adaptive.Independent, adaptive.Hashed} {
				if _, ok := newWalk(adaptive.Requirements{Objective: o, Rate: f, Weights: adaptive.Uniform(n)}, mustHeuristic(t, n, f), []float64{0.1}); !ok {
					t.Errorf("%v: no start for %d links at a rate of %g", o, n, f)
				}
			}
		}
	}
}

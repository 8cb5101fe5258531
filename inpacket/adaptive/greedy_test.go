package adaptive

import (
	"errors"
	"reflect"
	"testing"

	"github.com/umbel-filters/umbel"
)

// Section V-C, Algorithm 1: about 738 and 704 bits, by seed.
func TestGreedyAlgorithm1(t *testing.T) {
	t.Parallel()
	for o, want := range map[Objective][2]float64{Independent: {720, 750}, Hashed: {680, 730}} {
		if testing.Short() && o == Independent {
			continue // takes seconds
		}
		d, err := Greedy(Goal{Objective: o, Rate: 0.1, Weights: Uniform(200)}, Search{Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		if m := d.Lengths().Mean(d.Weights); m < want[0] || m > want[1] {
			t.Errorf("%v: the mean is %g, want %g to %g", o, m, want[0], want[1])
		}
	}
}

// What it finds is a design that keeps to the rate, no worse than the heuristic and no
// better than the optimum, the same for the same seed.
func TestGreedy(t *testing.T) {
	start := mustHeuristic(t, 40, 0.05)
	for _, o := range []Objective{Independent, Hashed} {
		g := Goal{Objective: o, Rate: 0.05, Weights: Inverse(40)}
		d, err := Greedy(g, Search{Seed: 7})
		if err != nil {
			t.Fatal(err)
		}
		again, err := Greedy(g, Search{Seed: 7, Steps: []float64{0.1, 0.01, 0.001}, Patience: 300})
		if err != nil || !reflect.DeepEqual(d, again) {
			t.Errorf("%v: with the same seed another design, %v", o, err)
		}
		other, err := Greedy(g, Search{Seed: 8})
		if err != nil || reflect.DeepEqual(d, other) {
			t.Errorf("%v: with another seed the same design, %v", o, err)
		}
		finer, err := Greedy(g, Search{Seed: 7, Steps: []float64{0.1, 0.01, 0.001, 0.0002}})
		if err != nil {
			t.Fatal(err)
		}
		best := mustOptimum(t, g).Lengths().Mean(g.Weights)
		for _, x := range []*Design{d, other, finer} {
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
	if _, err := Greedy(Goal{Objective: Hashed, Rate: 0.05, Weights: Uniform(20), K: 6}, Search{}); !errors.Is(err, umbel.ErrGoal) {
		t.Errorf("with a k of its own: %v, want an error that wraps %q", err, umbel.ErrGoal)
	}
}

func TestGreedyRefuses(t *testing.T) {
	g := Goal{Rate: 0.1, Weights: Uniform(5)}
	for what, s := range map[string]Search{
		"a step of none":   {Steps: []float64{0.1, 0}},
		"a step of one":    {Steps: []float64{1}},
		"no steps":         {Steps: []float64{}},
		"patience of none": {Patience: -1},
	} {
		if _, err := Greedy(g, s); !errors.Is(err, umbel.ErrGoal) {
			t.Errorf("%s: %v, want an error that wraps %q", what, err, umbel.ErrGoal)
		}
	}
}

func BenchmarkGreedy(b *testing.B) {
	g := Goal{Objective: Hashed, Rate: 0.1, Weights: Uniform(60)}
	for b.Loop() {
		if _, err := Greedy(g, Search{Seed: 1}); err != nil {
			b.Fatal(err)
		}
	}
}

// The formula's odds reach every rate with the draws that they make, so there is a start.
func TestGreedyStarts(t *testing.T) {
	for _, n := range []int{1, 2, 3, 10, 60} {
		for f := 0.99; f > 1e-9; f *= 0.7 {
			for _, o := range []Objective{Independent, Hashed} {
				if _, ok := newWalk(Goal{Objective: o, Rate: f, Weights: Uniform(n)}, mustHeuristic(t, n, f), []float64{0.1}); !ok {
					t.Errorf("%v: no start for %d links at a rate of %g", o, n, f)
				}
			}
		}
	}
}

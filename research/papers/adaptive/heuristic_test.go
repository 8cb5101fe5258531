package adaptive

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/internal/truncated"
	"github.com/umbel-filters/umbel/multicast/adaptive"
)

// golden returns an entry of the values that an independent program computed.
func golden[T any](t testing.TB, key string, args ...any) (v T) {
	t.Helper()
	b, err := os.ReadFile("../../../multicast/adaptive/testdata/golden.json")
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(b, &all); err != nil {
		t.Fatal(err)
	}
	key = fmt.Sprintf(key, args...)
	if err := json.Unmarshal(all[key], &v); err != nil {
		t.Fatalf("%s: %v", key, err)
	}
	return v
}

func mustHeuristic(t testing.TB, n int, rate float64) *adaptive.Design {
	t.Helper()
	d, err := heuristic(n, rate)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// Equations (17) to (19): each m_i, for three rates.
func TestHeuristicEquation19(t *testing.T) {
	for _, c := range []struct {
		rate float64
		sum  int
		ones float64 // sum of q_j
	}{{0.1, 206475, 47.807}, {0.01, 412534, 95.215}, {0.001, 618586, 142.60}} {
		t.Run(fmt.Sprint(c.rate), func(t *testing.T) {
			d := mustHeuristic(t, 200, c.rate)
			if want := golden[[]int](t, "002.heuristic.f%g", c.rate); !slices.Equal(d.Ends, want) {
				t.Errorf("lengths are %d, want %d", d.Ends, want)
			}
			sum, ones := 0, 0.0
			for _, m := range d.Ends {
				sum += m
			}
			for _, r := range d.Runs {
				ones += r.Fraction() * float64(r.Positions)
			}
			if sum != c.sum {
				t.Errorf("sum of lengths is %d, want %d", sum, c.sum)
			}
			near(t, "sum of odds", ones, c.ones, 0.006)
			near(t, "mean", d.Lengths().Mean(adaptive.Inverse(200)), golden[map[string]float64](t, "002.average_inverse.f%g", c.rate)["heuristic"], 0.001)
			// Equation (16) by these odds gives the same lengths.
			var lengths []int
			for _, m := range ends(truncated.Problem{Rate: c.rate}, d.Runs, 200) {
				lengths = append(lengths, m)
			}
			if !slices.Equal(lengths, d.Ends) {
				t.Errorf("by equation (16) lengths are %d, want %d", lengths, d.Ends)
			}
			for i := range d.Ends {
				if f := d.FPRate(i + 1); f > c.rate*(1+1e-12) {
					t.Errorf("%d links have a rate of %g, want at most %g", i+1, f, c.rate)
				}
			}
		})
	}
}

// Figure 1, the formula's probabilities of some positions.
func TestHeuristicFigure1(t *testing.T) {
	d := mustHeuristic(t, 200, 0.1)
	for j, want := range map[int]int{1: 2, 9: 2, 10: 3, 20: 4, 50: 7, 100: 12, 200: 22, 400: 41, 600: 61, 800: 80, 1000: 99, 2071: 201} {
		oddsAt(t, d, j, 1/float64(want), 1e-15)
	}
}

// oddsAt checks the probability of position j, from 1 on.
func oddsAt(t *testing.T, d *adaptive.Design, j int, want, within float64) {
	t.Helper()
	m := 0
	for _, r := range d.Runs {
		if m += r.Positions; j <= m {
			near(t, fmt.Sprintf("the odds of position %d", j), r.Fraction(), want, within)
			return
		}
	}
	t.Errorf("no position %d of %d", j, m)
}

func TestHeuristicRefuses(t *testing.T) {
	if _, err := heuristic(2000, 1e-12); !errors.Is(err, umbel.ErrGoal) || !strings.Contains(fmt.Sprint(err), "65535") {
		t.Errorf("%v, want an error wrapping %q that contains 65535", err, umbel.ErrGoal)
	}
	if _, err := heuristic(0, 0.1); !errors.Is(err, umbel.ErrGoal) {
		t.Errorf("%v, want an error wrapping %q", err, umbel.ErrGoal)
	}
}

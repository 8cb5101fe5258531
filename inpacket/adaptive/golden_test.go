package adaptive

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"testing"
)

// golden returns an entry of the values that another program computed.
func golden[T any](t testing.TB, key string, args ...any) (v T) {
	t.Helper()
	b, err := os.ReadFile("testdata/golden.json")
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

// near reports an error if got isn't within a distance of want.
func near(t testing.TB, what string, got, want, within float64) {
	t.Helper()
	if !(math.Abs(got-want) <= within) {
		t.Errorf("%s is %.6g, want %.6g within %g", what, got, want, within)
	}
}

func mustHeuristic(t testing.TB, n int, rate float64) *Design {
	t.Helper()
	d, err := Heuristic(n, rate)
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
				ones += r.fraction() * float64(r.Positions)
			}
			if sum != c.sum {
				t.Errorf("sum of lengths is %d, want %d", sum, c.sum)
			}
			near(t, "sum of odds", ones, c.ones, 0.006)
			near(t, "mean", d.Lengths().Mean(Inverse(200)), golden[map[string]float64](t, "002.average_inverse.f%g", c.rate)["heuristic"], 0.001)
			// Equation (16) by these odds gives the same lengths.
			var ends []int
			for _, m := range d.problem().ends(d.Runs, 200) {
				ends = append(ends, m)
			}
			if !slices.Equal(ends, d.Ends) {
				t.Errorf("by equation (16) lengths are %d, want %d", ends, d.Ends)
			}
			for i := range d.Ends {
				if f := d.FPRate(i + 1); f > c.rate*(1+1e-12) {
					t.Errorf("%d links have a rate of %g, want at most %g", i+1, f, c.rate)
				}
			}
		})
	}
}

// Figure 1, the heuristic's odds at some positions.
func TestHeuristicFigure1(t *testing.T) {
	d := mustHeuristic(t, 200, 0.1)
	for j, want := range map[int]int{1: 2, 9: 2, 10: 3, 20: 4, 50: 7, 100: 12, 200: 22, 400: 41, 600: 61, 800: 80, 1000: 99, 2071: 201} {
		d.at(t, j, 1/float64(want), 1e-15)
	}
}

// at checks the odds of position j, from 1 on.
func (d *Design) at(t *testing.T, j int, want, within float64) {
	t.Helper()
	m := 0
	for _, r := range d.Runs {
		if m += r.Positions; j <= m {
			near(t, fmt.Sprintf("the odds of position %d", j), r.fraction(), want, within)
			return
		}
	}
	t.Errorf("no position %d, there are %d", j, m)
}

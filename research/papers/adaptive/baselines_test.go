package adaptive

import (
	"errors"
	"fmt"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/multicast/adaptive"
)

// The means of section V-D: the filters that the paper compares with, and others.
func TestBaselines(t *testing.T) {
	for _, rate := range []float64{0.2, 0.1, 0.05, 0.01, 0.001} {
		t.Run(fmt.Sprint(rate), func(t *testing.T) {
			want := golden[map[string]any](t, "002.average.f%g", rate)
			for _, c := range []struct {
				what    string
				lengths func(n int, rate float64) (adaptive.Lengths, error)
			}{
				{"any_m", adaptive.AnyLength},
				{"fixed", fixed},
				{"lower_bound", adaptive.Bound},
				{"ibf", incrementalBits},
				{"sbf_slice128", func(n int, rate float64) (adaptive.Lengths, error) { return scalable(n, rate, 128, true) }},
				{"sbf_total128", func(n int, rate float64) (adaptive.Lengths, error) { return scalable(n, rate, 128, false) }},
			} {
				l, err := c.lengths(200, rate)
				if err != nil {
					t.Fatalf("%s: %v", c.what, err)
				}
				near(t, c.what, l.Mean(adaptive.Uniform(200)), want[c.what].(float64), 0.006)
			}
		})
	}
}

func TestFolded(t *testing.T) {
	for _, rate := range []float64{0.1, 0.01, 0.001} {
		for name, w := range map[string]adaptive.Weights{"uniform": adaptive.Uniform(200), "1/i": adaptive.Inverse(200)} {
			t.Run(fmt.Sprintf("%g/%s", rate, name), func(t *testing.T) {
				want := golden[map[string]float64](t, "beyond.inpacket.f%g.%s", rate, name)
				l, k, err := folded(200, rate, 0, w)
				if err != nil {
					t.Fatal(err)
				}
				near(t, fmt.Sprintf("mean with k=%d", k), l.Mean(w), want["folded"], 0.001)
				free, err := adaptive.AnyLength(200, rate)
				if err != nil {
					t.Fatal(err)
				}
				near(t, "any length", free.Mean(w), want["any_m"], 0.001)
				bound, err := adaptive.Bound(200, rate)
				if err != nil {
					t.Fatal(err)
				}
				near(t, "bound", bound.Mean(w), want["bound"], 0.001)
			})
		}
	}
}

func TestBaselinesRefuse(t *testing.T) {
	for what, f := range map[string]func() error{
		"no links":                  func() error { _, err := adaptive.AnyLength(0, 0.1); return err },
		"a rate of one":             func() error { _, err := fixed(10, 1); return err },
		"no rate":                   func() error { _, err := adaptive.Bound(10, 0); return err },
		"too many links":            func() error { _, err := incrementalBits(adaptive.MaxLinks+1, 0.1); return err },
		"no bits":                   func() error { _, err := scalable(10, 0.1, 0, true); return err },
		"scalable, no links":        func() error { _, err := scalable(-1, 0.1, 128, true); return err },
		"more than the base":        func() error { _, _, err := folded(4000, 1e-6, 20, nil); return err },
		"more, for any k":           func() error { _, _, err := folded(4000, 1e-6, 0, adaptive.Uniform(4000)); return err },
		"weights of another length": func() error { _, _, err := folded(10, 0.1, 0, adaptive.Uniform(9)); return err },
		"no weights":                func() error { _, _, err := folded(10, 0.1, 0, nil); return err },
		"k":                         func() error { _, _, err := folded(10, 0.1, -1, nil); return err },
	} {
		if err := f(); !errors.Is(err, umbel.ErrGoal) {
			t.Errorf("%s: %v, want an error wrapping %q", what, err, umbel.ErrGoal)
		}
	}
}

package umbel_test

import (
	"math"
	"testing"

	"github.com/umbel-filters/umbel"
)

func TestPlannedCheck(t *testing.T) {
	for _, p := range []umbel.Planned{{}, {Keys: 1, FPRate: 0.5}, {Keys: math.MaxUint64, FPRate: 5e-324}} {
		if err := p.Check(); err != nil {
			t.Errorf("%+v: %v", p, err)
		}
	}
	for _, p := range []umbel.Planned{
		{Keys: 1}, {FPRate: 0.5}, {Keys: 1, FPRate: 1}, {Keys: 1, FPRate: -0.1},
		{Keys: 1, FPRate: math.NaN()}, {Keys: 1, FPRate: math.Inf(1)}, {FPRate: math.NaN()},
	} {
		wantError(t, p.Check(), umbel.ErrCorrupt, "planned")
		s := sample()
		s.Planned = p
		wantError(t, s.Check(), umbel.ErrCorrupt, "planned")
	}
}

func TestPlannedBy(t *testing.T) {
	f := umbel.Forecast{Keys: 100, FPRate: 0.009}
	for _, c := range []struct {
		g    umbel.Goal
		f    umbel.Forecast
		want umbel.Planned
	}{
		{umbel.Goal{Keys: 100, FPRate: 0.01}, f, umbel.Planned{Keys: 100, FPRate: 0.01}},
		{umbel.Goal{FPRate: 0.01, Bytes: 120}, f, umbel.Planned{Keys: 100, FPRate: 0.01}},
		{umbel.Goal{Keys: 100, Bytes: 120}, f, umbel.Planned{Keys: 100, FPRate: 0.009}},
		{umbel.Goal{Keys: 100, Bytes: 1}, umbel.Forecast{Keys: 100, FPRate: 1}, umbel.Planned{}},
		{umbel.Goal{}, f, umbel.Planned{}},
	} {
		if got := umbel.PlannedBy(c.g, c.f); got != c.want {
			t.Errorf("goal %+v, forecast %+v: %+v, want %+v", c.g, c.f, got, c.want)
		}
	}
}

func TestPlannedExceeded(t *testing.T) {
	p := umbel.Planned{Keys: 100, FPRate: 0.01}
	for rate, want := range map[float64]bool{0: false, 0.01: false, 0.02: false, 0.0201: true, 1: true} {
		if got := p.Exceeded(rate); got != want {
			t.Errorf("a rate of %v exceeds %+v: %v", rate, p, got)
		}
	}
	if (umbel.Planned{}).Exceeded(1) {
		t.Error("a rate exceeds an unknown plan")
	}
}

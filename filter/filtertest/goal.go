package filtertest

import (
	"math"

	"github.com/umbel-filters/umbel"
)

// try plans and makes a filter. It fails if one of them panics, if only one of Plan and New
// returns an error, or if the error doesn't wrap umbel.ErrGoal. On such an error f is nil.
// Filters of more than 4 MiB are planned and not made: f and err are nil.
func try(t tb, v umbel.Kind, g umbel.Goal, ps umbel.Params) (f umbel.Filter, fc umbel.Forecast, err error) {
	t.Helper()
	p := panicked(func() {
		fc, err = v.Plan(g, ps)
		if err == nil && fc.Bytes > 4<<20 {
			return
		}
		var e error
		f, e = v.New(g, ps)
		if (e == nil) != (err == nil) {
			t.Errorf("%+v %v: Plan returns the error %v, New %v", g, ps, err, e)
		}
	})
	if p != nil {
		t.Fatalf("%+v %v: panic: %v", g, ps, p)
	}
	if err != nil {
		wantError(t, err, "Plan and New", umbel.ErrGoal)
		return nil, fc, err
	}
	if f != nil {
		wantForecast(t, f, fc)
	}
	return f, fc, nil
}

// wantForecast fails unless the empty filter f has the size that fc forecasts. A composed filter
// may add parts later, and a list grows with its keys; both may be smaller. The size of filters
// that are sealed is tested by the law Seal.
func wantForecast(t tb, f umbel.Filter, fc umbel.Forecast) {
	t.Helper()
	s := f.Stats()
	if _, list := f.(umbel.PositionLister); list && s.Bytes < fc.Bytes {
		s.Bytes = fc.Bytes
	}
	if _, ok := f.(umbel.Sealer); ok {
		if s.K != fc.K {
			t.Errorf("made with k=%g, forecast %g", s.K, fc.K)
		}
	} else if len(f.State().Parts) > 0 {
		if s.Bytes > fc.Bytes || s.Cells > fc.Cells {
			t.Errorf("made with %d bytes, %d cells, forecast %d, %d", s.Bytes, s.Cells, fc.Bytes, fc.Cells)
		}
	} else if s.Bytes != fc.Bytes || s.Cells != fc.Cells || s.K != fc.K {
		t.Errorf("made with %d bytes, %d cells, k=%g, forecast %d, %d, %g",
			s.Bytes, s.Cells, s.K, fc.Bytes, fc.Cells, fc.K)
	}
	if !(fc.FPRate >= 0 && fc.FPRate <= 1) {
		t.Errorf("forecast rate %v, want 0 to 1", fc.FPRate)
	}
}

// newMatchesForecast: New makes a filter of the size that Plan forecasts, and the forecast meets
// the goal.
func newMatchesForecast(t tb, v umbel.Kind) {
	for _, n := range []uint64{1, 10, 100, 1000, 10000, 100000} {
		for _, p := range []float64{0.3, 0.1, 0.01, 0.001, 1e-5} {
			g := umbel.Goal{Keys: n, FPRate: p}
			_, fc, err := try(t, v, g, nil)
			if err != nil {
				t.Errorf("%+v: %v", g, err)
				continue
			}
			if fc.Keys != n || fc.FPRate > p*(1+1e-9) {
				t.Errorf("%+v: forecast rate %g at %d keys", g, fc.FPRate, fc.Keys)
			}
		}
	}
	for _, p := range []float64{1e-12, 1e-15} {
		for _, n := range []uint64{1000, 1_000_000} {
			wantPlausibleForecast(t, v, umbel.Goal{Keys: n, FPRate: p})
		}
	}
	// A filter of almost a petabyte is only planned. No filter has less than log2(1/p) bits
	// per key.
	if fc, err := v.Plan(umbel.Goal{Keys: 1 << 50, FPRate: 0.01}, nil); err == nil && float64(fc.Bytes) < (1<<50)*math.Log2(100)/8 {
		t.Errorf("2^50 keys at one percent: forecast %d bytes", fc.Bytes)
	}
}

// wantPlausibleForecast fails unless a goal with a very low rate is refused, or the forecast has
// at most this rate and at least a thousandth of it, and plausible memory: at least log2(1/p)
// bits per key, the minimum of any filter, and at most three times the 1.44·log2(1/p) cells of a
// standard filter. The maximum applies only to kinds that set at least half as many cells per
// key as a standard filter, since fewer cells need more memory. It doesn't apply to kinds that
// grow, which reserve memory.
func wantPlausibleForecast(t tb, v umbel.Kind, g umbel.Goal) {
	t.Helper()
	_, fc, err := try(t, v, g, nil)
	if err != nil {
		return
	}
	if !(fc.FPRate > g.FPRate/1000 && fc.FPRate <= g.FPRate*(1+1e-9)) {
		t.Errorf("%+v: forecast rate %g", g, fc.FPRate)
	}
	least := -math.Log2(g.FPRate)
	bits, cells := float64(fc.Bytes)*8/float64(g.Keys), float64(fc.Cells)/float64(g.Keys)
	if bits < least || !grows(t, v) && fc.K >= least/2 && cells > 3*least/math.Ln2 {
		t.Errorf("%+v: forecast %.4g bits and %.4g cells per key; a standard filter has %.4g", g, bits, cells, least/math.Ln2)
	}
}

// shapeMatchesPlan: the shape's forecast for its number of keys equals the forecast of Plan, and
// Shape and Plan refuse a goal with the same error.
func shapeMatchesPlan(t tb, v umbel.Kind) {
	if v.Shape == nil {
		t.Fatalf("the kind has no Shape")
	}
	for _, g := range []umbel.Goal{
		{Keys: 1000, FPRate: 0.01}, {Keys: 1, FPRate: 0.5}, {Keys: 1 << 40, FPRate: 1e-4},
		{Keys: 1000, Bytes: 2000}, {FPRate: 0.01, Bytes: 2000}, {},
	} {
		want, refused := v.Plan(g, nil)
		s, n, err := v.Shape(g, nil)
		switch {
		case refused != nil || err != nil:
			if refused == nil || err == nil || err.Error() != refused.Error() {
				t.Errorf("%+v: Shape returns the error %v, Plan %v", g, err, refused)
			}
		case s.Forecast(n) != want:
			t.Errorf("%+v: the shape forecasts %+v, Plan %+v", g, s.Forecast(n), want)
		}
	}
}

// badGoalsRefused: an impossible goal is refused with an error wrapping umbel.ErrGoal, before
// memory is allocated.
func badGoalsRefused(t tb, v umbel.Kind) {
	goals := []umbel.Goal{
		{},
		{Keys: 1000},
		{FPRate: 0.01},
		{Keys: 1000, FPRate: 1},
		{Keys: 1000, FPRate: 1.5},
		{Keys: 1000, FPRate: -0.01},
		{Keys: 1000, FPRate: math.NaN()},
		{Keys: 1000, FPRate: math.Inf(1)},
		{Keys: 1000, FPRate: math.Inf(-1)},
		{Keys: math.MaxUint64, FPRate: 0.01},
		{Keys: math.MaxUint64, FPRate: 1e-300},
		{Keys: 1 << 62, FPRate: 1e-9},
		{Keys: 1000, Bytes: math.MaxUint64},
		{FPRate: 0.01, Bytes: math.MaxUint64},
		{FPRate: math.NaN(), Bytes: 1000},
		{FPRate: 1, Bytes: 1000},
	}
	for _, g := range goals {
		var f umbel.Filter
		var err error
		took := allocated(func() { f, _, err = try(t, v, g, nil) })
		if err == nil {
			t.Errorf("%+v: no error, got a %T", g, f)
		}
		if took > 1<<20 {
			t.Errorf("%+v: %d bytes were allocated before the error %v", g, took, err)
		}
	}
}

// extremeGoals: filters with the smallest and the most unusual goals work or are refused. A goal
// that leaves room for no key is refused.
func extremeGoals(t tb, v umbel.Kind) {
	for _, g := range []umbel.Goal{{FPRate: 1e-30, Bytes: 8}, {FPRate: 1e-300, Bytes: 1}, {FPRate: 1e-300, Bytes: 64}} {
		if _, fc, err := try(t, v, g, nil); err == nil {
			t.Errorf("%+v: a filter for %d keys, want an error: one key needs more bits", g, fc.Keys)
		}
	}
	for _, c := range []struct {
		goal umbel.Goal
		must bool
	}{
		{umbel.Goal{Keys: 1, FPRate: 0.5}, true},
		{umbel.Goal{Keys: 1, FPRate: 1e-9}, true},
		{umbel.Goal{Keys: 2, FPRate: 0.99}, true},
		{umbel.Goal{Keys: 10, FPRate: 1e-6}, true},
		{umbel.Goal{Keys: 100000, FPRate: 0.5}, true},
		{umbel.Goal{Keys: 1, FPRate: 1e-300}, false},
		{umbel.Goal{Keys: 1, FPRate: math.SmallestNonzeroFloat64}, false},
		{umbel.Goal{Keys: 3, FPRate: math.Nextafter(1, 0)}, false},
		{umbel.Goal{Keys: 1 << 40, FPRate: math.Nextafter(1, 0)}, false},
		{umbel.Goal{Keys: 1, Bytes: 1}, false},
		{umbel.Goal{Keys: 1000000, Bytes: 1}, false},
		{umbel.Goal{Keys: math.MaxUint64, Bytes: 1000}, false},
		{umbel.Goal{FPRate: 0.01, Bytes: 1}, false},
		{umbel.Goal{FPRate: 1e-300, Bytes: 1000}, false},
		{umbel.Goal{FPRate: 0.01, Bytes: 1000}, false},
		{umbel.Goal{FPRate: math.Nextafter(1, 0), Bytes: 1000}, false},
	} {
		f, fc, err := try(t, v, c.goal, nil)
		if err != nil && c.must {
			t.Errorf("%+v: %v", c.goal, err)
		}
		if f == nil {
			continue
		}
		if fc.Keys == 0 {
			t.Errorf("%+v: forecast for 0 keys", c.goal)
		}
		if c.goal.Bytes >= 1000 && (fc.Bytes < c.goal.Bytes/2 || fc.Bytes > c.goal.Bytes*2) {
			t.Errorf("%+v: forecast %d bytes", c.goal, fc.Bytes)
		}
		ds := append(digests(1, int(min(fc.Keys, 100))), extreme...)
		addAll(f, ds)
		wantAll(t, f, ds, "extreme")
		wantConsistentStats(t, f, f.Stats())
	}
}

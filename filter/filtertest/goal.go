package filtertest

import (
	"errors"
	"math"
	"strings"

	"github.com/umbel-filters/umbel"
)

// description: the kind says what it is, in words that lists and help texts take.
func description(t tb, v umbel.Kind) {
	if err := umbel.CheckName(v.Name); err != nil {
		t.Errorf("kind: %v", err)
	}
	wantLine(t, "Doc", v.Doc)
	for _, p := range v.Params {
		if err := umbel.CheckName(p.Name); err != nil {
			t.Errorf("parameter: %v", err)
		}
		wantLine(t, "Doc of "+p.Name, p.Doc)
		if !(p.Min <= p.Max) {
			t.Errorf("%s from %v to %v, want a range", p.Name, p.Min, p.Max)
		}
	}
	s := make1(t, v, sizes[0]).State()
	if s.Kind != v.Name {
		t.Errorf("the state is of kind %q, want %q", s.Kind, v.Name)
	}
	if err := s.Check(); err != nil {
		t.Errorf("the state of a new filter: %v", err)
	}
}

func wantLine(t tb, what, doc string) {
	t.Helper()
	if doc == "" || strings.ContainsAny(doc, "\n\r") || strings.HasSuffix(doc, ".") {
		t.Errorf("%s is %q, want one line with no final point", what, doc)
	}
}

// badHashers are hashers that there can't be.
var badHashers = []umbel.Hasher{{Alg: 200}, {Alg: umbel.MD5, Seed: umbel.Seed{Lo: 1}}, {Seed: umbel.Seed{Hi: 1}}}

// hashers: a filter keeps the hasher of its goal, and takes none that is wrong: as a
// wish it is a bad goal, and in a state it is corrupt.
func hashers(t tb, v umbel.Kind) {
	g := umbel.Goal{Keys: 100, FPRate: 0.01, Hasher: umbel.Hasher{Alg: umbel.SipHash, Seed: umbel.Seed{Lo: 1, Hi: 2}}}
	f := mustNew(t, v, g, nil)
	if h := f.State().Hasher; h != g.Hasher {
		t.Errorf("hasher %v, want that of the goal, %v", h, g.Hasher)
	}
	for _, h := range badHashers {
		g.Hasher = h
		_, err := v.New(g, nil)
		wantOnly(t, err, "New with a bad hasher", umbel.ErrGoal)
		_, err = v.Plan(g, nil)
		wantOnly(t, err, "Plan with a bad hasher", umbel.ErrGoal)
		s := f.State().Clone()
		s.Hasher = h
		_, err = v.Open(s)
		wantOnly(t, err, "Open with a bad hasher", umbel.ErrCorrupt)
	}
}

// wantOnly fails unless err wraps the sentinel, and none of the others.
func wantOnly(t tb, err error, what string, sentinel error) {
	t.Helper()
	wantError(t, err, what, sentinel)
	for _, other := range []error{umbel.ErrGoal, umbel.ErrMismatch, umbel.ErrKind, umbel.ErrCorrupt, umbel.ErrLimit} {
		if other != sentinel && errors.Is(err, other) {
			t.Errorf("%s: the error %q wraps %q, want %q alone", what, err, other, sentinel)
		}
	}
}

// wantError fails unless err wraps one of the sentinels.
func wantError(t tb, err error, what string, sentinels ...error) {
	t.Helper()
	if err == nil {
		t.Errorf("%s: no error, want one that wraps %q", what, sentinels)
		return
	}
	for _, s := range sentinels {
		if errors.Is(err, s) {
			return
		}
	}
	t.Errorf("%s: the error %q wraps none of %q", what, err, sentinels)
}

// try plans and makes a filter. It fails if that panics, if Plan and New disagree,
// or if an error doesn't wrap umbel.ErrGoal; it returns nil on such an error. What
// would take more than 4 MiB is planned only.
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
			t.Errorf("%+v %v: Plan gives the error %v, New %v", g, ps, err, e)
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

// wantForecast fails unless an empty filter is as its forecast says. One made of
// parts may have some of them only when it holds its keys, and the bytes of one that is
// a list come with them; one that is sealed is looked at in its own law.
func wantForecast(t tb, f umbel.Filter, fc umbel.Forecast) {
	t.Helper()
	s := f.Stats()
	if _, list := f.(umbel.PositionLister); list && s.Bytes < fc.Bytes {
		s.Bytes = fc.Bytes
	}
	if _, ok := f.(umbel.Sealer); ok {
		if s.K != fc.K {
			t.Errorf("made with k=%g; the forecast was %g", s.K, fc.K)
		}
	} else if len(f.State().Parts) > 0 {
		if s.Bytes > fc.Bytes || s.Cells > fc.Cells {
			t.Errorf("made with %d bytes, %d cells; the forecast was %d, %d", s.Bytes, s.Cells, fc.Bytes, fc.Cells)
		}
	} else if s.Bytes != fc.Bytes || s.Cells != fc.Cells || s.K != fc.K {
		t.Errorf("made with %d bytes, %d cells, k=%g; the forecast was %d, %d, %g",
			s.Bytes, s.Cells, s.K, fc.Bytes, fc.Cells, fc.K)
	}
	if !(fc.FPRate >= 0 && fc.FPRate <= 1) {
		t.Errorf("forecast of a rate of %v, want one from 0 to 1", fc.FPRate)
	}
}

// forecastIsMade: Plan tells the size of what New makes, and what it promises is the
// goal.
func forecastIsMade(t tb, v umbel.Kind) {
	for _, n := range []uint64{1, 10, 100, 1000, 10000, 100000} {
		for _, p := range []float64{0.3, 0.1, 0.01, 0.001, 1e-5} {
			g := umbel.Goal{Keys: n, FPRate: p}
			_, fc, err := try(t, v, g, nil)
			if err != nil {
				t.Errorf("%+v: %v", g, err)
				continue
			}
			if fc.Keys != n || fc.FPRate > p*(1+1e-9) {
				t.Errorf("%+v: the forecast is a rate of %g at %d keys", g, fc.FPRate, fc.Keys)
			}
		}
	}
	for _, p := range []float64{1e-12, 1e-15} {
		for _, n := range []uint64{1000, 1_000_000} {
			wantHonest(t, v, umbel.Goal{Keys: n, FPRate: p})
		}
	}
	// What would take most of a petabyte is planned, not made: no filter takes less than
	// log2(1/p) bits a key.
	if fc, err := v.Plan(umbel.Goal{Keys: 1 << 50, FPRate: 0.01}, nil); err == nil && float64(fc.Bytes) < (1<<50)*math.Log2(100)/8 {
		t.Errorf("2^50 keys at one percent are to take %d bytes", fc.Bytes)
	}
}

// wantHonest fails unless a goal of a very low rate is refused, or planned at a rate
// that is met and isn't far below it, with the memory that such a rate takes: at
// least log2(1/p) bits per key, less than which no filter has, and at most 3 times
// the 1.44·log2(1/p) cells of a standard filter. The latter is asked only of kinds with
// half as many cells per key as that has, or more: with fewer each of them costs
// more, whatever the kind. Nor is it asked of kinds that grow, which keep room.
func wantHonest(t tb, v umbel.Kind, g umbel.Goal) {
	t.Helper()
	_, fc, err := try(t, v, g, nil)
	if err != nil {
		return
	}
	if !(fc.FPRate > g.FPRate/1000 && fc.FPRate <= g.FPRate*(1+1e-9)) {
		t.Errorf("%+v: the forecast is a rate of %g", g, fc.FPRate)
	}
	least := -math.Log2(g.FPRate)
	bits, cells := float64(fc.Bytes)*8/float64(g.Keys), float64(fc.Cells)/float64(g.Keys)
	if bits < least || !grows(t, v) && fc.K >= least/2 && cells > 3*least/math.Ln2 {
		t.Errorf("%+v: the forecast is %.4g bits per key in %.4g cells, and a standard filter takes %.4g", g, bits, cells, least/math.Ln2)
	}
}

// shapeForecasts: the forecast of the shape for its number of keys is that of Plan, and
// Shape and Plan refuse a goal with the same error.
func shapeForecasts(t tb, v umbel.Kind) {
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

// goalsRefused: what can't be had is an error that wraps umbel.ErrGoal, at no cost
// in memory.
func goalsRefused(t tb, v umbel.Kind) {
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
			t.Errorf("%+v: no error, and a filter of %T", g, f)
		}
		if took > 1<<20 {
			t.Errorf("%+v: %d bytes were allocated to find the error %v", g, took, err)
		}
	}
}

// goalsExtreme: the smallest and the oddest filters work, or are refused for what
// they are. One that would hold no key isn't made.
func goalsExtreme(t tb, v umbel.Kind) {
	for _, g := range []umbel.Goal{{FPRate: 1e-30, Bytes: 8}, {FPRate: 1e-300, Bytes: 1}, {FPRate: 1e-300, Bytes: 64}} {
		if _, fc, err := try(t, v, g, nil); err == nil {
			t.Errorf("%+v: a filter for %d keys, want an error: it has fewer bits than one key takes", g, fc.Keys)
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
			t.Errorf("%+v: a forecast for no keys", c.goal)
		}
		if c.goal.Bytes >= 1000 && (fc.Bytes < c.goal.Bytes/2 || fc.Bytes > c.goal.Bytes*2) {
			t.Errorf("%+v: it is to take %d bytes", c.goal, fc.Bytes)
		}
		ds := append(digests(1, int(min(fc.Keys, 100))), extreme...)
		addAll(f, ds)
		wantAll(t, f, ds, "extreme")
		wantPlain(t, f, f.Stats())
	}
}

// params: each documented parameter is taken from its least to its largest value,
// and kept; others are refused, and so are those of other names or types.
func params(t tb, v umbel.Kind) {
	goal := umbel.Goal{Keys: 1000, FPRate: 0.01}
	planned := make1(t, v, goal.Keys).State()
	for _, doc := range v.Params {
		wantAccepted(t, v, doc)
		f := mustNew(t, v, goal, umbel.Params{{Name: doc.Name}})
		wantState(t, f, planned, "with "+doc.Name+" = 0, to be planned")

		one := umbel.Param{Name: doc.Name, Value: value(doc, max(doc.Min, 1))}
		wantRefused(t, v, umbel.Params{one, one}, "a parameter given twice")
		wantRefused(t, v, umbel.Params{{Name: doc.Name, Value: value(doc, doc.Max*2)}}, "more than the largest value")
		if doc.Min > 1 {
			wantRefused(t, v, umbel.Params{{Name: doc.Name, Value: value(doc, doc.Min/2)}}, "less than the least value")
		}
		for _, x := range []float64{-1, math.NaN(), math.Inf(1), math.Inf(-1), doc.Min - 0.5} {
			if !(x >= doc.Min && x <= doc.Max && doc.Float) && x != 0 {
				wantRefused(t, v, umbel.Params{{Name: doc.Name, Value: umbel.Float(x)}}, "a bad number")
			}
		}
	}
	wantRefused(t, v, umbel.Params{{Name: "no-such-parameter", Value: umbel.Uint(1)}}, "an unknown parameter")
}

func value(doc umbel.ParamDoc, x float64) umbel.Number {
	switch {
	case doc.Float:
		return umbel.Float(x)
	case x >= 1<<64:
		return umbel.Uint(math.MaxUint64)
	}
	return umbel.Uint(uint64(x))
}

func wantRefused(t tb, v umbel.Kind, ps umbel.Params, what string) {
	t.Helper()
	for _, g := range []umbel.Goal{{Keys: 1000, FPRate: 0.01}, {Keys: 1000}, {}} {
		if _, _, err := try(t, v, g, ps); err == nil {
			t.Errorf("%s, %v with %+v: no error", what, ps, g)
		}
	}
}

// wantAccepted fails unless the least, the largest and other values in between are
// taken with some goal, and a filter made with a value has it in its state.
func wantAccepted(t tb, v umbel.Kind, doc umbel.ParamDoc) {
	t.Helper()
	goals := []umbel.Goal{{Keys: 1000, FPRate: 0.01}, {Keys: 1000}, {FPRate: 0.01}, {}, {Keys: 1, FPRate: 0.9}, {Keys: 1 << 50, FPRate: 0.01}}
	for i := range 9 {
		// From Min to Max by equal factors, from 1 if Min is 0.
		low := max(doc.Min, min(1, doc.Max))
		x := low * math.Pow(doc.Max/low, float64(i)/8)
		if !doc.Float {
			x = math.Floor(x)
		}
		p := umbel.Param{Name: doc.Name, Value: value(doc, x)}
		taken := false
		for _, g := range goals {
			f, fc, err := try(t, v, g, umbel.Params{p})
			taken = taken || err == nil
			if f == nil {
				continue
			}
			if kept, ok := f.State().Params.Get(doc.Name); ok && kept != p.Value {
				t.Errorf("made with %s = %v, the state has %v", doc.Name, p.Value, kept)
			}
			ds := digests(1, int(min(20, fc.Keys))) // more may be forgotten
			addAll(f, ds)
			wantAll(t, f, ds, "with a parameter")
		}
		if !taken {
			t.Errorf("%s = %v, of %v to %v, is taken with no goal", doc.Name, p.Value, doc.Min, doc.Max)
		}
	}
}

package filtertest

import (
	"math"
	"strings"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/internal/fixture"
)

// description: the kind's name and texts are suitable for lists and help texts.
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
			t.Errorf("%s from %v to %v, want the minimum first", p.Name, p.Min, p.Max)
		}
	}
	s := newFilter(t, v, sizes[0]).State()
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
		t.Errorf("%s is %q, want one line without a final period", what, doc)
	}
}

// badHashers are invalid hashers.
var badHashers = []umbel.Hasher{{Alg: 200}, {Alg: umbel.MD5, Seed: fixture.Seed(1, 0)}, {Seed: fixture.Seed(0, 1)}}

// hashers: a filter has the hasher of its goal. An invalid hasher is umbel.ErrGoal in a goal and
// umbel.ErrCorrupt in a state.
func hashers(t tb, v umbel.Kind) {
	g := umbel.Goal{Keys: 100, FPRate: 0.01, Hasher: umbel.Hasher{Alg: umbel.SipHash, Seed: fixture.Seed(1, 2)}}
	f := mustNew(t, v, g, nil)
	if h := f.State().Hasher; h != g.Hasher {
		t.Errorf("hasher %v, want the goal's hasher %v", h, g.Hasher)
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

// params: each documented parameter is accepted from its minimum to its maximum and appears in
// the state. Other values, unknown names and repeated names are refused.
func params(t tb, v umbel.Kind) {
	goal := umbel.Goal{Keys: 1000, FPRate: 0.01}
	planned := newFilter(t, v, goal.Keys).State()
	for _, doc := range v.Params {
		wantAccepted(t, v, doc)
		f := mustNew(t, v, goal, umbel.Params{{Name: doc.Name}})
		wantState(t, f, planned, "with "+doc.Name+" = 0, which leaves it to the plan")

		one := umbel.Param{Name: doc.Name, Value: value(doc, max(doc.Min, 1))}
		wantRefused(t, v, umbel.Params{one, one}, "a repeated parameter")
		wantRefused(t, v, umbel.Params{{Name: doc.Name, Value: value(doc, doc.Max*2)}}, "a value above the maximum")
		if doc.Min > 1 {
			wantRefused(t, v, umbel.Params{{Name: doc.Name, Value: value(doc, doc.Min/2)}}, "a value below the minimum")
		}
		for _, x := range []float64{-1, math.NaN(), math.Inf(1), math.Inf(-1), doc.Min - 0.5} {
			if !(x >= doc.Min && x <= doc.Max && doc.Float) && x != 0 {
				wantRefused(t, v, umbel.Params{{Name: doc.Name, Value: umbel.Float(x)}}, "an invalid number")
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

// wantAccepted fails unless the minimum, the maximum and values between them are each accepted
// with some goal. If the state has the parameter, it has the value with which the filter was
// made.
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
		accepted := false
		for _, g := range goals {
			f, fc, err := try(t, v, g, umbel.Params{p})
			accepted = accepted || err == nil
			if f == nil {
				continue
			}
			if kept, ok := f.State().Params.Get(doc.Name); ok && kept != p.Value {
				t.Errorf("made with %s = %v, but the state has %v", doc.Name, p.Value, kept)
			}
			ds := digests(1, int(min(20, fc.Keys))) // a filter that expires keys may expire more
			addAll(f, ds)
			wantAll(t, f, ds, "with a parameter")
		}
		if !accepted {
			t.Errorf("%s = %v, from %v to %v, is accepted with no goal", doc.Name, p.Value, doc.Min, doc.Max)
		}
	}
}

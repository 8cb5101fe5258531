package weighted_test

import (
	"errors"
	"math"
	"reflect"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/weighted"
)

// 1 % of the keys get 50 % of the queries.
var step = []weighted.Class{{Members: 99, Queries: 50}, {Members: 1, Queries: 50}}

// Any two of keys, rate and bytes determine the third, as in the forecast.
func TestPlanClasses(t *testing.T) {
	s, err := weighted.Plan(umbel.Goal{Keys: 100_000, FPRate: 0.01}, step...)
	if err != nil {
		t.Fatal(err)
	}
	plain, err := weighted.Plan(umbel.Goal{Keys: 100_000, FPRate: 0.01})
	if err != nil {
		t.Fatal(err)
	}
	fc := s.Forecast(100_000)
	if fc.FPRate > 0.01 || fc.FPRate < 0.0097 || s.Group != 6 {
		t.Errorf("the rate is %g in groups of 2^%d, want 0.01 and words", fc.FPRate, s.Group)
	}
	// For half of the queries the rate is nearly 0: log2 of 2 fewer cells, 1/ln 2 bits each.
	if saved := float64(plain.M-s.M) / 100_000; math.Abs(saved-1.33) > 0.1 {
		t.Errorf("%.2f bits a key less than a plain filter, want about 1.33", saved)
	}
	if s.Classes[1].K <= s.Classes[0].K+3 {
		t.Errorf("%+v: want many more cells in class 1", s.Classes)
	}
	sized, err := weighted.Plan(umbel.Goal{Keys: 100_000, Bytes: s.M / 8}, step...)
	if err != nil || sized.M != s.M || sized.Forecast(100_000) != fc {
		t.Errorf("from the bytes: %+v, %v; want %+v", sized, err, s)
	}
	room, err := weighted.Plan(umbel.Goal{FPRate: 0.01, Bytes: s.M / 8}, step...)
	if err != nil || room.M != s.M || room.Classes[0].K != s.Classes[0].K {
		t.Errorf("from rate and bytes: %+v, %v; want %+v", room, err, s)
	}
}

// TestPlanOfOneClass: a filter with one class equals a filter without classes.
func TestPlanOfOneClass(t *testing.T) {
	for _, g := range []umbel.Goal{{Keys: 5000, FPRate: 0.003}, {Keys: 5000, Bytes: 6000}, {FPRate: 0.01, Bytes: 800}, {Keys: 3, FPRate: 0.1}} {
		want, err := weighted.Plan(g)
		if err != nil {
			t.Fatal(err)
		}
		if s, err := weighted.Plan(g, step[0]); err != nil || !reflect.DeepEqual(s, want) {
			t.Errorf("%+v: %+v, %v; want %+v", g, s, err, want)
		}
	}
}

func TestPlanRefuses(t *testing.T) {
	good := umbel.Goal{Keys: 100, FPRate: 0.01}
	class := func(members, queries float64) weighted.Class {
		return weighted.Class{Members: members, Queries: queries}
	}
	for name, c := range map[string]struct {
		goal    umbel.Goal
		classes []weighted.Class
	}{
		"no goal":           {umbel.Goal{}, step},
		"keys alone":        {umbel.Goal{Keys: 5}, step},
		"nothing to weigh":  {good, []weighted.Class{class(1, 0), class(5, 0)}},
		"no members":        {good, []weighted.Class{class(0, 1), class(0, 1)}},
		"a negative weight": {good, []weighted.Class{class(1, 1), class(1, -1)}},
		"not a number":      {good, []weighted.Class{class(1, 1), class(math.NaN(), 1)}},
		"infinite":          {good, []weighted.Class{class(1, math.Inf(1)), class(1, 1)}},
		"65 classes":        {good, make([]weighted.Class, 65)},
		"too many bytes":    {umbel.Goal{Keys: 5, Bytes: 1 << 60}, step},
		"room for no key":   {umbel.Goal{FPRate: 1e-30, Bytes: 8}, step},
		"hasher":            {umbel.Goal{Keys: 5, FPRate: 0.1, Hasher: umbel.Hasher{Alg: 99}}, step},
	} {
		if s, err := weighted.Plan(c.goal, c.classes...); !errors.Is(err, umbel.ErrGoal) {
			t.Errorf("%s: %+v, %v; want an error that wraps %q", name, s, err, umbel.ErrGoal)
		}
	}
}

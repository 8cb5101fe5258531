package umbel_test

import (
	"math"
	"testing"

	"github.com/umbel-filters/umbel"
)

func TestNumber(t *testing.T) {
	for _, c := range []struct {
		n     umbel.Number
		float bool
		u     uint64
		f     float64
		s     string
	}{
		{umbel.Number{}, false, 0, 0, "0"},
		{umbel.Uint(7), false, 7, 7, "7"},
		{umbel.Uint(math.MaxUint64), false, math.MaxUint64, 1 << 64, "18446744073709551615"},
		{umbel.Float(0.01), true, math.Float64bits(0.01), 0.01, "0.01"},
		{umbel.Float(7), true, math.Float64bits(7), 7, "7"},
	} {
		if c.n.IsFloat() != c.float || c.n.Bits() != c.u || c.n.Float() != c.f || c.n.String() != c.s {
			t.Errorf("%#v: float %v, %d, %v, %q", c.n, c.n.IsFloat(), c.n.Bits(), c.n.Float(), c.n)
		}
	}
	if umbel.Uint(7) == umbel.Float(7) {
		t.Error("the whole number 7 equals the float 7")
	}
}

func TestParamsGet(t *testing.T) {
	ps := umbel.Params{{Name: "m", Value: umbel.Uint(1000)}, {Name: "rate", Value: umbel.Float(0.5)}, {Name: "zero"}}
	if n, ok := ps.Get("m"); !ok || n != umbel.Uint(1000) {
		t.Errorf("m is %v, %v", n, ok)
	}
	if n, ok := ps.Get("zero"); !ok || n != umbel.Uint(0) {
		t.Errorf("zero is %v, %v", n, ok)
	}
	for _, ps := range []umbel.Params{nil, ps} {
		if n, ok := ps.Get("k"); ok || n != (umbel.Number{}) {
			t.Errorf("k is %v, %v", n, ok)
		}
	}
	for name, want := range map[string]uint64{"m": 1000, "rate": 0, "zero": 0, "k": 0} {
		if got := ps.Uint(name); got != want {
			t.Errorf("Uint(%q) = %d, want %d", name, got, want)
		}
	}
}

func TestParamsUints(t *testing.T) {
	names := []string{"k", "group"}
	k, group := umbel.Param{Name: "k", Value: umbel.Uint(3)}, umbel.Param{Name: "group", Value: umbel.Uint(6)}
	var a, b uint64
	if err := (umbel.Params{k, group}).Uints(names, &a, &b); err != nil || a != 3 || b != 6 {
		t.Errorf("k = %d, group = %d, %v", a, b, err)
	}
	if err := (umbel.Params{}).Uints(nil); err != nil {
		t.Error(err)
	}
	for _, c := range []struct {
		name string
		ps   umbel.Params
		want string
	}{
		{"none", nil, "0 parameters, want 2 [k group]"},
		{"too few", umbel.Params{k}, "1 parameters, want 2"},
		{"too many", umbel.Params{k, group, k}, "3 parameters, want 2"},
		{"other order", umbel.Params{group, k}, `parameter 0 is "group" = 6, want a whole number "k"`},
		{"other name", umbel.Params{k, {Name: "size"}}, `parameter 1 is "size" = 0, want a whole number "group"`},
		{"a float", umbel.Params{k, {Name: "group", Value: umbel.Float(6)}}, `parameter 1 is "group" = 6, want a whole number`},
	} {
		t.Run(c.name, func(t *testing.T) {
			wantError(t, c.ps.Uints(names, &a, &b), umbel.ErrCorrupt, c.want)
		})
	}
}

func TestParamsCheck(t *testing.T) {
	docs := []umbel.ParamDoc{{Name: "k", Min: 1, Max: 16}, {Name: "rate", Min: 0.1, Max: 0.9, Float: true}}
	param := func(name string, n umbel.Number) umbel.Param { return umbel.Param{Name: name, Value: n} }
	for _, ps := range []umbel.Params{
		nil,
		{param("rate", umbel.Float(0.1)), param("k", umbel.Uint(16))},
		{param("k", umbel.Uint(0)), param("rate", umbel.Uint(0))},
	} {
		if err := ps.Check("bloom", docs); err != nil {
			t.Errorf("%v: %v", ps, err)
		}
	}
	for _, c := range []struct {
		name string
		ps   umbel.Params
		want string
	}{
		{"unknown", umbel.Params{param("m", umbel.Uint(1))}, `a filter of kind bloom has no parameter "m", it takes k, rate`},
		{"twice", umbel.Params{param("k", umbel.Uint(1)), param("k", umbel.Uint(1))}, `"k" is given twice`},
		{"too large", umbel.Params{param("k", umbel.Uint(17))}, "k of kind bloom is 17, want 1 to 16"},
		{"far too large", umbel.Params{param("k", umbel.Uint(math.MaxUint64))}, "want 1 to 16"},
		{"too small", umbel.Params{param("rate", umbel.Float(0.05))}, "rate of kind bloom is 0.05, want 0.1 to 0.9"},
		{"negative", umbel.Params{param("rate", umbel.Float(-0.5))}, "is -0.5"},
		{"not a number", umbel.Params{param("rate", umbel.Float(math.NaN()))}, "is NaN"},
		{"not whole", umbel.Params{param("k", umbel.Float(2.5))}, "k of kind bloom is 2.5, want a whole number"},
		{"whole, but a float", umbel.Params{param("k", umbel.Float(2))}, "want a whole number"},
	} {
		t.Run(c.name, func(t *testing.T) {
			wantError(t, c.ps.Check("bloom", docs), umbel.ErrGoal, c.want)
			v := umbel.Kind{Name: "bloom", Params: docs}
			wantError(t, v.Check(c.ps), umbel.ErrGoal, c.want)
		})
	}
	wantError(t, umbel.Params{param("k", umbel.Uint(1))}.Check("plain", nil), umbel.ErrGoal, `a filter of kind plain takes no parameters, got "k"`)
}

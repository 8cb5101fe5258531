package imported_test

import (
	"math"
	"slices"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/filtertest"
	"github.com/umbel-filters/umbel/filter/foreign/imported"
)

var (
	_ umbel.AtomicAdder = (*imported.Filter)(nil)
	_ umbel.Clearer     = (*imported.Filter)(nil)
	_ umbel.Locator     = (*imported.Filter)(nil)
	_ umbel.Merger      = (*imported.Filter)(nil)
)

func TestKind(t *testing.T) { filtertest.Run(t, imported.Kind) }
func FuzzOpen(f *testing.F) { filtertest.Fuzz(f, imported.Kind) }
func TestZero(t *testing.T) {
	filtertest.Zero(t, imported.Kind, func() umbel.Filter { return new(imported.Filter) })
}

// TestForms: the laws hold for each form.
func TestForms(t *testing.T) {
	for form := imported.Guava64; form <= imported.Blobloom; form++ {
		t.Run(form.String(), func(t *testing.T) { filtertest.Run(t, ofForm(form)) })
	}
}

// ofForm is the kind with another default form.
func ofForm(form imported.Form) umbel.Kind {
	k := imported.Kind
	k.Params = slices.Clone(k.Params)
	if form == imported.Blobloom { // with its own ranges
		k.Params[1].Min, k.Params[1].Max = 512, 64*math.MaxInt32/512*512
		k.Params[2].Min = 2
	}
	with := func(ps umbel.Params) umbel.Params {
		if ps.Uint("form") != 0 {
			return ps
		}
		ps = slices.DeleteFunc(slices.Clone(ps), func(p umbel.Param) bool { return p.Name == "form" && p.Value == umbel.Uint(0) })
		return append(umbel.Params{{Name: "form", Value: umbel.Uint(uint64(form))}}, ps...)
	}
	plan, shape, make := k.Plan, k.Shape, k.New
	k.Plan = func(g umbel.Goal, ps umbel.Params) (umbel.Forecast, error) { return plan(g, with(ps)) }
	k.Shape = func(g umbel.Goal, ps umbel.Params) (umbel.Shape, uint64, error) { return shape(g, with(ps)) }
	k.New = func(g umbel.Goal, ps umbel.Params) (umbel.Filter, error) { return make(g, with(ps)) }
	return k
}

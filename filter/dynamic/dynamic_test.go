package dynamic_test

import (
	"encoding"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/dynamic"
	"github.com/umbel-filters/umbel/filter/filtertest"
)

type all interface {
	umbel.Filter
	umbel.Grower
	umbel.GrowthForecaster
	umbel.Merger
	umbel.Clearer
	umbel.BatchQuerier
	umbel.BatchAdder
	encoding.BinaryMarshaler
	encoding.BinaryUnmarshaler
}

var (
	_ all           = (*dynamic.Filter)(nil)
	_ all           = (*dynamic.Counting)(nil)
	_ umbel.Remover = (*dynamic.Counting)(nil)
	_ umbel.Counter = (*dynamic.Counting)(nil)
)

// removable is the kind with counters as the default.
var removable = func() umbel.Kind {
	v := dynamic.Kind
	counters := func(ps umbel.Params) umbel.Params {
		if n, given := ps.Get("width"); given && n != umbel.Uint(0) {
			return ps
		}
		ps = slices.DeleteFunc(slices.Clone(ps), func(p umbel.Param) bool { return p.Name == "width" })
		return append(ps, umbel.Param{Name: "width", Value: umbel.Uint(4)})
	}
	v.Plan = func(g umbel.Goal, ps umbel.Params) (umbel.Forecast, error) {
		return dynamic.Kind.Plan(g, counters(ps))
	}
	v.Shape = func(g umbel.Goal, ps umbel.Params) (umbel.Shape, uint64, error) {
		return dynamic.Kind.Shape(g, counters(ps))
	}
	v.New = func(g umbel.Goal, ps umbel.Params) (umbel.Filter, error) { return dynamic.Kind.New(g, counters(ps)) }
	return v
}()

func TestKind(t *testing.T)     { filtertest.Run(t, dynamic.Kind) }
func TestCounting(t *testing.T) { filtertest.Run(t, removable) }

func FuzzOpen(f *testing.F)         { filtertest.Fuzz(f, dynamic.Kind) }
func FuzzOpenCounting(f *testing.F) { filtertest.Fuzz(f, removable) }

func TestZero(t *testing.T) {
	filtertest.Zero(t, dynamic.Kind, func() umbel.Filter { return new(dynamic.Filter) })
	filtertest.Zero(t, removable, func() umbel.Filter { return new(dynamic.Counting) })
}

// A filter of the other form is an error that names the function for it, and not corrupt.
func TestOtherForm(t *testing.T) {
	counters, err := dynamic.NewCounting(100, 0.01)
	if err != nil {
		t.Fatal(err)
	}
	bits, err := dynamic.New(100, 0.01)
	if err != nil {
		t.Fatal(err)
	}
	_, errBits := dynamic.Open(counters.State())
	_, errCounters := dynamic.OpenCounting(bits.State())
	for want, err := range map[string]error{"OpenCounting": errBits, "with Open": errCounters} {
		if !errors.Is(err, umbel.ErrKind) || errors.Is(err, umbel.ErrCorrupt) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want an error that names %s", err, want)
		}
	}
}

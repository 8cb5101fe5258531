package folding_test

import (
	"encoding"
	"slices"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/filtertest"
	"github.com/umbel-filters/umbel/filter/folding"
)

var (
	_ umbel.Filter               = (*folding.Filter)(nil)
	_ umbel.Merger               = (*folding.Filter)(nil)
	_ umbel.Clearer              = (*folding.Filter)(nil)
	_ umbel.BatchQuerier         = (*folding.Filter)(nil)
	_ umbel.Grower               = (*folding.Filter)(nil)
	_ umbel.Remover              = (*folding.Counting)(nil)
	_ umbel.Counter              = (*folding.Counting)(nil)
	_ encoding.BinaryMarshaler   = (*folding.Filter)(nil)
	_ encoding.BinaryUnmarshaler = (*folding.Filter)(nil)
	_ encoding.BinaryUnmarshaler = (*folding.Counting)(nil)
)

func TestKind(t *testing.T) { filtertest.Run(t, folding.Kind) }

// onCounters is the kind with a base of counters as the default.
func onCounters() umbel.Kind {
	v := folding.Kind
	with := func(ps umbel.Params) umbel.Params {
		if w, ok := ps.Get("width"); ok && w != umbel.Uint(0) {
			return ps
		}
		ps = slices.DeleteFunc(slices.Clone(ps), func(p umbel.Param) bool { return p.Name == "width" && p.Value == umbel.Uint(0) })
		return append(ps, umbel.Param{Name: "width", Value: umbel.Uint(4)})
	}
	v.Plan = func(g umbel.Goal, ps umbel.Params) (umbel.Forecast, error) { return folding.Kind.Plan(g, with(ps)) }
	v.Shape = func(g umbel.Goal, ps umbel.Params) (umbel.Shape, uint64, error) {
		return folding.Kind.Shape(g, with(ps))
	}
	v.New = func(g umbel.Goal, ps umbel.Params) (umbel.Filter, error) { return folding.Kind.New(g, with(ps)) }
	return v
}

func TestCountingVariant(t *testing.T) { filtertest.Run(t, onCounters()) }

func FuzzOpen(f *testing.F) { filtertest.Fuzz(f, folding.Kind) }

func FuzzOpenCounting(f *testing.F) { filtertest.Fuzz(f, onCounters()) }

func TestZero(t *testing.T) {
	filtertest.Zero(t, folding.Kind, func() umbel.Filter { return new(folding.Filter) })
	filtertest.Zero(t, onCounters(), func() umbel.Filter { return new(folding.Counting) })
}

package union_test

import (
	"encoding"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/filtertest"
	"github.com/umbel-filters/umbel/filter/union"
)

var _ interface {
	umbel.Filter
	umbel.Grower
	umbel.GrowthForecaster
	umbel.Merger
	umbel.BatchQuerier
	encoding.BinaryMarshaler
	encoding.BinaryUnmarshaler
} = (*union.Filter)(nil)

func TestKind(t *testing.T) { filtertest.Run(t, union.Kind) }

func FuzzOpen(f *testing.F) { filtertest.Fuzz(f, union.Kind) }

func TestZero(t *testing.T) {
	filtertest.Zero(t, union.Kind, func() umbel.Filter { return new(union.Filter) })
}

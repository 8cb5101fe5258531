package ribbon_test

import (
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/filtertest"
	"github.com/umbel-filters/umbel/filter/ribbon"
)

var (
	_ umbel.BatchQuerier = (*ribbon.Filter)(nil)
	_ umbel.Clearer      = (*ribbon.Filter)(nil)
	_ umbel.Sealer       = (*ribbon.Filter)(nil)
)

func TestKind(t *testing.T) { filtertest.Run(t, ribbon.Kind) }

func FuzzOpen(f *testing.F) { filtertest.Fuzz(f, ribbon.Kind) }

func TestZero(t *testing.T) {
	filtertest.Zero(t, ribbon.Kind, func() umbel.Filter { return new(ribbon.Filter) })
}

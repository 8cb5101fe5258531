package ribbon_test

import (
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/filtertest"
	"github.com/umbel-filters/umbel/filter/ribbon"
)

var (
	_ umbel.BatchHaser = (*ribbon.Filter)(nil)
	_ umbel.Clearer    = (*ribbon.Filter)(nil)
	_ umbel.Sealer     = (*ribbon.Filter)(nil)
)

func TestVariant(t *testing.T) { filtertest.Run(t, ribbon.Variant) }

func FuzzOpen(f *testing.F) { filtertest.Fuzz(f, ribbon.Variant) }

func TestZero(t *testing.T) {
	filtertest.Zero(t, ribbon.Variant, func() umbel.Filter { return new(ribbon.Filter) })
}

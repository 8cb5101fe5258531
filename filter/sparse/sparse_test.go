package sparse_test

import (
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/filtertest"
	"github.com/umbel-filters/umbel/filter/sparse"
)

var (
	_ umbel.Merger     = (*sparse.Filter)(nil)
	_ umbel.Folder     = (*sparse.Filter)(nil)
	_ umbel.Clearer    = (*sparse.Filter)(nil)
	_ umbel.Lister     = (*sparse.Filter)(nil)
	_ umbel.BatchHaser = (*sparse.Filter)(nil)
	_ umbel.BatchAdder = (*sparse.Filter)(nil)
)

func TestVariant(t *testing.T) { filtertest.Run(t, sparse.Variant) }

func TestZero(t *testing.T) {
	filtertest.Zero(t, sparse.Variant, func() umbel.Filter { return new(sparse.Filter) })
}

func FuzzOpen(f *testing.F) { filtertest.Fuzz(f, sparse.Variant) }

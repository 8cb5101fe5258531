package sparse_test

import (
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/filtertest"
	"github.com/umbel-filters/umbel/filter/sparse"
)

var (
	_ umbel.Merger         = (*sparse.Filter)(nil)
	_ umbel.Folder         = (*sparse.Filter)(nil)
	_ umbel.Clearer        = (*sparse.Filter)(nil)
	_ umbel.PositionLister = (*sparse.Filter)(nil)
	_ umbel.BatchQuerier   = (*sparse.Filter)(nil)
	_ umbel.BatchAdder     = (*sparse.Filter)(nil)
)

func TestKind(t *testing.T) { filtertest.Run(t, sparse.Kind) }

func TestZero(t *testing.T) {
	filtertest.Zero(t, sparse.Kind, func() umbel.Filter { return new(sparse.Filter) })
}

func FuzzOpen(f *testing.F) { filtertest.Fuzz(f, sparse.Kind) }

package nixbloom_test

import (
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/filtertest"
	"github.com/umbel-filters/umbel/filter/foreign/nixbloom"
)

var (
	_ umbel.AtomicAdder      = (*nixbloom.Filter)(nil)
	_ umbel.AtomicBatchAdder = (*nixbloom.Filter)(nil)
	_ umbel.BatchAdder       = (*nixbloom.Filter)(nil)
	_ umbel.BatchQuerier     = (*nixbloom.Filter)(nil)
	_ umbel.Clearer          = (*nixbloom.Filter)(nil)
	_ umbel.Folder           = (*nixbloom.Filter)(nil)
	_ umbel.Locator          = (*nixbloom.Filter)(nil)
	_ umbel.Merger           = (*nixbloom.Filter)(nil)
)

func TestKind(t *testing.T) { filtertest.Run(t, nixbloom.Kind) }
func FuzzOpen(f *testing.F) { filtertest.Fuzz(f, nixbloom.Kind) }
func TestZero(t *testing.T) {
	filtertest.Zero(t, nixbloom.Kind, func() umbel.Filter { return new(nixbloom.Filter) })
}

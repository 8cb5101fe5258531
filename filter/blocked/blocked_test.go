package blocked_test

import (
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/blocked"
	"github.com/umbel-filters/umbel/filter/filtertest"
)

var (
	_ umbel.AtomicAdder      = (*blocked.Filter)(nil)
	_ umbel.AtomicBatchAdder = (*blocked.Filter)(nil)
	_ umbel.BatchAdder       = (*blocked.Filter)(nil)
	_ umbel.BatchHaser       = (*blocked.Filter)(nil)
	_ umbel.Clearer          = (*blocked.Filter)(nil)
	_ umbel.Folder           = (*blocked.Filter)(nil)
	_ umbel.Locator          = (*blocked.Filter)(nil)
	_ umbel.Merger           = (*blocked.Filter)(nil)
)

func TestVariant(t *testing.T) { filtertest.Run(t, blocked.Variant) }

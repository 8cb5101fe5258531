package partitioned

import (
	"testing"

	"github.com/umbel-filters/umbel/filter/filtertest"
)

func TestVariant(t *testing.T) { filtertest.Run(t, Variant) }

package cuckoo

import (
	"testing"

	"github.com/umbel-filters/umbel/filter/filtertest"
)

func TestKind(t *testing.T) { filtertest.Run(t, Kind) }

func FuzzOpen(f *testing.F) { filtertest.Fuzz(f, Kind) }

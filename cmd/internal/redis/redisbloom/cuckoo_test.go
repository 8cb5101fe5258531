package redisbloom

import (
	"testing"

	"github.com/umbel-filters/umbel/filter/filtertest"
)

func TestCuckooKind(t *testing.T) { filtertest.Run(t, CuckooKind) }

func FuzzCuckooOpen(f *testing.F) { filtertest.Fuzz(f, CuckooKind) }

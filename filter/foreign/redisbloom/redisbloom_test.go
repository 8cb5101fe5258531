package redisbloom_test

import (
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/filtertest"
	"github.com/umbel-filters/umbel/filter/foreign/redisbloom"
)

var (
	_ umbel.Merger           = (*redisbloom.Filter)(nil)
	_ umbel.Folder           = (*redisbloom.Filter)(nil)
	_ umbel.Clearer          = (*redisbloom.Filter)(nil)
	_ umbel.Grower           = (*redisbloom.Filter)(nil)
	_ umbel.GrowthForecaster = (*redisbloom.Filter)(nil)
)

func TestKind(t *testing.T) { filtertest.Run(t, redisbloom.Kind) }
func FuzzOpen(f *testing.F) { filtertest.Fuzz(f, redisbloom.Kind) }
func TestZero(t *testing.T) {
	filtertest.Zero(t, redisbloom.Kind, func() umbel.Filter { return new(redisbloom.Filter) })
}

package window_test

import (
	"encoding"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/filtertest"
	"github.com/umbel-filters/umbel/filter/window"
)

var (
	_ umbel.Filter               = (*window.Filter)(nil)
	_ umbel.Advancer             = (*window.Filter)(nil)
	_ umbel.Grower               = (*window.Filter)(nil)
	_ umbel.Merger               = (*window.Filter)(nil)
	_ umbel.Clearer              = (*window.Filter)(nil)
	_ encoding.BinaryMarshaler   = (*window.Filter)(nil)
	_ encoding.BinaryUnmarshaler = (*window.Filter)(nil)
)

func TestKind(t *testing.T) { filtertest.Run(t, window.Kind) }

func TestZero(t *testing.T) {
	filtertest.Zero(t, window.Kind, func() umbel.Filter { return new(window.Filter) })
}

func FuzzOpen(f *testing.F) { filtertest.Fuzz(f, window.Kind) }

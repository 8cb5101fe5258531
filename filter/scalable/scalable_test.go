package scalable_test

import (
	"encoding"
	"fmt"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/filtertest"
	"github.com/umbel-filters/umbel/filter/scalable"
)

var (
	_ umbel.Filter               = (*scalable.Filter)(nil)
	_ umbel.Grower               = (*scalable.Filter)(nil)
	_ umbel.GrowthForecaster     = (*scalable.Filter)(nil)
	_ umbel.Merger               = (*scalable.Filter)(nil)
	_ umbel.Clearer              = (*scalable.Filter)(nil)
	_ umbel.BatchQuerier         = (*scalable.Filter)(nil)
	_ umbel.BatchAdder           = (*scalable.Filter)(nil)
	_ encoding.BinaryMarshaler   = (*scalable.Filter)(nil)
	_ encoding.BinaryUnmarshaler = (*scalable.Filter)(nil)
)

func TestKind(t *testing.T) { filtertest.Run(t, scalable.Kind) }

func FuzzOpen(f *testing.F) { filtertest.Fuzz(f, scalable.Kind) }

func TestZero(t *testing.T) {
	filtertest.Zero(t, scalable.Kind, func() umbel.Filter { return new(scalable.Filter) })
}

// The description of a filter has rates, not their logarithms.
func TestDescription(t *testing.T) {
	f, err := scalable.New(1000, 0.01)
	if err != nil {
		t.Fatal(err)
	}
	const want = "scalable.Filter{Slice:1536 First:0.0015 Tightening:0.85 Growth:2 MaxBytes:0 Hasher:xxh3}"
	if fmt.Sprint(f) != want {
		t.Errorf("%v, want %s", f, want)
	}
}

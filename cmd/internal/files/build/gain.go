package build

import (
	"slices"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/filter/weighted"
)

// Gain compares a weighted filter with a plain one: of kind bloom, or counting if the weighted filter counts.
type Gain struct {
	TableKeys  int    // keys in the table of frequent keys
	TableBytes uint64 // memory of the table, part of the filter's bytes
	// Relative is the false-positive rate of queries distributed as in the log, divided by the rate of a
	// plain filter of the same bytes including the table. Both are expected with the planned keys.
	Relative float64
}

// Worthless reports whether a plain filter of the same bytes has at most as many false positives, or
// less than a thousandth more.
func (g Gain) Worthless() bool { return g.Relative > 0.999 }

// gainOf returns the gain of a shape of [Order.shape]. No key of its table is present, so that all
// present keys set the cells of class 0.
func gainOf(s weighted.Shape, forecast umbel.Forecast) *Gain {
	g := &Gain{TableKeys: len(s.Hot), TableBytes: uint64(len(s.Hot)) * 8, Relative: 1}
	// As many cells as fit into the bytes have the rate of a plain filter of bits.
	plain, err := bloom.Plan(umbel.Goal{Keys: forecast.Keys, Bytes: max(forecast.Bytes/uint64(max(s.Width, 1)), 1)})
	rate := plain.Forecast(forecast.Keys).FPRate
	if err != nil || rate == 0 {
		return g // without keys neither has false positives
	}
	s.Classes = slices.Clone(s.Classes)
	for i := range s.Classes {
		s.Classes[i].Members = 0
	}
	s.Classes[0].Members = 1
	g.Relative = s.Forecast(forecast.Keys).FPRate / rate
	return g
}

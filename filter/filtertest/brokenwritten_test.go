package filtertest

import (
	"fmt"
	"math"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/bloom"
)

// openFrom is the kind bloom whose Open refuses filters of fewer cells, which New makes.
func openFrom(cells uint64) func() umbel.Kind {
	return change(func(v *umbel.Kind) {
		v.Open = func(s umbel.State) (umbel.Filter, error) {
			if len(s.Arrays) > 0 && s.Arrays[0].Len < cells {
				return nil, fmt.Errorf("%d cells, want at least %d: %w", s.Arrays[0].Len, cells, umbel.ErrCorrupt)
			}
			return bloom.Kind.Open(s)
		}
	})
}

// fragile panics in Stats of a filter with few keys.
type fragile struct{ *bloom.Filter }

func (f *fragile) Stats() umbel.Stats {
	s := f.Filter.Stats()
	if s.Keys > 0 && s.Keys < 2 {
		panic("too few keys")
	}
	return s
}

// endless is a shape whose forecast is not a number for many keys.
type endless struct{ umbel.Shape }

func (s endless) Forecast(n uint64) umbel.Forecast {
	fc := s.Shape.Forecast(n)
	if n > 1<<62 {
		fc.FPRate = math.NaN()
	}
	return fc
}

package umbel

import "fmt"

// Goal is what is wanted of a filter before it is made. Two of Keys, FPRate and
// Bytes are given, the third is zero and follows; kinds say which pairs they take.
type Goal struct {
	Keys   uint64  // distinct keys the filter will hold
	FPRate float64 // false-positive rate when it holds them, in (0, 1)
	Bytes  uint64  // memory for the cells
	Hasher Hasher  // zero value: XXH3-128
}

// Check returns an error that wraps [ErrGoal] unless exactly two of Keys, FPRate
// and Bytes are given, the rate lies inside (0, 1) and the hasher is one.
func (g Goal) Check() error {
	given := 0
	for _, b := range []bool{g.Keys != 0, g.FPRate != 0, g.Bytes != 0} {
		if b {
			given++
		}
	}
	if !(g.FPRate == 0 || g.FPRate > 0 && g.FPRate < 1) {
		return fmt.Errorf("umbel: false-positive rate %v must lie between 0 and 1, both excluded: %w", g.FPRate, ErrGoal)
	}
	if given != 2 {
		return fmt.Errorf("umbel: give two of keys, false-positive rate and bytes, got %d: %w", given, ErrGoal)
	}
	if err := g.Hasher.Check(); err != nil {
		return fmt.Errorf("%w: %w", err, ErrGoal)
	}
	return nil
}

// Forecast is what a filter will be once it holds the keys of its goal.
type Forecast struct {
	Keys   uint64  // distinct keys it will hold
	FPRate float64 // expected false-positive rate then
	Cells  uint64  // size of its planes together, in cells
	Bytes  uint64  // memory of its planes
	K      float64 // cells set per key, on average over kinds with classes
}

// Stats is what is measured of a filter now.
type Stats struct {
	Keys   float64 // estimate of the number of distinct keys; +Inf when the filter is full
	Low    float64 // with probability 0.95 Keys lies between Low and High
	High   float64
	Fill   float64 // nonzero cells / cells, in [0, 1]
	FPRate float64 // estimated false-positive rate at this fill
	Cells  uint64
	K      float64 // cells set per key
	Bytes  uint64  // memory of the planes
}

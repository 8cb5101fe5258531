package umbel

import "fmt"

// Goal is the requirements of a filter that is to be made: two of Keys, FPRate and Bytes.
// The third is zero and is planned. Each kind documents the pairs that it accepts.
type Goal struct {
	Keys   uint64  // distinct keys that the filter will contain
	FPRate float64 // false-positive rate with these keys, in (0, 1)
	Bytes  uint64  // memory for the cells
	Hasher Hasher  // zero value: XXH3-128 without a seed
}

// Check returns an error wrapping [ErrGoal] unless exactly two of Keys, FPRate and Bytes
// are given, the rate is in (0, 1), and the hasher is valid.
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

// Forecast describes a filter when it contains the keys of its goal.
type Forecast struct {
	Keys   uint64  // distinct keys
	FPRate float64 // expected false-positive rate with them
	Cells  uint64  // cells of all arrays
	Bytes  uint64  // memory of all arrays
	K      float64 // cells set per key, on average over classes
}

// Stats is what [Filter].Stats measures.
type Stats struct {
	Keys   float64 // estimated number of distinct keys; +Inf if all cells are set
	Low    float64 // Keys is between Low and High with probability 0.95
	High   float64
	Fill   float64 // fill ratio: nonzero cells / cells, in [0, 1]
	FPRate float64 // estimated false-positive rate at this fill ratio
	Cells  uint64
	K      float64 // cells set per key
	Bytes  uint64  // memory of all arrays
}

package plan

import (
	"fmt"
	"math"
)

// DefaultMaxK is the most cells per key that a [Search] tries if nothing else is
// said.
const DefaultMaxK = 16

// Search looks for the number m of cells and the number k of cells per key of a filter
// that is sent. What counts then is not m but the size after compression, and fewer
// cells per key in a larger and sparser array are better in both size and rate, as
// long as receivers have the memory: Mitzenmacher 2002, sections II and III. Zero
// fields are free.
//
// With a given k the size rises and the rate falls with m, so for each k it bisects;
// over k there is more than one optimum, and all are tried.
//
// Where k is so large that more than half of the cells are ones the filter compresses
// too. With a tight limit on cells and k without bound that is what an optimum is: 8
// bits a key and at most 16 cells give k=35 with 15.9 cells and a rate of .0163, where
// k=2 has .0170 with 14.3. So k has a limit, and without Dense it is also at most
// [BestK] of the m cells.
type Search struct {
	Keys  uint64  // distinct keys, at least 1
	Cells uint64  // at most so many cells, 0 for no limit but 2^63
	MaxK  int     // at most so many cells per key, 0 for [DefaultMaxK]
	Dense bool    // allow a k above the best one of that size
	Churn float64 // share of keys replaced between two versions: what is sent is a delta; 0 for whole filters
	XOR   bool    // a delta is the exclusive-or, see [XORDeltaBits]; else [DeltaBits]
	Tail  float64 // chance to exceed the size, of whole messages; 0: the size is the mean of an ideal code
}

// Found is what a [Search] found.
type Found struct {
	M      uint64  // cells
	K      int     // cells set per key
	Bits   float64 // size of what is sent
	FPRate float64 // with all the keys
}

// LeastRate returns the filter with the least false-positive rate of those that
// are sent with at most so many bits; of several the one with the least k.
//
// The error wraps [ErrRange] if a field is outside its range, or no filter is sent with
// so few bits.
func (s Search) LeastRate(bits float64) (Found, error) {
	if err := s.check(); err != nil {
		return Found{}, err
	}
	best := Found{FPRate: math.Inf(1)}
	var reason error
	for k := 1; k <= s.maxK(); k++ {
		f, err := s.largest(k, bits)
		if err != nil {
			reason = err
			continue
		}
		if f.FPRate < best.FPRate && (s.Dense || k <= BestK(f.M, s.Keys)) {
			best = f
		}
	}
	if best.M == 0 {
		return Found{}, reason
	}
	return best, nil
}

// LeastSent returns the filter that is sent with the fewest bits of those with a
// false-positive rate of at most p; of several the one with the least k.
//
// The error wraps [ErrRange] if a field or p is outside its range, or no filter within
// the limits has that rate.
func (s Search) MinBits(p float64) (Found, error) {
	if err := s.check(); err != nil {
		return Found{}, err
	}
	if err := checkGoal(s.Keys, p); err != nil {
		return Found{}, err
	}
	best := Found{Bits: math.Inf(1)}
	for k := 1; k <= s.maxK(); k++ {
		m, err := SizeForK(s.Keys, k, p)
		if err != nil || m > s.cells() || !s.Dense && k > BestK(m, s.Keys) {
			continue
		}
		if bits := s.bits(m, k); bits < best.Bits {
			best = Found{m, k, bits, FPRate(m, k, s.Keys)}
		}
	}
	if best.M == 0 {
		return Found{}, fmt.Errorf("plan: %d keys at a false-positive rate of %v need more than %d cells with up to %d per key; "+
			"allow more of either or a higher rate: %w", s.Keys, p, s.cells(), s.maxK(), ErrRange)
	}
	return best, nil
}

// largest returns the filter with k cells per key and the most cells of those that
// are sent with at most so many bits.
func (s Search) largest(k int, bits float64) (Found, error) {
	if err := s.check(); err != nil {
		return Found{}, err
	}
	m := s.cells()
	if over, some := least(m, func(m uint64) bool { return !(s.bits(m, k) <= bits) }); some {
		m = over - 1
	}
	if m == 0 {
		return Found{}, fmt.Errorf("plan: no filter of %d keys with %d cells per key is sent with %.0f bits, the least takes %.0f; allow more: %w",
			s.Keys, k, bits, s.bits(1, k), ErrRange)
	}
	return Found{m, k, s.bits(m, k), FPRate(m, k, s.Keys)}, nil
}

// bits returns the size of what is sent of a filter.
func (s Search) bits(m uint64, k int) float64 {
	switch {
	case s.Churn == 0 && s.Tail == 0:
		return WireBits(m, k, s.Keys)
	case s.Churn == 0:
		return SnapshotBits(m, k, s.Keys, s.Tail)
	case s.Tail == 0 && s.XOR:
		return XORDeltaBits(m, k, s.Keys, s.Churn)
	case s.Tail == 0:
		return DeltaBits(m, k, s.Keys, s.Churn)
	case s.XOR:
		return delta{XORDeltaBits(m, k, s.Keys, s.Churn), XORDeltaDeviation(m, k, s.Keys, s.Churn), float64(m) / BlockCells, 0}.message(s.Tail)
	}
	return UpdateBits(m, k, s.Keys, s.Churn, s.Tail)
}

func (s Search) cells() uint64 {
	if s.Cells == 0 {
		return maxCells
	}
	return min(s.Cells, maxCells)
}

func (s Search) maxK() int {
	if s.MaxK == 0 {
		return DefaultMaxK
	}
	return s.MaxK
}

// check returns an error that wraps ErrRange if a field is outside its range.
func (s Search) check() error {
	switch {
	case s.Keys == 0:
		return fmt.Errorf("plan: 0 keys, want at least 1; give the number of keys the filter will hold: %w", ErrRange)
	case s.MaxK < 0:
		return fmt.Errorf("plan: at most %d cells per key, want 1 or more, or 0 for %d: %w", s.MaxK, DefaultMaxK, ErrRange)
	case !(s.Churn >= 0 && s.Churn <= 1):
		return fmt.Errorf("plan: churn %v, want a share of the keys from 0 to 1: %w", s.Churn, ErrRange)
	case !(s.Tail >= 0 && s.Tail < 1):
		return fmt.Errorf("plan: chance %v to exceed the size, want more than 0 and less than 1: %w", s.Tail, ErrRange)
	}
	return nil
}

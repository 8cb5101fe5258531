package plan

import (
	"math"

	"github.com/umbel-filters/umbel/internal/planning"
	"github.com/umbel-filters/umbel/internal/sentinel"
)

// defaultMaxK is the largest number of cells per key that a [CompressedSearch] tries if the caller
// gives none.
const defaultMaxK = 16

// CompressedSearch looks for the number m of cells and the number k of cells per key of a filter
// that is sent compressed. The size after compression then counts instead of m, and fewer cells
// per key in a larger and sparser array are better in both size and rate, if receivers have the
// memory: Mitzenmacher 2002, sections II and III. A field that is zero sets no limit.
//
// For a given k the size rises and the rate falls with m, so for each k it bisects. Over k there
// is more than one optimum, and it tries all.
//
// If k is so large that more than half of the cells are ones, the filter compresses too. With few
// cells allowed and an unlimited k that can be optimal: for 8 bits per key and at most 16 cells
// per key, k=35 with 15.9 cells has a rate of .0163, and k=2 with 14.3 cells .0170. Therefore k
// is limited, without Dense also to [BestK] of the m cells.
type CompressedSearch struct {
	Keys  uint64 // distinct keys, at least 1
	Cells uint64 // the most cells, 0 for 2^63
	MaxK  int    // the most cells per key, 0 for 16
	Dense bool   // allow a k above the best one of that size

	// PowerOfTwo permits only numbers of cells that are powers of two: Mitzenmacher 2002, section III, mentions
	// the restriction. The search then returns the best of these.
	PowerOfTwo bool

	// Bits returns the size of what is sent, which for each k must not fall with the number of cells: of a
	// whole message, of a delta, or if it is nil the mean of [Filter.WireBits].
	Bits func(f Filter) float64
}

// MinFPRate returns the filter with the lowest false-positive rate of those that are sent with at
// most bits bits; of several the one with the smallest k.
//
// It returns an error wrapping [ErrRange] if a field is outside its range, or no filter is sent
// with so few bits.
func (s CompressedSearch) MinFPRate(bits float64) (Filter, error) {
	if err := s.check(); err != nil {
		return Filter{}, err
	}
	var best Filter
	least := math.Inf(1) // the rate of best
	var reason error
	for k := 1; k <= s.maxK(); k++ {
		f, err := s.largest(k, bits)
		if err != nil {
			reason = err
			continue
		}
		if rate := f.FPRate(s.Keys); rate < least && (s.Dense || k <= BestK(f.M, s.Keys)) {
			best, least = f, rate
		}
	}
	if best.M == 0 {
		return Filter{}, reason
	}
	return best, nil
}

// MinBits returns the filter that is sent with the fewest bits of those with a false-positive rate
// of at most p; of several the one with the smallest k.
//
// It returns an error wrapping [ErrRange] if a field or p is outside its range, or no filter within
// the limits has that rate.
func (s CompressedSearch) MinBits(p float64) (Filter, error) {
	if err := s.check(); err != nil {
		return Filter{}, err
	}
	if err := planning.CheckGoal(s.Keys, p); err != nil {
		return Filter{}, err
	}
	var best Filter
	least := math.Inf(1) // the bits of best
	for k := 1; k <= s.maxK(); k++ {
		m, err := SizeForK(s.Keys, k, p)
		if s.PowerOfTwo {
			m = planning.PowerOfTwo(m, true)
		}
		if err != nil || m > s.cells() || !s.Dense && k > BestK(m, s.Keys) {
			continue
		}
		if bits := s.bits(Filter{m, k}); bits < least {
			best, least = Filter{m, k}, bits
		}
	}
	if best.M == 0 {
		return Filter{}, sentinel.Errorf(ErrRange, "%d keys at a false-positive rate of %v need more than %d cells with up to %d per key; "+
			"allow more of either or a higher rate", s.Keys, p, s.cells(), s.maxK())
	}
	return best, nil
}

// largest returns the filter with k cells per key and the most cells of those that are sent with at
// most bits bits.
func (s CompressedSearch) largest(k int, bits float64) (Filter, error) {
	m := planning.Most(s.cells(), func(m uint64) bool { return s.bits(Filter{m, k}) <= bits })
	if m == 0 {
		return Filter{}, sentinel.Errorf(ErrRange, "%d keys with %d cells per key are not sent with %.0f bits, the smallest filter takes %.0f; allow more",
			s.Keys, k, bits, s.bits(Filter{1, k}))
	}
	if s.PowerOfTwo { // fewer cells are sent with fewer bits
		m = planning.PowerOfTwo(m, false)
	}
	return Filter{m, k}, nil
}

// bits returns the size of what is sent.
func (s CompressedSearch) bits(f Filter) float64 {
	if s.Bits == nil {
		return f.WireBits(s.Keys).Mean
	}
	return s.Bits(f)
}

func (s CompressedSearch) cells() uint64 {
	if s.Cells == 0 {
		return planning.MaxCells
	}
	return min(s.Cells, planning.MaxCells)
}

func (s CompressedSearch) maxK() int {
	if s.MaxK == 0 {
		return defaultMaxK
	}
	return s.MaxK
}

// check returns an error wrapping ErrRange if a field is outside its range.
func (s CompressedSearch) check() error {
	if s.Keys == 0 {
		return planning.CheckGoal(0, 0.5)
	}
	if s.MaxK < 0 {
		return sentinel.Errorf(ErrRange, "at most %d cells per key, want 1 or more, or 0 for %d", s.MaxK, defaultMaxK)
	}
	return nil
}

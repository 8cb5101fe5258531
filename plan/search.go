package plan

import (
	"math"

	"github.com/umbel-filters/umbel/internal/sentinel"
)

// DefaultMaxK is the largest number of cells per key that a [CompressedSearch] tries if the caller
// gives none.
const DefaultMaxK = 16

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
	Keys  uint64  // distinct keys, at least 1
	Cells uint64  // the most cells, 0 for 2^63
	MaxK  int     // the most cells per key, 0 for [DefaultMaxK]
	Dense bool    // allow a k above the best one of that size
	Churn float64 // share of keys replaced between two versions if deltas are sent; 0 for whole filters
	XOR   bool    // deltas are exclusive-ors, see [XORDeltaBits]; otherwise [DeltaBits]
	Tail  float64 // probability of exceeding the size, for whole messages; 0: the size is the mean of an ideal code
}

// CompressedShape is the result of a [CompressedSearch].
type CompressedShape struct {
	M      uint64  // cells
	K      int     // cells set per key
	Bits   float64 // size of what is sent
	FPRate float64 // with all keys
}

// MinFPRate returns the filter with the lowest false-positive rate of those that are sent with at
// most bits bits; of several the one with the smallest k.
//
// It returns an error wrapping [ErrRange] if a field is outside its range, or no filter is sent
// with so few bits.
func (s CompressedSearch) MinFPRate(bits float64) (CompressedShape, error) {
	if err := s.check(); err != nil {
		return CompressedShape{}, err
	}
	best := CompressedShape{FPRate: math.Inf(1)}
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
		return CompressedShape{}, reason
	}
	return best, nil
}

// MinBits returns the filter that is sent with the fewest bits of those with a false-positive rate
// of at most p; of several the one with the smallest k.
//
// It returns an error wrapping [ErrRange] if a field or p is outside its range, or no filter within
// the limits has that rate.
func (s CompressedSearch) MinBits(p float64) (CompressedShape, error) {
	if err := s.check(); err != nil {
		return CompressedShape{}, err
	}
	if err := checkGoal(s.Keys, p); err != nil {
		return CompressedShape{}, err
	}
	best := CompressedShape{Bits: math.Inf(1)}
	for k := 1; k <= s.maxK(); k++ {
		m, err := SizeForK(s.Keys, k, p)
		if err != nil || m > s.cells() || !s.Dense && k > BestK(m, s.Keys) {
			continue
		}
		if bits := s.bits(m, k); bits < best.Bits {
			best = CompressedShape{m, k, bits, FPRate(m, k, s.Keys)}
		}
	}
	if best.M == 0 {
		return CompressedShape{}, sentinel.Errorf(ErrRange, "plan: %d keys at a false-positive rate of %v need more than %d cells with up to %d per key; "+
			"allow more of either or a higher rate", s.Keys, p, s.cells(), s.maxK())
	}
	return best, nil
}

// largest returns the filter with k cells per key and the most cells of those that are sent with at
// most bits bits.
func (s CompressedSearch) largest(k int, bits float64) (CompressedShape, error) {
	if err := s.check(); err != nil {
		return CompressedShape{}, err
	}
	m := s.cells()
	if over, some := least(m, func(m uint64) bool { return !(s.bits(m, k) <= bits) }); some {
		m = over - 1
	}
	if m == 0 {
		return CompressedShape{}, sentinel.Errorf(ErrRange, "plan: %d keys with %d cells per key are not sent with %.0f bits, the smallest filter takes %.0f; allow more",
			s.Keys, k, bits, s.bits(1, k))
	}
	return CompressedShape{m, k, s.bits(m, k), FPRate(m, k, s.Keys)}, nil
}

// bits returns the size of what is sent.
func (s CompressedSearch) bits(m uint64, k int) float64 {
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

func (s CompressedSearch) cells() uint64 {
	if s.Cells == 0 {
		return maxCells
	}
	return min(s.Cells, maxCells)
}

func (s CompressedSearch) maxK() int {
	if s.MaxK == 0 {
		return DefaultMaxK
	}
	return s.MaxK
}

// check returns an error wrapping ErrRange if a field is outside its range.
func (s CompressedSearch) check() error {
	switch {
	case s.Keys == 0:
		return sentinel.Errorf(ErrRange, "plan: 0 keys, want at least 1; give the number of keys the filter will hold")
	case s.MaxK < 0:
		return sentinel.Errorf(ErrRange, "plan: at most %d cells per key, want 1 or more, or 0 for %d", s.MaxK, DefaultMaxK)
	case !(s.Churn >= 0 && s.Churn <= 1):
		return sentinel.Errorf(ErrRange, "plan: churn %v, want a fraction of the keys from 0 to 1", s.Churn)
	case !(s.Tail >= 0 && s.Tail < 1):
		return sentinel.Errorf(ErrRange, "plan: probability %v to exceed the size, want more than 0 and less than 1", s.Tail)
	}
	return nil
}

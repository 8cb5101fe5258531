package sparse

import (
	"fmt"
	"math"

	"github.com/umbel-filters/umbel/internal/coding/eliasfano"
	"github.com/umbel-filters/umbel/internal/planning"
	"github.com/umbel-filters/umbel/internal/sentinel"
	"github.com/umbel-filters/umbel/plan"
)

// listBits returns the memory in bits, whole words of 64, of a filter of m cells, one per key,
// that stores the sorted list of the set cells instead of the cells, if n of them are set:
// n·l + n + ⌈m/2^l⌉ bits, where l = ⌊log2(m/n)⌋, in two arrays. That is about n·(2 + log2(m/n)),
// and with n = m·f half a bit per key more than the n·(log2(1/f) + 1.44) of [plan.Filter.WireBits]. Since keys
// may share a cell, n keys need at most that much; an n above m counts as m. It panics if m is 0
// or above 2^56. Source: Elias 1974; Fano 1971.
//
// Mitzenmacher 2002, section III-A, proposes a list of n·log2(m) bits for such a filter: 19.8 bits
// per key for m = 92·n and n = 10,000, where listBits gives 8.44, and the cells themselves
// need 92.
func listBits(m, n uint64) uint64 {
	if m == 0 || m > maxM {
		panic(fmt.Sprintf("%d cells stored as positions, want 1 to 2^56", m))
	}
	n = min(n, m)
	words := (eliasfano.HighBits(n, m)+63)/64 + (eliasfano.LowBits(n, m)+63)/64
	return words * 64
}

// mostCells returns the largest number m of cells, at most 2^56, for which n keys need at most
// bits bits by [listBits]; it gives the lowest rate that fits. It returns an error wrapping
// [plan.ErrRange] if n is zero, or the bits are too few for one cell.
func mostCells(n, bits uint64) (m uint64, err error) {
	if n == 0 {
		return 0, planning.CheckGoal(n, 0.5)
	}
	over, found := planning.Least(maxM, func(m uint64) bool { return listBits(m, n) > bits })
	switch {
	case !found:
		return maxM, nil
	case over == 1:
		return 0, sentinel.Errorf(plan.ErrRange, "%d keys in %d bits, want at least %d", n, bits, listBits(1, n))
	}
	return over - 1, nil
}

// mostKeysIn returns the largest number n of keys that need at most bits bits by [listBits]
// at a rate of at most p, and the number m of cells for them: the smallest that has the rate,
// rounded up by round. It returns an error wrapping [plan.ErrRange] if p is not inside (0, 1), or not
// one key fits.
func mostKeysIn(bits uint64, p float64, round func(m uint64) uint64) (n, m uint64, err error) {
	if err := planning.CheckGoal(1, p); err != nil {
		return 0, 0, err
	}
	size := func(n uint64) (uint64, bool) {
		m, err := plan.SizeForK(n, 1, p)
		if err != nil || m > maxM {
			return 0, false
		}
		m = round(m)
		return m, m <= maxM && listBits(m, n) <= bits
	}
	n = planning.Most(math.MaxUint64, func(n uint64) bool { _, ok := size(n); return ok })
	if n == 0 {
		return 0, 0, sentinel.Errorf(plan.ErrRange, "%d bits are too few for one key at a false-positive rate of %v; allow more, or a higher rate", bits, p)
	}
	m, _ = size(n)
	return n, m, nil
}

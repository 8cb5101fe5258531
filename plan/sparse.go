package plan

import (
	"fmt"

	"github.com/umbel-filters/umbel/internal/eliasfano"
)

// sparseMost is the most cells, and the most keys, of a filter that keeps positions.
const sparseMost = eliasfano.MaxBound

// SparseBits returns the memory in bits, whole words of 64, of a filter of m cells, of
// which each key sets one, that keeps in place of the cells the sorted list of those
// that are set, with n of them: n·l + n + ⌈m/2^l⌉ bits, where l = ⌊log2(m/n)⌋, in two
// arrays. That is about n·(2 + log2(m/n)), and with n = m·f half a bit a key more than
// the n·(log2(1/f) + 1.44) to which [WireBits] says the cells compress. Since
// keys may share a cell, n keys take that much at most; where n is above m it is
// what m take. It panics if m is 0 or above 2^56. Source: Elias 1974; Fano 1971.
//
// Mitzenmacher 2002, section III-A, proposes a list of n·log2(m) bits for such a
// filter: 19.8 bits a key in his case of m = 92·n and n = 10,000, where these are 8.44,
// and the cells themselves 92.
func SparseBits(m, n uint64) uint64 {
	if m == 0 || m > sparseMost {
		panic(fmt.Sprintf("plan: %d cells kept as positions, want 1 to 2^56", m))
	}
	n = min(n, m)
	words := (eliasfano.HighBits(n, m)+63)/64 + (eliasfano.LowBits(n, m)+63)/64
	return words * 64
}

// SparseSize returns the largest number m of cells, at most 2^56, for which n keys take
// no more than so many bits, as [SparseBits] has it: the least rate that fits. The
// error wraps [ErrRange] if n is zero, or the bits don't hold one cell.
func SparseSize(n, bits uint64) (m uint64, err error) {
	if n == 0 {
		return 0, checkGoal(n, 0.5)
	}
	over, found := least(sparseMost, func(m uint64) bool { return SparseBits(m, n) > bits })
	switch {
	case !found:
		return sparseMost, nil
	case over == 1:
		return 0, fmt.Errorf("plan: %d keys in %d bits, want at least %d: %w", n, bits, SparseBits(1, n), ErrRange)
	}
	return over - 1, nil
}

// SparseCapacity returns the largest number n of keys that take no more than so many
// bits, as [SparseBits] has it, in the cells m that give them a rate of at most p: the
// least number that does, rounded up by round. The error wraps [ErrRange] if p is not
// inside (0, 1), or not one key fits.
func SparseCapacity(bits uint64, p float64, round func(m uint64) uint64) (n, m uint64, err error) {
	if err := checkGoal(1, p); err != nil {
		return 0, 0, err
	}
	size := func(n uint64) (uint64, bool) {
		m, err := SizeForK(n, 1, p)
		if err != nil || m > sparseMost {
			return 0, false
		}
		m = round(m)
		return m, m <= sparseMost && SparseBits(m, n) <= bits
	}
	n = mostKeys(func(n uint64) bool { _, ok := size(n); return ok })
	if n == 0 {
		return 0, 0, fmt.Errorf("plan: %d bits don't hold one key at a false-positive rate of %v; allow more, or a higher rate: %w", bits, p, ErrRange)
	}
	m, _ = size(n)
	return n, m, nil
}

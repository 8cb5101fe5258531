package nixbloom

import (
	"fmt"
	"math"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/filter/internal/doublehash"
	"github.com/umbel-filters/umbel/filter/internal/kinds"
	"github.com/umbel-filters/umbel/filter/internal/logarithm"
	"github.com/umbel-filters/umbel/internal/sentinel"
	"github.com/umbel-filters/umbel/plan"
)

const (
	// maxK is the largest number of cells per key.
	maxK = 256
	// maxM is the largest number of cells.
	maxM = 1 << 56

	byteBits = 8 // m is a multiple of it
)

// Shape contains the parameters that are fixed when a filter is made.
type Shape struct {
	M      uint64 // cells (bits), a multiple of 8 from 8 to maxM
	K      int    // cells set per key, 1 to maxK
	Hasher umbel.Hasher
}

// NixShape returns the shape that Nix gives the filter of n paths with false-positive rate p: m is
// ⌈-n·ln p / ln²2⌉, rounded up to whole bytes, and k is m/n·ln 2, rounded to the nearest integer. The hasher is
// [NixHasher]. The rate is p, up to the rounding of k, but double hashing adds to it in small filters:
// Forecast includes that. NixShape returns an error wrapping umbel.ErrGoal if n is 0, if p is not between 0
// and 1, both excluded, or if no filter has the shape.
//
// The arithmetic is that of IEEE 754 doubles, operation by operation; no addition follows a product, so no
// compiler can fuse them.
func NixShape(n uint64, p float64) (Shape, error) {
	if n == 0 || !(p > 0 && p < 1) {
		return Shape{}, sentinel.Errorf(umbel.ErrGoal, "nixbloom: %d paths at a rate of %v, want at least 1 and a rate between 0 and 1, both excluded", n, p)
	}
	cells := math.Ceil(-float64(n) * logarithm.Of(p) / (math.Ln2 * math.Ln2))
	if cells > maxM {
		return Shape{}, sentinel.Errorf(umbel.ErrGoal, "nixbloom: %d paths at a rate of %.3g take %.3g bits, want at most 2^56", n, p, cells)
	}
	m := (max(uint64(cells), 1) + byteBits - 1) / byteBits * byteBits
	k := math.Round(float64(m) / float64(n) * math.Ln2)
	s := Shape{M: m, K: int(min(max(k, 1), maxK+1)), Hasher: NixHasher}
	return s, s.checkGoal()
}

// checkGoal returns an error wrapping umbel.ErrGoal unless a filter can have the shape.
func (s Shape) checkGoal() error { return sentinel.Wrap(umbel.ErrGoal, s.check()) }

func (s Shape) check() error {
	switch {
	case s.M == 0 || s.M%byteBits != 0 || s.M > maxM:
		return fmt.Errorf("nixbloom: %d cells, want a multiple of 8 from 8 to 2^56", s.M)
	case s.K < 1 || s.K > maxK:
		return fmt.Errorf("nixbloom: k is %d, want 1 to %d", s.K, maxK)
	}
	return s.Hasher.Check()
}

// Forecast returns what a filter of this shape costs and its rate with n keys, which includes the excess due to
// double hashing. That is an approximation, up to a quarter too high with one to three keys.
func (s Shape) Forecast(n uint64) umbel.Forecast {
	return umbel.Forecast{
		Keys: n, FPRate: fpRate(s.M, s.K, n),
		Cells: s.M, Bytes: (s.M + 63) / 64 * 8, K: float64(s.K),
	}
}

// fpRate returns the expected rate of m cells, k per key, with n keys.
func fpRate(m uint64, k int, n uint64) float64 {
	return doublehash.FPRate(m, k, n)
}

// NewShape returns an empty filter of shape s. It returns an error wrapping umbel.ErrGoal if the shape is
// impossible. It allocates the memory of the shape: for untrusted sizes, check [Shape.Forecast] first.
func NewShape(s Shape) (*Filter, error) {
	if err := s.checkGoal(); err != nil {
		return nil, err
	}
	bits, err := cells.New(s.M, 1)
	if err != nil {
		return nil, sentinel.Errorf(umbel.ErrGoal, "nixbloom: %w", err)
	}
	return newFilter(bits, s.K, s.Hasher), nil
}

// Shape returns the filter's shape.
func (f *Filter) Shape() Shape { return Shape{M: f.bits.Len, K: f.k, Hasher: f.hasher} }

// Kind is this kind of filter, for code that works with any kind.
var Kind umbel.Kind = kinds.Kind[Shape, *Filter]{
	Name: Name,
	Doc:  "the filter of Nix binary caches, bit for bit with hash caller: which store paths a cache may have (NixBloom v1)",
	Params: []umbel.ParamDoc{
		{Name: "m", Doc: "cells (bits), rounded up to whole bytes", Min: 1, Max: maxM},
		{Name: "k", Doc: "cells set per key", Min: 1, Max: maxK},
	},
	Monotone: true,
	Plan:     planWith,
	New:      NewShape,
	Open:     Open,
	Locator:  func(s umbel.State) (umbel.Locator, error) { return Open(s.WithoutWords()) },
}.Kind()

var sizing = kinds.Sizing{
	MaxK:  maxK,
	Width: 1,
	Step:  func(int) uint64 { return byteBits },
	Unit: func(m uint64, _ int) uint64 {
		if m < kinds.Word {
			return byteBits
		}
		return kinds.Word // folds then work on whole words
	},
	FPRate: fpRate,
	Size: func(n uint64, p float64) (uint64, int, error) {
		s, err := NixShape(n, p)
		if err != nil {
			return 0, 0, err
		}
		m, err := sizeForK(n, s.K, p)
		return m, s.K, err
	},
	SizeForK: sizeForK,
}

// slack is the number of bits up to which double hashing may make a filter more than twice as large as one with
// independent positions: 1 MiB.
const slack = 1 << 23

// sizeForK returns the least m, a multiple of 8, with a rate of at most p with n keys, k cells each. If double
// hashing needs more than twice the cells of independent positions, and more than slack, it returns an error.
func sizeForK(n uint64, k int, p float64) (uint64, error) {
	least, err := plan.SizeForK(n, k, p)
	if err != nil {
		return 0, err
	}
	low := least / byteBits // one byte below does not suffice
	high, most := low+1, max(2*least, slack)/byteBits
	for high <= most && fpRate(high*byteBits, k, n) > p {
		low, high = high, 2*high
	}
	if high = min(high, most); fpRate(high*byteBits, k, n) > p {
		return 0, fmt.Errorf("%d keys at a rate of %.3g: with double hashing and k = %d, %d cells have a rate of %.3g: allow a "+
			"higher rate", n, p, k, high*byteBits, fpRate(high*byteBits, k, n))
	}
	for low+1 < high {
		if middle := low + (high-low)/2; fpRate(middle*byteBits, k, n) > p {
			low = middle
		} else {
			high = middle
		}
	}
	return high * byteBits, nil
}

// planWith is Plan with parameters that override m and k. It also returns the number of keys that the shape is
// planned for.
func planWith(g umbel.Goal, ps umbel.Params) (Shape, uint64, error) {
	given := ps.Uint("m")
	m, k, n, err := sizing.Solve(g, given, int(ps.Uint("k")))
	if err != nil {
		return Shape{}, 0, fmt.Errorf("nixbloom: %w", err)
	}
	if given == 0 && g.Bytes == 0 {
		// The size that folds well may be a power of two, with more false positives: see doublehash.
		for fpRate(m, k, n) > g.FPRate {
			m += sizing.Unit(m, k)
		}
	}
	s := Shape{M: m, K: k, Hasher: g.Hasher}
	return s, n, s.checkGoal()
}

package imported

import (
	"fmt"
	"math"

	"github.com/umbel-filters/umbel/internal/sentinel"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/filter/internal/kinds"
	"github.com/umbel-filters/umbel/plan"
)

const (
	// maxK is the largest k, the number of hashes.
	maxK = 255
	// maxM is the largest number of cells: as many words as an array of Java has elements.
	maxM = 64 * math.MaxInt32
)

// Shape contains the parameters that are fixed when a filter is made.
type Shape struct {
	Form   Form
	M      uint64 // cells (bits), a multiple of 64, or of 512 for Blobloom; at most maxM
	K      int    // number of hashes, 1 to maxK; Blobloom counts one that sets no bit, so that the least is 2
	Hasher umbel.Hasher
}

// New returns an empty filter for the given number of distinct keys, of form [Guava64] and with Guava's hash. When it
// contains them, its false-positive rate is at most fpRate, between 0 and 1. The error wraps umbel.ErrGoal.
func New(keys uint64, fpRate float64) (*Filter, error) {
	return kinds.New[*Filter](Kind, umbel.Goal{Keys: keys, FPRate: fpRate, Hasher: Guava64.hasher()}, nil)
}

// checkGoal returns an error wrapping umbel.ErrGoal unless a filter can have the shape.
func (s Shape) checkGoal() error { return sentinel.Wrap(umbel.ErrGoal, s.check()) }

func (s Shape) check() error {
	if s.Form < 1 || s.Form >= forms {
		return fmt.Errorf("imported: form %d, want 1 to %d", uint8(s.Form), forms-1)
	}
	unit := s.Form.unit()
	switch {
	case s.M == 0 || s.M%unit != 0 || s.M > maxM:
		return fmt.Errorf("imported: %d cells, want a multiple of %d from %[2]d to %d", s.M, unit, uint64(maxM))
	case s.K > maxK || s.Form.perKey(s.K) < 1:
		return fmt.Errorf("imported: k is %d, want %d to %d", s.K, 1+s.K-s.Form.perKey(s.K), maxK)
	}
	return s.Hasher.Check()
}

// Forecast returns what a filter of this shape costs and its rate with n keys. For rates see spec/kinds/imported.md.
func (s Shape) Forecast(n uint64) umbel.Forecast {
	return umbel.Forecast{
		Keys: n, FPRate: s.Form.fpRate(s.M, s.K, n),
		Cells: s.M, Bytes: s.M / 8, K: float64(s.Form.perKey(s.K)),
	}
}

// NewShape returns an empty filter of shape s. It returns an error wrapping umbel.ErrGoal if the shape is
// impossible. It allocates the memory of the shape: for untrusted sizes, check [Shape.Forecast] first.
func NewShape(s Shape) (*Filter, error) {
	if err := s.checkGoal(); err != nil {
		return nil, err
	}
	bits, err := cells.New(s.M, 1)
	if err != nil {
		return nil, sentinel.Errorf(umbel.ErrGoal, "imported: %w", err)
	}
	return newFilter(s, bits), nil
}

// Shape returns the filter's shape.
func (f *Filter) Shape() Shape { return Shape{Form: f.form, M: f.bits.Len, K: f.k, Hasher: f.hasher} }

// Kind is this kind of filter, for code that works with any kind.
var Kind umbel.Kind = kinds.Kind[Shape, *Filter]{
	Name: Name,
	Doc:  "filters of Guava, Spark and blobloom, bit for bit",
	Params: []umbel.ParamDoc{
		{Name: "form", Doc: "1 guava64, 2 guava32, 3 spark1, 4 spark2, 5 blobloom", Min: 1, Max: forms - 1},
		{Name: "m", Doc: "cells (bits), rounded up to whole words or blocks", Min: 1, Max: maxM},
		{Name: "k", Doc: "number of hashes", Min: 1, Max: maxK},
	},
	Monotone: true,
	Plan:     planWith,
	New:      NewShape,
	Open:     Open,
	Locator:  func(s umbel.State) (umbel.Locator, error) { return Open(s.WithoutWords()) },
}.Kind()

// planWith is Plan with parameters that override form, m and k. It also returns the number of keys that the shape is
// planned for.
func planWith(g umbel.Goal, ps umbel.Params) (Shape, uint64, error) {
	form := Form(ps.Uint("form"))
	if form == 0 {
		form = Guava64
	}
	m, k, n, err := form.sizing().Solve(g, ps.Uint("m"), int(ps.Uint("k")))
	if err != nil {
		return Shape{}, 0, fmt.Errorf("imported: %w", err)
	}
	s := Shape{Form: form, M: m, K: k, Hasher: g.Hasher}
	return s, n, s.checkGoal()
}

// sizing returns the formulas of a form.
func (x Form) sizing() kinds.Sizing {
	unit := func(uint64, int) uint64 { return x.unit() }
	return kinds.Sizing{
		MaxK:   maxK,
		Width:  1,
		Step:   func(int) uint64 { return x.unit() },
		Unit:   unit,
		FPRate: x.fpRate,
		Size: func(n uint64, p float64) (uint64, int, error) {
			k := int(max(1, math.Round(-math.Log2(p)))) + 1 - x.perKey(1)
			m, err := x.sizeForK(n, min(k, maxK), p)
			return m, k, err
		},
		SizeForK: x.sizeForK,
	}
}

// slack is the number of bits up to which a form may need more than twice the bits of independent positions: 1 MiB.
const slack = 1 << 23

// sizeForK returns the least size with a rate of at most p with n keys and k hashes. If the form needs more than slack and
// more than twice the bits of independent positions, it returns an error. Blobloom may need 64 times as many: its rate is at least
// 2^-18 per key in a block, see blockRate.
func (x Form) sizeForK(n uint64, k int, p float64) (uint64, error) {
	least, err := plan.SizeForK(n, x.perKey(k), p)
	if err != nil {
		return 0, err
	}
	most := 2 * least
	if x == Blobloom {
		most = 64 * least
	}
	units := min(max(most, slack), maxM) / x.unit()
	enough := func(u uint64) bool { return x.fpRate(u*x.unit(), k, n) <= p }
	high := uint64(1)
	for high < units && !enough(high) {
		high *= 2
	}
	if high = min(high, units); !enough(high) {
		return 0, fmt.Errorf("no filter of the form %v has a rate of %.3g with %d keys and k = %d: allow a higher rate", x, p, n, k)
	}
	return high*x.unit() - (kinds.Largest(0, 1, high, func(less uint64) bool { return less < high && enough(high-less) }))*x.unit(), nil
}

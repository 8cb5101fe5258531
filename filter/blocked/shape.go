package blocked

import (
	"fmt"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/internal/design"
	"github.com/umbel-filters/umbel/plan"
)

// Shape is what is fixed of a filter when it is made.
type Shape struct {
	M      uint64 // cells (bits), a multiple of BlockBits, at least one block
	Words  int    // words of a block that a key uses, 1 to 8, or to 5 with two bits in each
	Bits   int    // bits that it sets in each of them, 1 or 2
	Hasher umbel.Hasher
}

// Check returns an error that wraps umbel.ErrGoal unless a filter can have the
// shape.
func (s Shape) Check() error { return design.Wrap(s.check(), umbel.ErrGoal) }

func (s Shape) check() error {
	switch {
	case s.M == 0 || s.M%BlockBits != 0 || s.M > 1<<56:
		return fmt.Errorf("blocked: %d cells, want a multiple of %d up to 2^56", s.M, BlockBits)
	}
	if err := s.checkDesign(); err != nil {
		return fmt.Errorf("blocked: %w", err)
	}
	return s.Hasher.Check()
}

// checkDesign checks words and bits.
func (s Shape) checkDesign() error {
	switch {
	case s.Bits < 1 || s.Bits > MaxBits:
		return fmt.Errorf("%d bits per word, want 1 to %d", s.Bits, MaxBits)
	case s.Words < 1 || s.Words > len(shifts[s.Bits]):
		return fmt.Errorf("%d words per key, want 1 to %d with %d bits in each", s.Words, len(shifts[s.Bits]), s.Bits)
	}
	return nil
}

// Forecast tells what a filter of this shape is with n keys in it.
func (s Shape) Forecast(n uint64) umbel.Forecast {
	return umbel.Forecast{
		Keys: n, FPRate: plan.BlockedFPRate(s.M, s.Words, s.Bits, n),
		Cells: s.M, Bytes: s.M / 8, K: float64(s.Words * s.Bits),
	}
}

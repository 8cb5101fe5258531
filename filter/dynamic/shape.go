package dynamic

import (
	"fmt"
	"math"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/filter/counting"
	"github.com/umbel-filters/umbel/filter/internal/design"
	"github.com/umbel-filters/umbel/plan"
)

// Shape is what is fixed of a filter when it is made.
type Shape struct {
	Layer    bloom.Shape // of each filter in the row
	Width    uint        // bits of a counter, 4, 8 or 16; 0 for parts of bits
	Full     uint64      // nonzero cells from which a part is full, 1 to Part.M
	MaxBytes uint64      // memory of all parts, 0 without limit
}

// Plan returns the shape of bits that meets the goal. Keys, FPRate and Bytes are those
// of each filter in the row; the rate of s of them is about s times that. So that as
// many keys don't begin a second part by chance, the first has room for four standard
// deviations more. The error wraps umbel.ErrGoal.
func Plan(g umbel.Goal) (Shape, error) {
	s, _, err := planWith(g, nil)
	return s, err
}

// Check returns an error that wraps umbel.ErrGoal unless a filter can have the shape.
func (s Shape) Check() error { return design.Wrap(s.check(), umbel.ErrGoal) }

func (s Shape) check() error {
	if err := s.Layer.Check(); err != nil {
		return err
	}
	if s.Width != 0 {
		if err := s.counting().Check(); err != nil {
			return err
		}
	}
	if s.Full == 0 || s.Full > s.Layer.M {
		return fmt.Errorf("dynamic: parts of %d cells are full with %d of them, want 1 to %d", s.Layer.M, s.Full, s.Layer.M)
	}
	return nil
}

// counting returns the shape of parts of counters.
func (s Shape) counting() counting.Shape {
	return counting.Shape{M: s.Layer.M, K: s.Layer.K, Width: s.Width, Group: s.Layer.Group, Hasher: s.Layer.Hasher}
}

// bytes returns the memory of a part.
func (s Shape) bytes() uint64 {
	if s.Width == 0 {
		return s.Layer.Forecast(0).Bytes
	}
	return s.counting().Forecast(0).Bytes
}

// Capacity returns the keys with which a part is expected to be full, at least 1. It
// is 2^64-1 if only all cells make it so.
func (s Shape) Capacity() uint64 {
	n := math.Round(plan.Keys(s.Layer.M, s.Layer.K, s.Full))
	if n >= 1<<63 {
		return math.MaxUint64
	}
	return uint64(max(1, n))
}

// Forecast tells what a filter of this shape is with n keys in it: one part, or as
// many as they take within MaxBytes.
func (s Shape) Forecast(n uint64) umbel.Forecast {
	capacity := s.Capacity()
	parts := max(1, n/capacity)
	if n > parts*capacity {
		parts++
	}
	p := plan.DynamicFPRate(s.Layer.M, s.Layer.K, capacity, n)
	if most := s.MaxBytes / s.bytes(); s.MaxBytes != 0 && parts > most {
		parts = max(1, most)
		before := (parts - 1) * capacity
		p = plan.CompoundFPRate(plan.DynamicFPRate(s.Layer.M, s.Layer.K, capacity, before), plan.FPRate(s.Layer.M, s.Layer.K, n-before))
	}
	return umbel.Forecast{Keys: n, FPRate: p, Cells: parts * s.Layer.M, Bytes: parts * s.bytes(), K: float64(s.Layer.K)}
}

// isSparse reports whether a part is so large for its few keys that a state from a
// stranger with such parts could make a few additions take much memory.
func (s Shape) isSparse() bool { return s.Layer.M > 4096 && s.Full < s.Layer.M/16 }

// partsFor returns how many parts a filter from elsewhere with so many grows to: 64
// times as many, and 64 MiB if that is more, if they are sparse; any number otherwise.
func (s Shape) partsFor(parts int) int {
	if !s.isSparse() {
		return math.MaxInt
	}
	return int(max(64*uint64(parts), 64<<20/s.bytes()))
}

// room returns an error that wraps umbel.ErrLimit if there is none for a part more,
// within MaxBytes and so many parts.
func (s Shape) room(parts, most int) error {
	bytes := uint64(parts) * s.bytes()
	if parts >= most {
		return fmt.Errorf("dynamic: the filter came with few keys in large parts, and grows to no more than %d of them: set MaxBytes if it is to: %w", most, umbel.ErrLimit)
	}
	if limit := s.MaxBytes; limit != 0 && (bytes > limit || s.bytes() > limit-bytes) {
		return fmt.Errorf("dynamic: %d bytes are full, and with the %d of the next part they are more than the limit of %d: "+
			"raise it, compact the filter, or begin another: %w", bytes, s.bytes(), limit, umbel.ErrLimit)
	}
	return nil
}

// full returns the error of making a part as one that wraps umbel.ErrLimit.
func full(err error) error { return fmt.Errorf("%v: %w", err, umbel.ErrLimit) }

// New returns an empty filter of bits of that shape: its first part. The error wraps
// umbel.ErrGoal if there can't be one.
func NewShape(s Shape) (*Filter, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	if s.Width != 0 {
		return nil, fmt.Errorf("dynamic: counters of %d bits, want a shape of bits; there is NewCounting: %w", s.Width, umbel.ErrGoal)
	}
	if err := s.fits(); err != nil {
		return nil, err
	}
	p, err := bloom.NewShape(s.Layer)
	if err != nil {
		return nil, err
	}
	f := &Filter{shape: s, most: math.MaxInt}
	f.hold([]*bloom.Filter{p})
	return f, nil
}

// NewCounting returns an empty filter of counters of that shape: its first part. The
// error wraps umbel.ErrGoal if there can't be one.
func NewCountingShape(s Shape) (*Counting, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	if s.Width == 0 {
		return nil, fmt.Errorf("dynamic: no width of counters, want 4, 8 or 16; for bits there is New: %w", umbel.ErrGoal)
	}
	if err := s.fits(); err != nil {
		return nil, err
	}
	p, err := counting.NewShape(s.counting())
	if err != nil {
		return nil, err
	}
	return &Counting{shape: s, parts: []*counting.Filter{p}, most: math.MaxInt}, nil
}

// fits returns an error that wraps umbel.ErrGoal if one part is beyond MaxBytes.
func (s Shape) fits() error {
	if s.MaxBytes != 0 && s.bytes() > s.MaxBytes {
		return fmt.Errorf("dynamic: a part takes %d bytes, more than the limit of %d: %w", s.bytes(), s.MaxBytes, umbel.ErrGoal)
	}
	return nil
}

// Shape returns the filter's shape.
func (f *Filter) Shape() Shape { return f.shape }

// Shape returns the filter's shape.
func (f *Counting) Shape() Shape { return f.shape }

// SetMaxBytes sets Shape.MaxBytes, the limit of memory, from now on; 0 is none. What
// is there already stays, even where it is more. A filter that was opened, whose parts
// are full with less than a sixteenth of their cells, grows to 64 times its size, and to
// 64 MiB if that is more, until this is called, lest a state from a stranger take all
// memory with a few additions.
func (f *Filter) SetMaxBytes(limit uint64) { f.shape.MaxBytes, f.most = limit, math.MaxInt }

// SetMaxBytes sets Shape.MaxBytes: see [Filter.SetMaxBytes].
func (f *Counting) SetMaxBytes(limit uint64) { f.shape.MaxBytes, f.most = limit, math.MaxInt }

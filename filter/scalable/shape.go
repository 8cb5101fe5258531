package scalable

import (
	"fmt"
	"math"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/internal/design"
	"github.com/umbel-filters/umbel/filter/partitioned"
	"github.com/umbel-filters/umbel/plan"
	"github.com/umbel-filters/umbel/probe"
)

const (
	// MaxK is the largest number of slices of a layer. One that would need more isn't
	// made: the filter is then as large as it gets.
	MaxK = partitioned.MaxK
	// MaxGrowth is the largest factor from one layer to the next.
	MaxGrowth = 16
	// maxCells is the size of the largest layer.
	maxCells = 1 << 56
	// word is the cells of a group: slices are whole words.
	word = 1 << probe.WordLog
)

// Defaults of what a goal doesn't say. With growth 2 a tightening of 0.8 to 0.85
// takes the least memory over three decades of growth.
const (
	DefaultGrowth     = 2
	DefaultTightening = 0.85
)

// Log is a binary logarithm in units of 2^-16, so that k of each layer is found in
// whole numbers: Log(p) of 2^-10 is 10·2^16.
type Log uint64

// one is the logarithm of two.
const one Log = 1 << 16

// LogOf returns log2(1/p), rounded up to its unit, for p in (0, 1).
func LogOf(p float64) Log { return Log(math.Ceil(-math.Log2(p) * float64(one))) }

// Shape is what is fixed of a filter when it is made.
type Shape struct {
	Slice      uint64 // cells of a slice of the first layer, a multiple of 64
	First      Log    // of P_0, the rate of the first layer, more than 0 and at most that of MaxK slices
	Tightening Log    // of r, the rate of a layer by that of the one before, more than 0 and at most that of 1/16
	Growth     uint64 // cells of a slice by those of the layer before, 2 to MaxGrowth
	MaxBytes   uint64 // memory of all layers, 0 without limit
	Hasher     umbel.Hasher
}

// Plan returns the shape that meets the goal, with the default growth and tightening.
// Its FPRate is that of the filter however large it grows, its Keys those of the
// first layer, its Bytes the first layer's memory. So that as many keys don't begin a
// second layer by chance, the first has room for four standard deviations more. The
// error wraps umbel.ErrGoal.
func Plan(g umbel.Goal) (Shape, error) {
	s, _, err := planWith(g, nil)
	return s, err
}

// Check returns an error that wraps umbel.ErrGoal unless a filter can have the shape.
func (s Shape) Check() error { return design.Wrap(s.check(), umbel.ErrGoal) }

func (s Shape) check() error {
	switch {
	case s.Slice == 0 || s.Slice%word != 0 || s.Slice > maxCells:
		return fmt.Errorf("scalable: slices of %d cells, want a multiple of %d up to 2^56", s.Slice, word)
	case s.First == 0 || s.First > MaxK*one:
		return fmt.Errorf("scalable: the first layer's rate is 2^-(%d/65536), want an exponent of 1 to %d", s.First, MaxK*one)
	case s.Tightening == 0 || s.Tightening > 4*one:
		return fmt.Errorf("scalable: a tightening of 2^-(%d/65536), want an exponent of 1 to %d", s.Tightening, 4*one)
	case s.Growth < 2 || s.Growth > MaxGrowth:
		return fmt.Errorf("scalable: growth %d, want 2 to %d", s.Growth, MaxGrowth)
	}
	return s.layer(0).Check()
}

// k returns the slices of layer i: the logarithm of its rate, rounded up. It is more
// than MaxK where a layer would need more.
func (s Shape) k(i uint64) int {
	return int(min((s.First+Log(min(i, 1<<20))*s.Tightening+one-1)/one, MaxK+1))
}

// layer returns the shape of layer i, from 0. It is one that no layer can have where
// there is none.
func (s Shape) layer(i uint64) partitioned.Shape {
	k := s.k(i)
	slice := s.Slice
	for range i {
		if slice > maxCells {
			break
		}
		slice *= s.Growth
	}
	if slice > maxCells {
		slice = 0
	}
	return partitioned.Shape{M: slice * uint64(k), K: k, Group: probe.WordLog, Hasher: s.Hasher}
}

// Forecast tells what a filter of this shape is with n keys in it: one layer, or as
// many as they take within MaxBytes.
func (s Shape) Forecast(n uint64) umbel.Forecast {
	fc := umbel.Forecast{Keys: n}
	var rates []float64
	left := n
	for i := uint64(0); ; i++ {
		l := s.layer(i)
		fc.Cells += l.M
		fc.Bytes += l.M / 8
		fc.K = float64(l.K)
		holds := plan.HalfFull(slice(l))
		if next := s.layer(i + 1); left <= holds || next.Check() != nil || s.exceeds(fc.Bytes, next) {
			holds = left
		}
		rates = append(rates, plan.PartitionedFPRate(l.M, l.K, holds))
		if left -= holds; left == 0 {
			fc.FPRate = plan.CompoundFPRate(rates...)
			return fc
		}
	}
}

// exceeds reports whether a layer is too much beside bytes of others.
func (s Shape) exceeds(bytes uint64, l partitioned.Shape) bool {
	return s.MaxBytes != 0 && (bytes > s.MaxBytes || l.M/8 > s.MaxBytes-bytes)
}

// New returns an empty filter of that shape: its first layer. The error wraps
// umbel.ErrGoal if there can't be one.
func NewShape(s Shape) (*Filter, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	first := s.layer(0)
	if s.exceeds(0, first) {
		return nil, fmt.Errorf("scalable: the first layer takes %d bytes, more than the limit of %d: %w", first.M/8, s.MaxBytes, umbel.ErrGoal)
	}
	l, err := partitioned.NewShape(first)
	if err != nil {
		return nil, err
	}
	f := &Filter{shape: s}
	f.hold([]*partitioned.Filter{l})
	return f, nil
}

// Shape returns the filter's shape.
func (f *Filter) Shape() Shape { return f.shape }

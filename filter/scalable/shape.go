package scalable

import (
	"fmt"
	"math"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/internal/core"
	"github.com/umbel-filters/umbel/filter/internal/design"
	"github.com/umbel-filters/umbel/filter/partitioned"
	"github.com/umbel-filters/umbel/plan"
)

// Name is the name of this kind.
const Name = "scalable"

// paramNames are the parameters of a state, in order.
var paramNames = []string{"slice", "first-log2", "tightening-log2", "growth", "max-bytes"}

const (
	// MaxK is the largest number of slices of a layer. A filter whose next layer would need
	// more does not grow.
	MaxK = partitioned.MaxK
	// MaxGrowth is the largest factor from one layer to the next.
	MaxGrowth = 16
	// maxCells is the size of the largest layer.
	maxCells = 1 << 56
	// word is the number of cells of a group: slices are whole words.
	word = 1 << core.WordGroup
)

// Defaults of parameters. With growth 2 a tightening of 0.8 to 0.85 needs the least memory
// over three decades of growth.
const (
	DefaultGrowth     = 2
	DefaultTightening = 0.85
)

// Log is the binary logarithm of 1/p for a rate p, in units of 2^-16: that of 2^-10 is
// 10·2^16. With it the k of each layer is computed in integers.
type Log uint64

// one is the logarithm of 2.
const one Log = 1 << 16

// LogOf returns log2(1/p), rounded up to its unit, for p in (0, 1).
func LogOf(p float64) Log { return Log(math.Ceil(-math.Log2(p) * float64(one))) }

// Shape contains the parameters that are fixed when a filter is made.
type Shape struct {
	Slice      uint64 // cells of a slice of the first layer, a multiple of 64
	First      Log    // of P_0, the rate of the first layer, more than 0 and at most that of MaxK slices
	Tightening Log    // of r, the rate of a layer divided by that of the layer before; more than 0 and at most that of 1/16
	Growth     uint64 // cells of a slice divided by those of the layer before, 2 to MaxGrowth
	MaxBytes   uint64 // limit of the memory of all layers, 0 for none
	Hasher     umbel.Hasher
}

// Plan returns the shape that meets the goal, with the default growth and tightening. The
// goal's FPRate is that of the filter however large it grows; its Keys and Bytes are those
// of the first layer. The first layer has room for four standard deviations more, so that
// Keys keys do not start a second layer by chance. The error wraps umbel.ErrGoal.
func Plan(g umbel.Goal) (Shape, error) {
	s, _, err := planWith(g, nil)
	return s, err
}

// Check returns an error that wraps umbel.ErrGoal unless a filter can have this shape.
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

// k returns the number of slices of layer i: the logarithm of its rate, rounded up. It is
// larger than MaxK if the layer would need more than MaxK.
func (s Shape) k(i uint64) int {
	return int(min((s.First+Log(min(i, 1<<20))*s.Tightening+one-1)/one, MaxK+1))
}

// layer returns the shape of layer i, from 0. If there is no such layer, Check of the shape
// returns an error.
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
	return partitioned.Shape{M: slice * uint64(k), K: k, Group: core.WordGroup, Hasher: s.Hasher}
}

// Forecast returns what a filter of this shape costs, and its rate, with n keys: with one
// layer or as many as the keys need within MaxBytes.
func (s Shape) Forecast(n uint64) umbel.Forecast {
	fc := umbel.Forecast{Keys: n}
	var rates []float64
	left := n
	for i := uint64(0); ; i++ {
		l := s.layer(i)
		fc.Cells += l.M
		fc.Bytes += l.M / 8
		fc.K = float64(l.K)
		holds := plan.HalfFull(slice(core.Shape(l)))
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

// exceeds reports whether a layer exceeds MaxBytes together with bytes of others.
func (s Shape) exceeds(bytes uint64, l partitioned.Shape) bool {
	return s.MaxBytes != 0 && (bytes > s.MaxBytes || l.M/8 > s.MaxBytes-bytes)
}

func (s Shape) tooSmall(first partitioned.Shape) error {
	return fmt.Errorf("scalable: the first layer needs %d bytes, more than the limit of %d: %w", first.M/8, s.MaxBytes, umbel.ErrGoal)
}

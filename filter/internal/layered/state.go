package layered

import (
	"errors"
	"fmt"
	"math"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/filter/internal/arrays"
	"github.com/umbel-filters/umbel/internal/sentinel"
	"github.com/umbel-filters/umbel/plan"
)

// OpenParts opens each part of a state of the kind with open. It sets dst to the state's
// parameters, whose names must be names in this order. The state must have at least one
// part, no array, and one hasher. The error wraps umbel.ErrKind or umbel.ErrCorrupt.
func OpenParts[F any](kind string, s umbel.State, open func(umbel.State) (F, error), names []string, dst ...*uint64) ([]F, error) {
	if s.Kind != kind {
		return nil, sentinel.Errorf(umbel.ErrKind, "%s: the state has kind %.40q, want %q", kind, s.Kind, kind)
	}
	if err := s.Check(); err != nil {
		return nil, err
	}
	if err := s.Params.Uints(names, dst...); err != nil {
		return nil, err
	}
	if len(s.Arrays) != 0 || len(s.Parts) == 0 {
		return nil, sentinel.Errorf(umbel.ErrCorrupt, "%s: %d arrays and %d parts, want parts only", kind, len(s.Arrays), len(s.Parts))
	}
	fs := make([]F, len(s.Parts))
	for i, p := range s.Parts {
		if p.Hasher != s.Hasher {
			return nil, sentinel.Errorf(umbel.ErrCorrupt, "%s: part %d hashes with %v, the filter with %v", kind, i, p.Hasher, s.Hasher)
		}
		f, err := open(p)
		if err != nil && !errors.Is(err, umbel.ErrCorrupt) {
			err = sentinel.Errorf(umbel.ErrCorrupt, "%v", err) // a part of the wrong kind
		}
		if err != nil {
			return nil, fmt.Errorf("%s: part %d: %w", kind, i, err)
		}
		fs[i] = f
	}
	return fs, nil
}

// Other opens the state of a filter that is to be merged into the one with state own. The
// error wraps umbel.ErrMismatch if kind, hasher or the parts' kind differ, or if one of the
// two is the zero Filter; otherwise it is that of open.
func Other[F any](own, s umbel.State, open func(umbel.State) (*F, error)) (*F, error) {
	if err := own.CheckMatch(s); err != nil {
		return nil, err
	}
	for _, t := range []umbel.State{own, s} {
		if len(t.Parts) == 0 {
			return nil, arrays.NoSize(own.Kind)
		}
	}
	if a, b := own.Parts[0].Kind, s.Parts[0].Kind; a != b {
		return nil, sentinel.Errorf(umbel.ErrMismatch, "%s: one filter consists of %s layers, the other of %.40q", own.Kind, a, b)
	}
	return open(s)
}

// sigmas95 is the half-width of the central 95 percent of a normal distribution.
const sigmas95 = 1.96

// Stats returns the stats of a filter from those of its layers, the oldest first. A key
// that is a false positive in an older layer was not added to a newer one, so the keys of
// each layer stand for a larger number, which the interval allows for. K is that of the newest layer.
func Stats(layers []umbel.Stats) umbel.Stats {
	var s umbel.Stats
	var nonzero, below, above float64
	rates := make([]float64, 0, len(layers))
	for _, p := range layers {
		share := 1 - plan.CompoundFPRate(rates...) // of new keys that reached this layer
		if share > 0 && p.Keys > 0 {
			s.Keys += p.Keys / share
			below += square((p.Keys-p.Low)/share) + Skipped(p.Keys, share)
			above += square((p.High-p.Keys)/share) + Skipped(p.Keys, share)
		}
		nonzero += p.Fill * float64(p.Cells)
		s.Cells += p.Cells
		s.Bytes += p.Bytes
		s.K = p.K
		rates = append(rates, p.FPRate)
	}
	if s.Cells == 0 {
		return umbel.Stats{}
	}
	s.Fill = nonzero / float64(s.Cells)
	s.FPRate = plan.CompoundFPRate(rates...)
	s.Low, s.High = max(0, s.Keys-math.Sqrt(below)), s.Keys+math.Sqrt(above)
	if math.IsInf(s.Keys, 1) {
		s.High = s.Keys
		s.Low = 0
		for _, p := range layers {
			s.Low = max(s.Low, p.Low)
		}
	}
	return s
}

// Skipped returns the square of half the 95 percent interval by which the number of keys deviates of
// which a layer took that many: each was taken with the probability share, and the others were false
// positives of older layers. The number has a negative binomial distribution.
func Skipped(taken, share float64) float64 {
	return sigmas95 * sigmas95 * taken * (1 - share) / (share * share)
}

func square(x float64) float64 { return x * x }

// States returns the states of the layers, the oldest first.
func (l *List) States() []umbel.State {
	var states []umbel.State
	for i := range l.layers {
		b := &l.layers[i].Bits
		states = append(states, b.State(b.Array().Kind))
	}
	return states
}

// Stats returns the stats of the list: see [Stats]. It reads all cells.
func (l *List) Stats() umbel.Stats {
	stats := make([]umbel.Stats, len(l.layers))
	for i := range l.layers {
		stats[i] = l.layers[i].Bits.Stats()
	}
	return Stats(stats)
}

// Counted is the array of a layer with the number of its nonzero cells and its rate.
type Counted struct {
	arrays.Array
	Nonzero uint64
	FPRate  float64 // see [arrays.Array.Measure]
}

// Count counts the nonzero cells of a.
func Count(a arrays.Array) Counted {
	nonzero, rate := a.Measure()
	return Counted{a, nonzero, rate}
}

// Fill returns the fill ratio.
func (c Counted) Fill() float64 { return float64(c.Nonzero) / float64(c.Shape.M) }

// Clone returns a copy that shares no memory with c.
func (c Counted) Clone() Counted {
	c.Array = c.Array.Clone()
	return c
}

// Counted returns the layers, the oldest first. It reads all cells.
func (l *List) Counted() []Counted {
	layers := make([]Counted, len(l.layers))
	for i := range layers {
		layers[i] = Count(l.layers[i].Bits.Array())
	}
	return layers
}

// Covers reports whether a has all bits of b, which has the same length. If it has not, it
// usually returns after a word or two.
func Covers(a, b cells.Array) bool {
	for i, w := range b.Words {
		if w&^a.Words[i] != 0 {
			return false
		}
	}
	return true
}

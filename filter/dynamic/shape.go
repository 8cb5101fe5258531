package dynamic

import (
	"fmt"
	"math"
	"math/bits"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/filter/counting"
	"github.com/umbel-filters/umbel/filter/internal/arrays"
	"github.com/umbel-filters/umbel/filter/internal/kinds"
	"github.com/umbel-filters/umbel/filter/internal/layered"
	"github.com/umbel-filters/umbel/internal/sentinel"
	"github.com/umbel-filters/umbel/plan"
)

// paramNames are the parameters of a state, in order.
var paramNames = []string{"full", "max-bytes"}

// Shape contains the parameters that are fixed when a filter is made.
type Shape struct {
	Layer    bloom.Shape // of each layer
	Width    uint        // bits of a counter: 4, 8 or 16; 0 for layers of bits
	Full     uint64      // nonzero cells from which a layer is full, 1 to Layer.M
	MaxBytes uint64      // limit of the memory of all layers, 0 for none
}

// Plan returns the shape of bits that meets the goal. Keys, FPRate and Bytes are those of
// one layer; the rate of s layers is about s times that of one. A layer has room for four
// standard deviations more, so that Keys keys do not start a second layer by chance. The
// error wraps umbel.ErrGoal.
func Plan(g umbel.Goal) (Shape, error) {
	s, _, err := planWith(g, nil)
	return s, err
}

// checkGoal returns an error that wraps umbel.ErrGoal unless a filter can have this shape.
func (s Shape) checkGoal() error { return sentinel.Wrap(umbel.ErrGoal, s.check()) }

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
		return fmt.Errorf("dynamic: layers of %d cells are full with %d, want 1 to %d", s.Layer.M, s.Full, s.Layer.M)
	}
	return nil
}

// counting returns the shape of layers of counters.
func (s Shape) counting() counting.Shape {
	return counting.Shape{M: s.Layer.M, K: s.Layer.K, Width: s.Width, Group: s.Layer.Group, Hasher: s.Layer.Hasher}
}

// bytes returns the memory of a layer.
func (s Shape) bytes() uint64 {
	if s.Width == 0 {
		return s.Layer.Forecast(0).Bytes
	}
	return s.counting().Forecast(0).Bytes
}

// Capacity returns the number of keys with which a layer is expected to be full, at least 1.
// It is 2^64-1 if a layer is full only with all of its cells.
func (s Shape) Capacity() uint64 {
	n := math.Round(plan.Filter{M: s.Layer.M, K: s.Layer.K}.Keys(s.Full).Value)
	if n >= 1<<63 {
		return math.MaxUint64
	}
	return uint64(max(1, n))
}

// Forecast returns what a filter of this shape costs, and its rate, with n keys: with one
// layer or as many as the keys need within MaxBytes.
func (s Shape) Forecast(n uint64) umbel.Forecast {
	most := uint64(layered.Max)
	if s.MaxBytes != 0 {
		most = min(most, s.MaxBytes/s.bytes())
	}
	layers, p := expectedLayers(s.Layer.M, s.Layer.K, s.Capacity(), n, most)
	return umbel.Forecast{Keys: n, FPRate: p, Cells: product(layers, s.Layer.M), Bytes: product(layers, s.bytes()), K: float64(s.Layer.K)}
}

// product returns a·b, or 2^64-1 if it is larger.
func product(a, b uint64) uint64 {
	over, p := bits.Mul64(a, b)
	if over != 0 {
		return math.MaxUint64
	}
	return p
}

// isSparse reports whether a layer is so large for its few keys that with an untrusted
// state a few additions could take much memory.
func (s Shape) isSparse() bool { return s.Layer.M > 4096 && s.Full < s.Layer.M/16 }

// mostLayers returns the number of layers that an opened filter with that many layers grows
// to. If layers are sparse, that is 64 times as many, or 64 MiB if that is more.
func (s Shape) mostLayers(layers int) int {
	if !s.isSparse() {
		return math.MaxInt
	}
	return int(max(64*uint64(layers), 64<<20/s.bytes()))
}

// checkGrowth returns an error that wraps umbel.ErrLimit if a filter of that many layers
// cannot have one more within MaxBytes and most layers.
func (s Shape) checkGrowth(layers, most int) error {
	if err := layered.CheckCount(Name, layers+1); err != nil {
		return err
	}
	bytes := uint64(layers) * s.bytes()
	if layers >= most {
		return sentinel.Errorf(umbel.ErrLimit,
			"dynamic: an opened filter with few keys in large layers grows to at most %d layers: compact the filter, or start another", most)
	}
	if limit := s.MaxBytes; limit != 0 && (bytes > limit || s.bytes() > limit-bytes) {
		return sentinel.Errorf(umbel.ErrLimit, "dynamic: %d bytes are full, and the next layer of %d bytes would exceed the limit of %d: "+
			"raise the limit, compact the filter, or start another", bytes, s.bytes(), limit)
	}
	return nil
}

// fits returns an error that wraps umbel.ErrGoal if one layer exceeds MaxBytes.
func (s Shape) fits() error {
	if s.MaxBytes != 0 && s.bytes() > s.MaxBytes {
		return sentinel.Errorf(umbel.ErrGoal, "dynamic: a layer needs %d bytes, more than the limit of %d", s.bytes(), s.MaxBytes)
	}
	return nil
}

// asLimit returns the error of making a layer as one that wraps umbel.ErrLimit.
func asLimit(err error) error {
	if err == nil {
		return nil
	}
	return sentinel.Errorf(umbel.ErrLimit, "%v", err)
}

// state returns the state of a filter with these layers.
func (s Shape) state(layers []umbel.State, planned umbel.Planned) umbel.State {
	return umbel.State{Kind: Name, Hasher: s.Layer.Hasher, Parts: layers, Notes: umbel.Notes{Planned: planned}, Params: umbel.Params{
		{Name: paramNames[0], Value: umbel.Uint(s.Full)},
		{Name: paramNames[1], Value: umbel.Uint(s.MaxBytes)},
	}}
}

// Kind is this kind of filter, for code that works with any kind. Its filters are of type *Filter,
// or *Counting if a width of counters is given.
var Kind umbel.Kind = kinds.Kind[Shape, umbel.Filter]{
	Name: Name,
	Doc:  "dynamic Bloom filter: equal layers, keys can be removed if it has counters (Guo et al. 2006)",
	Params: []umbel.ParamDoc{
		{Name: "width", Doc: "bits of a counter, rounded up to 4, 8 or 16; without it keys cannot be removed", Min: 1, Max: 16},
		{Name: "max-bytes", Doc: "limit of its memory, none by default", Min: 8, Max: 1 << 56},
	},
	Plan: planWith,
	New: func(s Shape) (umbel.Filter, error) {
		if s.Width != 0 {
			return kinds.AsFilter(NewCountingShape(s))
		}
		return kinds.AsFilter(NewShape(s))
	},
	Open: func(s umbel.State) (umbel.Filter, error) {
		if len(s.Parts) > 0 && s.Parts[0].Kind == counting.Name {
			return kinds.AsFilter(OpenCounting(s))
		}
		return kinds.AsFilter(Open(s))
	},
}.Kind()

// planWith is Plan with parameters that override the defaults. It also returns the number
// of keys that a layer is planned for.
func planWith(g umbel.Goal, ps umbel.Params) (Shape, uint64, error) {
	if err := g.Check(); err != nil {
		return Shape{}, 0, err
	}
	s := Shape{MaxBytes: ps.Uint("max-bytes")}
	if width := ps.Uint("width"); width != 0 {
		s.Width = arrays.RoundWidth(width)
		g.Bytes /= uint64(s.Width) // as a filter of bits with as many cells
	}
	if g.Keys == 0 && g.Bytes == 0 || g.FPRate == 0 && g.Bytes == 0 {
		return Shape{}, 0, sentinel.Errorf(umbel.ErrGoal, "dynamic: too few bytes for the counters of 8 cells")
	}
	first, err := bloom.Plan(g)
	if err != nil {
		return Shape{}, 0, fmt.Errorf("dynamic: %w", err)
	}
	n, holds := g.Keys, g.Keys+spare(g.Keys, first.K)
	if n == 0 {
		holds = max(1, plan.Filter{M: first.M, K: first.K}.Capacity(g.FPRate))
		n = max(1, holds-min(holds, spare(holds, first.K)))
	}
	s.Layer = first
	if g.Bytes == 0 {
		g.Keys = holds
		if s.Layer, err = bloom.Plan(g); err != nil {
			return Shape{}, 0, fmt.Errorf("dynamic: %w", err)
		}
	}
	s.Full = uint64(max(1, math.Round(float64(s.Layer.M)*plan.Filter{M: s.Layer.M, K: s.Layer.K}.Fill(holds))))
	if err := s.checkGoal(); err != nil {
		return Shape{}, 0, err
	}
	return s, n, s.fits()
}

// spare returns four standard deviations of the number of keys that fill a layer for n keys.
// They are those of half full slices, which are close to those of any planned filter
// (Johnson and Kotz 1977).
func spare(n uint64, k int) uint64 {
	if n > 1<<60 {
		return 0 // more than any filter holds; refused later
	}
	return uint64(math.Ceil(4 * math.Sqrt((1-math.Ln2)*float64(n)/float64(k)) / math.Ln2))
}

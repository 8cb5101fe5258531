package scalable

import (
	"fmt"
	"math"
	"sort"
	"strconv"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/internal/arrays"
	"github.com/umbel-filters/umbel/filter/internal/kinds"
	"github.com/umbel-filters/umbel/filter/partitioned"
	"github.com/umbel-filters/umbel/internal/planning"
	"github.com/umbel-filters/umbel/internal/sentinel"
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
	// maxGrowth is the largest factor from one layer to the next.
	maxGrowth = 16
	// maxCells is the size of the largest layer.
	maxCells = 1 << 56
	// word is the number of cells of a group: slices are whole words.
	word = 1 << arrays.WordGroup
)

// Defaults of parameters. With growth 2 a tightening of 0.8 to 0.85 needs the least memory
// over three decades of growth.
const (
	defaultGrowth     = 2
	defaultTightening = 0.85
)

// Log is the binary logarithm of 1/p for a rate p, in units of 2^-16: that of 2^-10 is
// 10·2^16. With it the k of each layer is computed in integers.
type Log uint64

// one is the logarithm of 2.
const one Log = 1 << 16

// LogOf returns log2(1/p), rounded up to its unit, for p in (0, 1).
func LogOf(p float64) Log { return Log(math.Ceil(-math.Log2(p) * float64(one))) }

// String returns the rate p to three digits, such as 0.85.
func (l Log) String() string {
	return strconv.FormatFloat(math.Exp2(-float64(l)/float64(one)), 'g', 3, 64)
}

// Shape contains the parameters that are fixed when a filter is made.
type Shape struct {
	Slice      uint64 // cells of a slice of the first layer, a multiple of 64
	First      Log    // of P_0, the rate of the first layer, more than 0 and at most that of MaxK slices
	Tightening Log    // of r, the rate of a layer divided by that of the layer before; more than 0 and at most that of 1/16
	Growth     uint64 // cells of a slice divided by those of the layer before, 2 to maxGrowth
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

// checkGoal returns an error that wraps umbel.ErrGoal unless a filter can have this shape.
func (s Shape) checkGoal() error { return sentinel.Wrap(umbel.ErrGoal, s.check()) }

func (s Shape) check() error {
	switch {
	case s.Slice == 0 || s.Slice%word != 0 || s.Slice > maxCells:
		return fmt.Errorf("scalable: slices of %d cells, want a multiple of %d up to 2^56", s.Slice, word)
	case s.First == 0 || s.First > MaxK*one:
		return fmt.Errorf("scalable: the first layer's rate is 2^-(%d/65536), want an exponent of 1 to %d", s.First, MaxK*one)
	case s.Tightening == 0 || s.Tightening > 4*one:
		return fmt.Errorf("scalable: a tightening of 2^-(%d/65536), want an exponent of 1 to %d", s.Tightening, 4*one)
	case s.Growth < 2 || s.Growth > maxGrowth:
		return fmt.Errorf("scalable: growth %d, want 2 to %d", s.Growth, maxGrowth)
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
	return partitioned.Shape{M: slice * uint64(k), K: k, Group: arrays.WordGroup, Hasher: s.Hasher}
}

// Forecast returns what a filter of this shape costs, and its rate, with n keys: with one
// layer or as many as the keys need within MaxBytes. It panics if Slice or First is zero.
func (s Shape) Forecast(n uint64) umbel.Forecast {
	if s.Slice == 0 || s.First == 0 {
		panic(fmt.Sprintf("scalable: a forecast of a shape with slices of %d cells and an exponent of %d, want both at least 1", s.Slice, s.First))
	}
	fc := umbel.Forecast{Keys: n}
	var rates []float64
	left := n
	for i := uint64(0); ; i++ {
		l := s.layer(i)
		fc.Cells += l.M
		fc.Bytes += l.M / 8
		fc.K = float64(l.K)
		holds := halfFull(slice(arrays.Shape(l)))
		if next := s.layer(i + 1); left <= holds || next.Check() != nil || s.exceeds(fc.Bytes, next) {
			holds = left
		}
		rates = append(rates, l.Forecast(holds).FPRate)
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
	return sentinel.Errorf(umbel.ErrGoal, "scalable: the first layer needs %d bytes, more than the limit of %d", first.M/8, s.MaxBytes)
}

// Kind is this kind of filter, for code that works with any kind.
var Kind umbel.Kind = kinds.Kind[Shape, *Filter]{
	Name: Name,
	Doc:  "scalable Bloom filter: grows with its keys and keeps its rate (Almeida et al. 2007)",
	Params: []umbel.ParamDoc{
		{Name: "growth", Doc: "size of a layer divided by that of the layer before, 2 by default", Min: 2, Max: maxGrowth},
		{Name: "tightening", Doc: "rate of a layer divided by that of the layer before, 0.85 by default", Min: 0.0625, Max: 0.99, Float: true},
		{Name: "max-bytes", Doc: "limit of its memory, none by default", Min: 64, Max: 1 << 56},
	},
	Monotone: true,
	Plan:     planWith,
	New:      NewShape,
	Open:     Open,
}.Kind()

// planWith is Plan with parameters that override the defaults. It also returns the number
// of keys that the first layer is planned for.
func planWith(g umbel.Goal, ps umbel.Params) (Shape, uint64, error) {
	if err := g.Check(); err != nil {
		return Shape{}, 0, err
	}
	s := Shape{Growth: defaultGrowth, MaxBytes: ps.Uint("max-bytes"), Hasher: g.Hasher}
	if growth := ps.Uint("growth"); growth != 0 {
		s.Growth = growth
	}
	r := defaultTightening
	if given, ok := ps.Get("tightening"); ok && given.Float() != 0 {
		r = given.Float()
	}
	s.Tightening = LogOf(r)
	if g.FPRate != 0 {
		p0, err := firstRate(g.FPRate, r)
		if err != nil {
			return Shape{}, 0, sentinel.Errorf(umbel.ErrGoal, "scalable: %w", err)
		}
		s.First = LogOf(p0)
	}
	n := g.Keys
	if s.First > MaxK*one {
		return Shape{}, 0, sentinel.Errorf(umbel.ErrGoal, "scalable: a rate of %g needs %d cells per key, want at most %d", g.FPRate, s.k(0), MaxK)
	}
	switch words := g.Bytes / 8; {
	case g.Bytes == 0:
		s.Slice = plan.RoundFoldable(sliceFor(n, s.k(0))/word) * word
	case n == 0:
		s.Slice = words / uint64(s.k(0)) * word
		n = keysFor(s.Slice, s.k(0))
	default:
		k := 0
		for k < MaxK && uint64(k+1)*(sliceFor(n, k+1)/word) <= words {
			k++
		}
		s.First = Log(k) * one
		if k > 0 {
			s.Slice = words / uint64(k) * word
		}
		if p := math.Exp2(-float64(k)) / (1 - r); p >= 1 {
			return Shape{}, 0, sentinel.Errorf(umbel.ErrGoal, "scalable: a filter of %d bytes for %d keys that grows has no rate below 1: allow more bytes", g.Bytes, n)
		}
	}
	if n == 0 {
		return Shape{}, 0, sentinel.Errorf(umbel.ErrGoal,
			"scalable: %d bytes are too few for a layer of %d slices of at least 8 bytes: allow more bytes or a higher rate", g.Bytes, s.k(0))
	}
	if err := s.checkGoal(); err != nil {
		return Shape{}, 0, err
	}
	if first := s.layer(0); s.exceeds(0, first) {
		return Shape{}, 0, s.tooSmall(first)
	}
	return s, n, nil
}

// sliceFor returns the least number of cells of a slice, whole words, in which n keys set at
// most half of the cells except in one of 30,000 filters. That is four standard deviations
// of the number of keys that fill half of a layer of k slices, which is
//
//	sqrt(1 - ln 2) / ln 2 · sqrt(n/k)
//
// by the variance of occupancy (Johnson and Kotz 1977) at a load of ln 2. If n is too large
// it returns more cells than any filter has.
func sliceFor(n uint64, k int) uint64 {
	few := float64(n) + 4*math.Sqrt((1-math.Ln2)*float64(n)/float64(k))/math.Ln2
	cells := -1 / math.Expm1(-math.Ln2/few)
	if !(cells < maxCells) {
		return 2 * maxCells
	}
	return uint64(math.Ceil(cells/word)) * word
}

// keysFor returns the largest number of keys for which slices of that many cells are
// planned, 0 if there are no cells.
func keysFor(slice uint64, k int) uint64 {
	if slice == 0 || slice > maxCells {
		return slice // and refused
	}
	return uint64(sort.Search(int(slice), func(n int) bool { return sliceFor(uint64(n)+1, k) > slice }))
}

// firstRate returns P_0, the rate of the first layer of a scalable filter that has a rate
// of at most p however much it grows, with a tightening ratio r. It is p(1-r), since the sum of
// all P_0·r^i is P_0/(1-r) and the compound rate is less than the sum (Almeida et al. 2007,
// section 3). It returns an error wrapping [plan.ErrRange] if p or r is not inside (0, 1).
func firstRate(p, r float64) (float64, error) {
	if err := planning.CheckGoal(1, p); err != nil {
		return 0, err
	}
	if !(r > 0 && r < 1) {
		return 0, sentinel.Errorf(plan.ErrRange, "tightening %v, want more than 0 and less than 1", r)
	}
	return p * (1 - r), nil
}

// halfFull returns the largest number of keys with which at most half of a slice of `slice`
// cells is expected to be set: ln(1/2)/ln(1-1/slice) rounded down, and at least 1. At this fill
// ratio a slice takes the most keys for its size, according to Almeida et al. 2007. It panics if
// slice is zero.
func halfFull(slice uint64) uint64 {
	planning.MustShape(slice, 1)
	return max(1, uint64(-math.Ln2/math.Log1p(-1/float64(slice))))
}

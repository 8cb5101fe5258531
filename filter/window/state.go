package window

import (
	"math"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/filter/internal/arrays"
	"github.com/umbel-filters/umbel/internal/sentinel"
	"github.com/umbel-filters/umbel/plan"
)

// Name is the name of this kind.
const Name = "window"

// paramNames are the parameters of a state, in order.
var paramNames = []string{"k", "l", "group", "limit", "ticks", "now"}

// State returns the complete contents of the filter: see [umbel.Filter].
func (f *Filter) State() umbel.State {
	s := f.shape
	return umbel.State{
		Kind:   Name,
		Hasher: s.Hasher,
		Params: umbel.Params{
			{Name: "k", Value: umbel.Uint(uint64(s.K))},
			{Name: "l", Value: umbel.Uint(uint64(s.L))},
			{Name: "group", Value: umbel.Uint(uint64(s.Group))},
			{Name: "limit", Value: umbel.Uint(s.Limit)},
			{Name: "ticks", Value: umbel.Uint(s.Ticks)},
			{Name: "now", Value: umbel.Uint(f.now)},
		},
		Arrays: []cells.Array{f.cells},
		Notes:  umbel.Notes{Planned: f.planned, Tick: f.tick},
	}
}

// Open returns the filter with state s and takes over its memory. The error wraps
// umbel.ErrKind or umbel.ErrCorrupt.
func Open(s umbel.State) (*Filter, error) {
	var k, l, group, limit, ticks, now uint64
	bits, err := arrays.Kind{Name: Name}.OpenCells(s, paramNames, &k, &l, &group, &limit, &ticks, &now)
	if err != nil {
		return nil, err
	}
	shape := Shape{
		K: int(min(k, maxSlices)), L: int(min(l, maxSlices)), Group: uint8(min(group, 64)),
		Limit: limit, Ticks: ticks, Hasher: s.Hasher,
	}
	n := uint64(max(shape.slices(), 1))
	shape.Slice = bits.Len / n
	if err := sentinel.Wrap(umbel.ErrCorrupt, shape.check()); err != nil {
		return nil, err
	}
	switch {
	case bits.Len%n != 0:
		return nil, sentinel.Errorf(umbel.ErrCorrupt, "window: %d cells don't make %d equal slices", bits.Len, n)
	case ticks == 0 && now > maxGenerations:
		return nil, sentinel.Errorf(umbel.ErrCorrupt, "window: %d generations by keys, want at most %d", now, uint64(maxGenerations))
	}
	f := hold(shape, bits, now)
	f.planned = s.Planned
	if !shape.byKeys() {
		f.tick = s.Tick
	}
	return f, nil
}

// maxGenerations is the largest generation by keys that a state may have. No filter reaches
// it by additions alone, but an untrusted state may have it.
const maxGenerations = 1 << 62

// nextByKeys returns the next generation of a ring of n slices: generation + 1, and
// generation + 1 - n at maxGenerations. The slices keep their order, and the state still
// opens.
func nextByKeys(generation, n uint64) uint64 {
	if generation >= maxGenerations {
		generation -= n
	}
	return generation + 1
}

// Stats measures the filter: see [umbel.Filter]. It reads all cells. Keys are those of the
// newest generation and the l before it; a key that was added again after k generations or
// more may count twice. The rate follows from the fill ratio of each slice. The Stats of
// the zero Filter are zero.
//
// By keys, these are more than the number that the filter is planned for, which Low may therefore
// exceed. With fewer than about 25 keys the interval holds less often than in 95 % of filters.
func (f *Filter) Stats() umbel.Stats {
	if f.cells.Len == 0 {
		return umbel.Stats{}
	}
	s := f.shape
	fills := make([]float64, s.slices())
	for age := range fills {
		fills[age] = float64(f.onesOf(age)) / float64(s.Slice)
	}
	n := f.keys()
	return umbel.Stats{
		Keys: n.Value, Low: n.Low, High: n.High,
		Fill: float64(f.cells.Nonzero()) / float64(f.cells.Len), FPRate: fpRate(fills, s.K),
		Cells: f.cells.Len, K: float64(s.K), Bytes: f.cells.Bytes(),
	}
}

// keys estimates the number of keys in the newest generation and the l before it. The slice
// of age i contains the keys of the generations of age i-k+1 to i, one bit each. So the
// slices of age l, l-k, l-2k and so on contain each generation up to age l once. Their
// errors are independent, so the squares add up.
func (f *Filter) keys() plan.Estimate {
	var sum plan.Estimate
	var below, above float64
	for age := f.shape.L % f.shape.K; age <= f.shape.L; age += f.shape.K {
		n := plan.Filter{M: f.shape.Slice, K: 1}.Keys(f.onesOf(age))
		sum.Value += n.Value
		sum.Low += n.Low
		below += (n.Value - n.Low) * (n.Value - n.Low)
		above += (n.High - n.Value) * (n.High - n.Value)
	}
	if math.IsInf(sum.Value, 1) { // a slice is full; the lower bound still holds
		sum.High = sum.Value
		return sum
	}
	sum.Low, sum.High = sum.Value-math.Sqrt(below), sum.Value+math.Sqrt(above)
	return sum
}

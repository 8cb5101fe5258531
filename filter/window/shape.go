package window

import (
	"fmt"
	"math"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/filter/internal/kinds"
	"github.com/umbel-filters/umbel/internal/probe"
	"github.com/umbel-filters/umbel/internal/sentinel"
)

// maxSlices is the largest number of slices, k + l.
const maxSlices = 256

// wordGroup is the group of planned filters with large slices: whole words. Other filters
// have group 0.
const wordGroup = probe.WordLog

// Shape is the parameters that are fixed when a filter is made.
type Shape struct {
	Slice  uint64 // cells (bits) of a slice, at least 1, a multiple of 2^Group
	K      int    // slices in which a key sets a bit, at least 1
	L      int    // generations for which a key stays after its own, at least 1; K+L is at most maxSlices
	Limit  uint64 // bits of the newest slice with which a generation is full, 1 to Slice
	Ticks  uint64 // length of a generation; 0 in a filter by keys
	Group  uint8  // log2 of the cells of a group: 0 or 6
	Hasher umbel.Hasher
}

// Plan returns the shape of a filter by time that meets g, with the least memory over all k
// and l. The window has the given number of ticks, at least 1, and contains g.Keys keys. It
// is rounded up to l generations of a whole number of ticks. The rate is that of keys that
// were never added, or expired more than k generations ago: see [Filter.Advance]. It holds
// at every moment if no generation gets more than its share of the keys, as if g.Keys come evenly in each
// window, which TryAdd enforces, and also if one generation gets g.Keys and the others none. The error wraps umbel.ErrGoal.
func Plan(g umbel.Goal, ticks uint64) (Shape, error) {
	if ticks == 0 {
		return Shape{}, errNoTicks
	}
	s, _, err := solve(g, request{loads: loads{}, ticks: ticks})
	return s, err
}

var errNoTicks = sentinel.Errorf(umbel.ErrGoal, "window: a window of 0 ticks, want at least 1")

// PlanKeys returns the shape of a filter by keys that meets g, with the least memory over
// all k and l. A key stays until at least g.Keys other keys were added after it. The rate
// holds at every moment, for keys as in [Plan]. The error wraps umbel.ErrGoal.
func PlanKeys(g umbel.Goal) (Shape, error) {
	s, _, err := solve(g, request{byKeys: true})
	return s, err
}

// New returns an empty filter that remembers at least the given number of keys, those
// added last: a filter by keys. Its expected false-positive rate is at every moment at most fpRate, between
// 0 and 1, for keys that were never added: see [Filter.Advance] for those that have just expired. The rate of
// one filter varies around it: 0.0109 was seen at 0.01. Keys are
// hashed with XXH3-128 without a seed. The error wraps umbel.ErrGoal. For a window of time
// use [NewTicks]; [Kind] makes a window of time, too, unless its parameter by-keys is 1.
func New(keys uint64, fpRate float64) (*Filter, error) {
	return NewGoal(umbel.Goal{Keys: keys, FPRate: fpRate})
}

// NewGoal returns an empty filter by keys, with the shape that [PlanKeys] returns for g. The error
// wraps umbel.ErrGoal. It allocates the memory of the shape: for untrusted sizes, check [PlanKeys] and
// [Shape.Forecast] first.
func NewGoal(g umbel.Goal) (*Filter, error) {
	return kinds.New[*Filter](Kind, g, umbel.Params{{Name: "by-keys", Value: umbel.Uint(1)}})
}

// NewTicks returns an empty filter by time with the shape that [Plan] returns for g and a window of the given
// number of ticks, at least 1. Its time is 0 until the first Advance: with a clock, call that before the first key is
// added, since a key that was added at time 0 has expired once the time is the window's length. If other programs are
// to advance it, they must know what a tick is: see [Filter.SetTick]. The error wraps umbel.ErrGoal.
func NewTicks(g umbel.Goal, ticks uint64) (*Filter, error) {
	if ticks == 0 {
		return nil, errNoTicks
	}
	return kinds.New[*Filter](Kind, g, umbel.Params{{Name: "window", Value: umbel.Uint(ticks)}})
}

// checkGoal returns an error wrapping umbel.ErrGoal if no filter can have the shape.
func (s Shape) checkGoal() error { return sentinel.Wrap(umbel.ErrGoal, s.check()) }

func (s Shape) check() error {
	switch {
	case s.K < 1 || s.L < 1 || s.K >= maxSlices || s.L >= maxSlices || s.K+s.L > maxSlices:
		return fmt.Errorf("window: k = %d and l = %d, want both at least 1 and together at most %d", s.K, s.L, maxSlices)
	case s.Slice == 0 || s.Slice > 1<<56/uint64(s.slices()):
		return fmt.Errorf("window: %d slices of %d cells, want 1 to 2^56 cells in all", s.slices(), s.Slice)
	case s.Limit == 0 || s.Limit > s.Slice:
		return fmt.Errorf("window: a generation of %d bits in slices of %d cells, want 1 to all of them", s.Limit, s.Slice)
	case s.Group != 0 && s.Group != wordGroup:
		return fmt.Errorf("window: groups of 2^%d cells, want 2^0 or 2^%d", s.Group, wordGroup)
	case s.Slice%(1<<s.Group) != 0:
		return fmt.Errorf("window: slices of %d cells aren't whole groups of %d", s.Slice, 1<<s.Group)
	}
	return s.Hasher.Check()
}

// Forecast describes a filter of this shape at the worst moment, just before a generation
// ends. Each generation has n/L additions that set a bit of the newest slice, the most that TryAdd accepts by time. By time the
// rate is that, or the one with n keys in one generation and none in the others if it is higher. Keys that arrive evenly
// set fewer bits, since some of n/L keys share one: 4000 in the window have 0.80 % at a goal of 1 %. It panics if K or L is less
// than 1.
func (s Shape) Forecast(n uint64) umbel.Forecast {
	if s.K < 1 || s.L < 1 {
		panic(fmt.Sprintf("window: a forecast of a shape with k = %d and l = %d, want both at least 1", s.K, s.L))
	}
	rate := s.rate(math.Ceil(float64(n) / float64(s.L)))
	if !s.byKeys() {
		rate = max(rate, s.rateAtOnce(n))
	}
	return umbel.Forecast{
		Keys: n, FPRate: rate,
		Cells: uint64(s.slices()) * s.Slice, Bytes: s.bytes(), K: float64(s.K),
	}
}

// Window returns the minimum time, in ticks, for which a key is present; by keys, the
// minimum number of keys that are added before it expires.
func (s Shape) Window() uint64 {
	each := s.Ticks
	if s.byKeys() {
		each = s.Limit
	}
	if each > math.MaxUint64/uint64(max(s.L, 1)) {
		return math.MaxUint64
	}
	return each * uint64(s.L)
}

func (s Shape) byKeys() bool  { return s.Ticks == 0 }
func (s Shape) slices() int   { return s.K + s.L }
func (s Shape) bytes() uint64 { return (uint64(s.slices())*s.Slice + 63) / 64 * 8 }

// NewShape returns an empty filter of shape s, at time 0. The error wraps umbel.ErrGoal if no filter can
// have that shape. It allocates the memory of the shape: for untrusted sizes, check [Shape.Forecast] first.
func NewShape(s Shape) (*Filter, error) {
	if err := s.checkGoal(); err != nil {
		return nil, err
	}
	a, err := cells.New(uint64(s.slices())*s.Slice, 1)
	if err != nil {
		return nil, sentinel.Errorf(umbel.ErrGoal, "window: %w", err)
	}
	return hold(s, a, 0), nil
}

// hold returns the filter of shape s with the cells a.
func hold(s Shape, a cells.Array, now uint64) *Filter {
	f := &Filter{shape: s, cells: a, now: now}
	f.slice = probe.Mapping{Groups: s.Slice >> s.Group, Log: s.Group}
	f.ones = f.onesOf(0)
	return f
}

// Shape returns the filter's shape.
func (f *Filter) Shape() Shape { return f.shape }

// Package folding provides a Bloom filter that changes its size by itself, so that its rate
// stays at or below a limit, and close to it, while keys are added and removed (Sailhan and
// Stehr 2012). It consists of two filters. The base is far larger than its keys need; it
// receives all additions and removals. The folded filter is the base folded to the size that
// its keys need now; it answers queries and is published. When its rate leaves an interval,
// the base is folded again by another factor.
//
// # When the base is folded again
//
// The interval is one of fill ratios: a folded filter with fill ratio x has the rate x^k. If
// an addition raises the fill above the interval, the folded filter grows to the smallest
// divisor of the base's size whose fill is not above the interval; after additions alone it
// therefore is as small as possible. If a removal lowers the fill below the interval, the
// folded filter shrinks to the next smaller size, if its fill there is at most a sixteenth
// of the interval below the upper end. So the rate is never above the interval. It is below
// it where no divisor has a rate inside, or only one in that sixteenth: without the
// sixteenth, keys that are added and removed between two sizes that are further apart than
// the interval is wide would fold the base each time.
//
// If a base contains more keys than planned, the folded filter is as large as the base and
// its rate rises; TryAdd refuses keys instead. Other kinds that grow have no maximum size.
//
// The kind's name stands for its positions (spec/kinds/folding.md). They do not depend on
// the rules for folding again; the current factor is part of each state.
package folding

import (
	"fmt"
	"slices"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/filter/counting"
	"github.com/umbel-filters/umbel/filter/internal/arrays"
	"github.com/umbel-filters/umbel/filter/internal/kinds"
	"github.com/umbel-filters/umbel/internal/sentinel"
	"github.com/umbel-filters/umbel/plan"
)

// Name is the name of this kind.
const Name = "folding"

// Filter is a folding filter with a base of bits, from which keys cannot be removed; use [Counting] to
// remove keys. All methods that begin with Has are safe to call concurrently; changes require exclusive
// access. A Filter must not be copied, since the copies would share memory: use Clone. The zero Filter
// contains nothing and is a target for UnmarshalBinary; adding to it panics.
type Filter struct {
	NoCopy kinds.NoCopy

	shape   Shape // M is that of the base, which a merge may have folded
	base    base
	sizes   []uint64 // of the folded filter, ascending; the last is the base's
	folded  folded
	planned umbel.Planned
}

func (f *Filter) core() kinds.Core {
	return kinds.Core{Hasher: f.shape.Hasher, Planned: &f.planned, Zero: f.base == nil}
}

// base is a *arrays.Bits or a *arrays.Counters.
type base interface {
	Add(umbel.Digest) bool
	Clear()
	Array() arrays.Array
}

// NewShape returns an empty filter of shape s with a base of bits: Width is 0. The error wraps
// umbel.ErrGoal if no filter can have that shape. It allocates the memory of the shape: for untrusted
// sizes, check [Shape.Forecast] first.
func NewShape(s Shape) (*Filter, error) {
	if s.Width != 0 {
		return nil, sentinel.Errorf(umbel.ErrGoal, "folding: a base with counters of %d bits, want bits: use NewCountingShape", s.Width)
	}
	return newFilter(s)
}

// newFilter returns an empty filter with a base of bits or counters.
func newFilter(s Shape) (*Filter, error) {
	if err := s.checkGoal(); err != nil {
		return nil, err
	}
	kind := arrays.Bloom
	if s.Width != 0 {
		kind = arrays.Counting
	}
	a, err := kind.New(arrays.Shape(s.bits()), max(s.Width, 1))
	if err != nil {
		return nil, err
	}
	f := &Filter{shape: s}
	f.setBase(a)
	f.fold(f.sizes[0])
	return f, nil
}

// setBase makes a the base. The caller must then fold it.
func (f *Filter) setBase(a arrays.Array) {
	if a.Kind.Counters {
		c := arrays.CountersFrom(a)
		f.base = &c
	} else {
		b := arrays.BitsFrom(a)
		f.base = &b
	}
	f.shape.M = a.Shape.M
	f.sizes = f.shape.foldSizes()
}

// Add adds d and reports whether the base changed. It may fold the base again, which takes
// new memory for the folded filter. It requires exclusive access.
func (f *Filter) Add(d umbel.Digest) bool {
	if f.base == nil {
		panic(arrays.AddToZero)
	}
	if !f.base.Add(d) {
		return false
	}
	if f.folded.add(d); f.folded.ones > f.folded.most {
		f.grow()
	}
	return true
}

// TryAdd is Add, but it refuses a key that would raise the rate above the interval when the
// folded filter cannot grow: see [umbel.Grower]. The error then wraps umbel.ErrLimit and f
// is unchanged.
func (f *Filter) TryAdd(d umbel.Digest) (bool, error) {
	if f.base != nil && f.isFullFor(d) {
		_, high := f.shape.Interval()
		return false, sentinel.Errorf(umbel.ErrLimit, "folding: with one key more the base of %d cells has a rate above %.3g: "+
			"make a filter for more keys", f.shape.M, high)
	}
	return f.Add(d), nil
}

// Has reports whether the folded filter has d. It is never false for a digest that was
// added and not removed.
func (f *Filter) Has(d umbel.Digest) bool { return f.folded.bits.Has(d) }

// HasAll sets dst[i] to Has(ds[i]): see [umbel.BatchQuerier].
func (f *Filter) HasAll(dst []bool, ds []umbel.Digest) { f.folded.bits.HasAll(dst, ds) }

// Clear removes all keys. The folded filter gets its smallest size.
func (f *Filter) Clear() {
	if f.base == nil {
		return
	}
	f.base.Clear()
	f.fold(f.sizes[0])
}

// Merge adds the keys of another folding filter with the same k, group, width and hasher.
// Bases of different sizes are folded to their greatest common divisor, as
// bloom.Filter.Merge does, and the result is planned for fewer keys. The interval stays
// that of f. The error wraps umbel.ErrMismatch and names the first difference; on error f
// is unchanged.
func (f *Filter) Merge(s umbel.State) error {
	if err := f.State().CheckMatch(s); err != nil {
		return err
	}
	if f.base == nil || len(s.Parts) == 0 && s.Params.Uint("fold") == 0 {
		return errZero
	}
	g, err := open(s)
	if err != nil {
		return err
	}
	union, err := f.base.Array().Merge(g.base.Array())
	if err != nil {
		return fmt.Errorf("folding: bases: %w", err)
	}
	size := max(f.folded.size(), g.folded.size()) // the result needs at least as much
	f.setBase(union)
	i, _ := slices.BinarySearch(f.sizes, size)
	f.fold(f.sizes[min(i, len(f.sizes)-1)])
	f.grow()
	return nil
}

var errZero = arrays.NoSize(Name)

// Folded returns a copy of the folded filter, to publish to readers. It contains the
// current keys. The error wraps umbel.ErrMismatch if f is the zero Filter.
func (f *Filter) Folded() (*bloom.Filter, error) {
	if f.base == nil {
		return nil, errZero
	}
	return bloom.Open(f.folded.bits.Array().Clone().State(arrays.Bloom))
}

// Stats measures the filter: see [umbel.Filter]. The rate is that of the folded filter, which
// answers queries; everything else describes the base, which is larger and gives a better
// estimate of the number of keys. The folded filter takes additional memory, at most one bit
// per cell of the base; its own stats are those of Folded. The stats of the zero Filter are
// zero.
func (f *Filter) Stats() umbel.Stats {
	if f.base == nil {
		return umbel.Stats{}
	}
	s := f.base.Array().Stats()
	s.FPRate = plan.FPRateAtFill(float64(f.folded.ones)/float64(f.folded.size()), f.shape.K)
	return s
}

// Shape returns the shape of the filter. M is the present size of the base, which a merge may
// have folded.
func (f *Filter) Shape() Shape { return f.shape }

// paramNames are the parameters of a state, in order.
var paramNames = []string{"fold", "low", "high"}

// State returns the complete contents of the filter: see [umbel.Filter]. Its only part is the
// base; the folded filter is the base folded by "fold".
func (f *Filter) State() umbel.State {
	s := umbel.State{Kind: Name, Hasher: f.shape.Hasher, Notes: umbel.Notes{Planned: f.planned}}
	factor := uint64(0)
	if f.base != nil {
		factor = f.shape.M / f.folded.size()
		a := f.base.Array()
		s.Parts = []umbel.State{a.State(a.Kind)}
	}
	s.Params = umbel.Params{
		{Name: paramNames[0], Value: umbel.Uint(factor)},
		{Name: paramNames[1], Value: umbel.Uint(f.shape.Low)},
		{Name: paramNames[2], Value: umbel.Uint(f.shape.High)},
	}
	return s
}

// Open returns the filter with state s, which has a base of bits, and takes over its memory. It
// allocates the folded filter: at most one bit per cell of the base. The error wraps
// umbel.ErrKind, also for a base of counters, or umbel.ErrCorrupt.
func Open(s umbel.State) (*Filter, error) { return openWith(s, false) }

// openWith opens a state whose base must have counters or bits.
func openWith(s umbel.State, counters bool) (*Filter, error) {
	f, err := open(s)
	if err != nil {
		return nil, err
	}
	if (f.shape.Width != 0) != counters {
		if counters {
			return nil, sentinel.Errorf(umbel.ErrKind, "folding: the filter has no counters: open it as Filter, with Open")
		}
		return nil, sentinel.Errorf(umbel.ErrKind, "folding: the filter has counters: open it as Counting, with OpenCounting")
	}
	return f, nil
}

// open opens a state with a base of bits or counters.
func open(s umbel.State) (*Filter, error) {
	if s.Kind != Name {
		return nil, sentinel.Errorf(umbel.ErrKind, "folding: the state has kind %.40q, want %q", s.Kind, Name)
	}
	if err := s.Check(); err != nil {
		return nil, err
	}
	var factor, low, high uint64
	if err := s.Params.Uints(paramNames, &factor, &low, &high); err != nil {
		return nil, err
	}
	if len(s.Arrays) != 0 || len(s.Parts) != 1 {
		return nil, sentinel.Errorf(umbel.ErrCorrupt, "folding: %d arrays and %d parts, want one part", len(s.Arrays), len(s.Parts))
	}
	if h := s.Parts[0].Hasher; h != s.Hasher {
		return nil, sentinel.Errorf(umbel.ErrCorrupt, "folding: the base hashes with %v, the filter with %v", h, s.Hasher)
	}
	a, err := openBase(s.Parts[0])
	if err != nil {
		return nil, err
	}
	f := &Filter{shape: Shape{M: a.Shape.M, K: a.Shape.K, Group: a.Shape.Group, Low: low, High: high, Hasher: a.Shape.Hasher}, planned: s.Planned}
	if a.Kind.Counters {
		f.shape.Width = a.Cells.Width
	}
	if err := f.shape.checkInterval(); err != nil {
		return nil, sentinel.Wrap(umbel.ErrCorrupt, err)
	}
	if err := a.CheckFold(factor); err != nil {
		return nil, sentinel.Errorf(umbel.ErrCorrupt, "%v", err)
	}
	f.setBase(a)
	f.fold(f.shape.M / factor)
	return f, nil
}

func openBase(s umbel.State) (arrays.Array, error) {
	switch s.Kind {
	case bloom.Name:
		return arrays.Bloom.Open(s)
	case counting.Name:
		return arrays.Counting.Open(s)
	}
	return arrays.Array{}, sentinel.Errorf(umbel.ErrCorrupt, "folding: a base of kind %.40q, want %s or %s", s.Kind, bloom.Name, counting.Name)
}

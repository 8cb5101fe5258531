// Package union provides filters that consist of other filters, the members. A union
// contains a key if a member does. Members may be of different kinds, sizes and numbers of
// cells per key; only their hasher is the same.
//
// The rate of a union is 1 - Π (1 - p_i), about the sum of the rates of its members, and its
// memory is the sum of theirs. A filter that is planned for all keys takes as much memory for
// that rate. Two Bloom filters of the same size that are joined bit by bit take half of the
// memory, and have a much higher rate: 16 % instead of 2 % if each has a rate of 1 %.
// docs/kinds/union.md contains measurements.
//
// A query takes as long as those of the members until one contains the key. So a union is for
// a few members, for example a ribbon filter that is computed once per day, and a Bloom filter
// with the keys since then.
package union

import (
	"fmt"
	"slices"
	"strings"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/dynamic"
	"github.com/umbel-filters/umbel/filter/internal/kinds"
	"github.com/umbel-filters/umbel/internal/probe"
	"github.com/umbel-filters/umbel/internal/sentinel"
)

// Filter is a union. Stats, State and all methods that begin with Has are safe to call concurrently with
// each other; no other methods are. A Filter must not be copied, since the copies would share memory: use
// Clone. The zero Filter contains nothing and is a target for UnmarshalBinary; adding to it panics.
type Filter struct {
	NoCopy kinds.NoCopy

	hasher  umbel.Hasher
	members []umbel.Filter
	open    int // the member to which keys are added, or -1
	planned umbel.Planned
}

func (f *Filter) core() kinds.Core {
	return kinds.Core{Hasher: f.hasher, Planned: &f.planned, Zero: len(f.members) == 0}
}

// newFilter returns the union of members, at least one.
func newFilter(h umbel.Hasher, members []umbel.Filter) *Filter {
	f := &Filter{hasher: h}
	f.setMembers(members)
	return f
}

func (f *Filter) setMembers(members []umbel.Filter) {
	f.members, f.open = members, slices.IndexFunc(members, isOpen)
}

// isOpen reports whether keys can be added to a member: without a list of digests that would
// grow with each key, and without the expiry of others.
func isOpen(f umbel.Filter) bool {
	switch f.(type) {
	case umbel.Sealer, umbel.PositionLister, umbel.Advancer:
		return false
	}
	return true
}

// Members returns the members, in the order in which they were merged. They are part of f
// and may be queried as long as f does not change; the caller must not change them.
func (f *Filter) Members() []umbel.Filter { return slices.Clone(f.members) }

// Has reports whether a member contains d. It is never false for a digest that was added to f
// or to a member.
func (f *Filter) Has(d umbel.Digest) bool {
	for _, m := range f.members {
		if m.Has(d) {
			return true
		}
	}
	return false
}

// HasAll sets dst[i] to Has(ds[i]): see [umbel.BatchQuerier]. It queries member by member. A
// member is queried in batches for runs of neighboring digests that no earlier member
// contains, so absent keys are queried fastest.
func (f *Filter) HasAll(dst []bool, ds []umbel.Digest) {
	dst = dst[:len(ds):len(dst)]
	clear(dst)
	for _, m := range f.members {
		for i := 0; i < len(ds); i++ {
			first := i
			for i < len(ds) && !dst[i] {
				i++
			}
			if i-first == 1 {
				dst[first] = m.Has(ds[first])
			} else if i > first {
				umbel.HasAll(m, dst[first:i], ds[first:i])
			}
		}
	}
}

// Add adds d unless a member contains it, and reports whether it did. The key goes to the
// first member that is neither a window nor a list (kinds ribbon and sparse). If there is
// none, it goes to the first member; keys of a window by keys may then expire. TryAdd refuses
// d instead. Add panics if f is the zero Filter.
func (f *Filter) Add(d umbel.Digest) bool {
	if len(f.members) == 0 {
		panic(probe.AddToZero)
	}
	if f.Has(d) {
		return false
	}
	m := f.members[max(f.open, 0)]
	if l, ok := m.(interface{ SetMaxBytes(limit uint64) }); ok && f.checkGrowth() != nil {
		l.SetMaxBytes(m.State().Bytes()) // it takes d without growing
	}
	return m.Add(d)
}

// TryAdd is Add, but it refuses d if f would have to grow beyond a limit of the member to
// which keys are added, or if no member is suitable: see [umbel.Grower]. The error then wraps
// umbel.ErrLimit and f is unchanged.
func (f *Filter) TryAdd(d umbel.Digest) (bool, error) {
	if len(f.members) == 0 || f.Has(d) {
		return len(f.members) == 0 && f.Add(d), nil
	}
	if f.open < 0 {
		return false, f.closed()
	}
	if err := f.checkGrowth(); err != nil {
		return false, err
	}
	if g, ok := f.members[f.open].(umbel.Grower); ok {
		return g.TryAdd(d)
	}
	return f.members[f.open].Add(d), nil
}

// NextGrowth returns the bytes that the next new key needs: see [umbel.GrowthForecaster].
func (f *Filter) NextGrowth() (uint64, error) {
	if f.open < 0 {
		return 0, f.closed()
	}
	if err := f.checkGrowth(); err != nil {
		return 0, err
	}
	if g, ok := f.members[f.open].(umbel.GrowthForecaster); ok {
		return g.NextGrowth()
	}
	return 0, nil
}

// checkGrowth returns an error that wraps umbel.ErrLimit if the next new key would give the member that takes it a part,
// and f has as many states as a filter can have.
func (f *Filter) checkGrowth() error {
	g, ok := f.members[max(f.open, 0)].(umbel.GrowthForecaster)
	if !ok {
		return nil
	}
	if more, _ := g.NextGrowth(); more == 0 {
		return nil
	}
	return checkStates(f.states()+1, umbel.ErrLimit)
}

// states returns the number of states of f, its members and their parts.
func (f *Filter) states() int {
	n := 1
	for _, m := range f.members {
		n += m.State().States()
	}
	return n
}

func checkStates(n int, class error) error {
	if n > umbel.MaxStates {
		return sentinel.Errorf(class, "union: its members have %d parts with their own, want at most %d: compact the filter, or make one filter of all keys",
			n-1, umbel.MaxStates-1)
	}
	return nil
}

// closed returns the error for a key that no member can take.
func (f *Filter) closed() error {
	return sentinel.Errorf(umbel.ErrLimit, "union: keys cannot be added to its members of kind %s: merge a filter with the new keys",
		strings.Join(f.kinds(), ", "))
}

// kinds returns the kinds of the members, each once.
func (f *Filter) kinds() []string {
	var names []string
	for _, m := range f.members {
		if name := m.State().Kind; !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// description describes the filter by the number of its members and their kinds, without seed and
// cells.
func (f *Filter) description() string {
	return fmt.Sprintf("union.Filter{%d members of kind %s}", len(f.members), strings.Join(f.kinds(), ", "))
}

// Shape is the shape of a new union. It has one member, to which keys are added: a dynamic
// filter of bits, which equals one Bloom filter up to its planned number of keys.
type Shape struct {
	Member dynamic.Shape
}

// Forecast returns what the member costs, and its rate, with n keys.
func (s Shape) Forecast(n uint64) umbel.Forecast { return s.Member.Forecast(n) }

// newShape returns an empty union of shape s. The error wraps umbel.ErrGoal if no filter can
// have that shape.
func newShape(s Shape) (*Filter, error) {
	m, err := dynamic.NewShape(s.Member)
	if err != nil {
		return nil, err
	}
	return newFilter(m.Hasher(), []umbel.Filter{m}), nil
}

// Kind is this kind of filter, for code that works with any kind.
var Kind umbel.Kind = kinds.Kind[Shape, *Filter]{
	Name: Name,
	Doc:  "filters of any kinds and sizes side by side: merges without joining cells, at the sum of their rates",
	Plan: func(g umbel.Goal, _ umbel.Params) (Shape, uint64, error) {
		s, n, err := dynamic.Kind.Shape(g, nil)
		if err != nil {
			return Shape{}, 0, err
		}
		return Shape{s.(dynamic.Shape)}, n, nil
	},
	New:  newShape,
	Open: Open,
}.Kind()

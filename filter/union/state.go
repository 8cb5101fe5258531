package union

import (
	"math"
	"slices"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/blocked"
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/filter/counting"
	"github.com/umbel-filters/umbel/filter/dynamic"
	"github.com/umbel-filters/umbel/filter/folding"
	"github.com/umbel-filters/umbel/filter/foreign/imported"
	"github.com/umbel-filters/umbel/filter/foreign/nixbloom"
	"github.com/umbel-filters/umbel/filter/foreign/redisbloom"
	"github.com/umbel-filters/umbel/filter/foreign/splitblock"
	"github.com/umbel-filters/umbel/filter/foreign/squid"
	"github.com/umbel-filters/umbel/filter/internal/layered"
	"github.com/umbel-filters/umbel/filter/partitioned"
	"github.com/umbel-filters/umbel/filter/ribbon"
	"github.com/umbel-filters/umbel/filter/scalable"
	"github.com/umbel-filters/umbel/filter/sparse"
	"github.com/umbel-filters/umbel/filter/window"
	"github.com/umbel-filters/umbel/internal/sentinel"
	"github.com/umbel-filters/umbel/plan"
)

// Name is the name of this kind.
const Name = "union"

// MaxMembers is the largest number of members. A query of an absent key visits all of them.
const MaxMembers = 1024

// memberKinds are the kinds of members. Kinds weighted and weighted-counting are not among them: the rate of their
// filters depends on the classes of keys, which a digest does not determine.
var memberKinds = umbel.Kinds{
	bloom.Kind, partitioned.Kind, blocked.Kind, splitblock.Kind, counting.Kind, scalable.Kind, dynamic.Kind,
	folding.Kind, window.Kind, sparse.Kind, redisbloom.Kind, ribbon.Kind,
	squid.Kind, nixbloom.Kind, imported.Kind,
}

// State returns the complete contents of the filter: see [umbel.Filter]. Its parts are the
// states of the members.
func (f *Filter) State() umbel.State {
	s := umbel.State{Kind: Name, Hasher: f.hasher, Notes: umbel.Notes{Planned: f.planned}}
	for _, m := range f.members {
		s.Parts = append(s.Parts, m.State())
	}
	return s
}

// Open returns the union with state s and takes over its memory. The error wraps umbel.ErrKind or
// umbel.ErrCorrupt.
func Open(s umbel.State) (*Filter, error) {
	if len(s.Parts) > MaxMembers {
		return nil, tooMany(len(s.Parts), umbel.ErrCorrupt)
	}
	members, err := layered.OpenParts(Name, s, memberKinds.Open, nil)
	if err != nil {
		return nil, err
	}
	f := newFilter(s.Hasher, members)
	f.planned = s.Planned
	return f, nil
}

func tooMany(members int, class error) error {
	return sentinel.Errorf(class, "union: %d members, want at most %d: compact the filter, or make one filter of all keys", members, MaxMembers)
}

// Of returns the union of the filters with the given states, whose memory it shares. The
// members of a union become members themselves, and a filter that equals an earlier one is
// omitted. The error wraps umbel.ErrMismatch if there is no filter, if hashers differ, if
// there are more than [MaxMembers] or, with all parts, umbel.MaxStates, or if a filter is of kind weighted, of kind weighted-counting or of a kind of another
// module; otherwise it is that of the kind's Open. If it is known what each filter was planned
// for, the union is planned for the sum of the keys, with the rate that follows from all rates.
func Of(states ...umbel.State) (*Filter, error) {
	if len(states) == 0 {
		return nil, sentinel.Errorf(umbel.ErrMismatch, "union: no filters")
	}
	f := &Filter{hasher: states[0].Hasher}
	for _, s := range states {
		if err := f.include(s, func(s umbel.State) umbel.State { return s }); err != nil {
			return nil, err
		}
	}
	f.planned = plannedTogether(states)
	return f, nil
}

// plannedTogether returns what the union of filters is planned for, and zero unless it is known for each.
func plannedTogether(states []umbel.State) umbel.Planned {
	var all umbel.Planned
	var rates []float64
	for _, s := range states {
		if s.Planned == (umbel.Planned{}) {
			return umbel.Planned{}
		}
		all.Keys += min(s.Planned.Keys, math.MaxUint64-all.Keys)
		rates = append(rates, s.Planned.FPRate)
	}
	if all.FPRate = plan.CompoundFPRate(rates...); all.Check() != nil {
		return umbel.Planned{} // a rate of 1
	}
	return all
}

// Merge adds copies of the members of another union, or of another filter of any kind that
// [Of] accepts. A member that f has already is omitted. Call Compact to join members. The
// errors are those of Of; on error f is unchanged.
func (f *Filter) Merge(s umbel.State) error {
	if f.core().Zero {
		return sentinel.Errorf(umbel.ErrMismatch, "union: a zero Filter has no hasher: make it with New")
	}
	return f.include(s, umbel.State.Clone)
}

// include appends the filter with state s or, if it is a union, its members. Each is opened
// from the state that own returns for its own. On error f is unchanged.
func (f *Filter) include(s umbel.State, own func(umbel.State) umbel.State) error {
	if err := f.State().CheckMatch(umbel.State{Kind: Name, Hasher: s.Hasher}); err != nil {
		return err
	}
	states := []umbel.State{s}
	if s.Kind == Name {
		if len(s.Parts) == 0 {
			return sentinel.Errorf(umbel.ErrMismatch, "union: a zero Filter has no members: make it with New")
		}
		if _, err := Open(s); err != nil {
			return err
		}
		states = s.Parts
	}
	members := slices.Clone(f.members)
	for _, s := range states {
		if slices.ContainsFunc(members, func(m umbel.Filter) bool { return m.State().Equal(s) }) {
			continue
		}
		kind, err := memberKinds.Find(s.Kind)
		if err != nil {
			return sentinel.Errorf(umbel.ErrMismatch, "union: a filter of kind %.40q cannot be a member", s.Kind)
		}
		m, err := kind.Open(own(s))
		if err != nil {
			return err
		}
		members = append(members, m)
	}
	if len(members) > MaxMembers {
		return tooMany(len(members), umbel.ErrMismatch)
	}
	all := Filter{members: members}
	if err := checkStates(all.states(), umbel.ErrMismatch); err != nil {
		return err
	}
	f.setMembers(members)
	return nil
}

// Stats measures the filter: see [umbel.Filter]. It reads all cells. FPRate is
// 1 - Π (1 - p_i) with the rates of the members. Keys is the sum of the members' keys, so a
// key that several members contain counts repeatedly. High is the sum of their upper bounds,
// and Low the largest of their lower bounds. K is that of the first member. The Stats of
// the zero Filter are zero.
func (f *Filter) Stats() umbel.Stats {
	if len(f.members) == 0 {
		return umbel.Stats{}
	}
	var sum umbel.Stats
	var nonzero float64
	rates := make([]float64, len(f.members))
	for i, m := range f.members {
		s := m.Stats()
		sum.Keys += s.Keys
		sum.Low = max(sum.Low, s.Low)
		sum.High += s.High
		sum.Cells += s.Cells
		sum.Bytes += s.Bytes
		nonzero += s.Fill * float64(s.Cells)
		rates[i] = s.FPRate
		if i == 0 {
			sum.K = s.K
		}
	}
	if sum.Cells > 0 {
		sum.Fill = nonzero / float64(sum.Cells)
	}
	sum.FPRate = plan.CompoundFPRate(rates...)
	return sum
}

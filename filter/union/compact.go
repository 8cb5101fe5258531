package union

import (
	"cmp"
	"slices"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/internal/sentinel"
	"github.com/umbel-filters/umbel/plan"
)

// rated is a member with its measured rate.
type rated struct {
	filter umbel.Filter
	rate   float64
}

func rate(f umbel.Filter) rated { return rated{f, f.Stats().FPRate} }

// group is the members of one kind with equally many cells in all and per key.
type group struct {
	members []rated // by their rates, the lowest first
	joined  rated   // the first two, joined cell by cell; without a filter if they cannot be
}

// Compact joins members of the same kind and size, cell by cell, as far as the rate as
// estimated by Stats remains at most p. It begins with the two whose union has the lowest
// rate. Fewer members are queried faster and take less memory. All keys stay. If members can
// be joined but joining any two exceeds p, the error wraps umbel.ErrGoal and contains the
// least possible rate; on error f is unchanged.
func (f *Filter) Compact(p float64) error {
	groups := grouped(f.members)
	for n := 0; ; n++ {
		best, least := -1, 0.0
		for i := range groups {
			if groups[i].joined.filter == nil {
				continue
			}
			if r := rateJoining(groups, i); best < 0 || r < least {
				best, least = i, r
			}
		}
		if best >= 0 && !(least <= p) && n == 0 {
			return sentinel.Errorf(umbel.ErrGoal, "union: joining two of %d members gives a rate of at least %.3g, want %.3g", len(f.members), least, p)
		}
		if best < 0 || !(least <= p) {
			break
		}
		groups[best].join()
	}
	var members []umbel.Filter
	for _, g := range groups {
		for _, m := range g.members {
			members = append(members, m.filter)
		}
	}
	f.setMembers(members)
	return nil
}

// grouped divides members into groups that can be joined, in the order of their first members.
func grouped(members []umbel.Filter) []group {
	type size struct {
		kind  string
		cells uint64
		k     float64
	}
	var sizes []size
	var groups []group
	for _, m := range members {
		s := m.Stats()
		is := size{m.State().Kind, s.Cells, s.K}
		i := slices.Index(sizes, is)
		if i < 0 {
			i, sizes, groups = len(sizes), append(sizes, is), append(groups, group{})
		}
		groups[i].members = append(groups[i].members, rated{m, s.FPRate})
	}
	for i := range groups {
		groups[i].prepare()
	}
	return groups
}

// prepare sorts the members and sets joined.
func (g *group) prepare() {
	slices.SortStableFunc(g.members, func(x, y rated) int { return cmp.Compare(x.rate, y.rate) })
	g.joined = rated{}
	if len(g.members) < 2 {
		return
	}
	f, err := memberKinds.Open(g.members[0].filter.State().Clone())
	if err != nil {
		return // not reached: the member's own state opens
	}
	if m, ok := f.(umbel.Merger); ok && m.Merge(g.members[1].filter.State()) == nil {
		g.joined = rate(f)
	}
}

// join replaces the first two members by their union.
func (g *group) join() {
	g.members = append([]rated{g.joined}, g.members[2:]...)
	g.prepare()
}

// rateJoining returns the rate of the whole filter if the first two members of group i are
// joined.
func rateJoining(groups []group, i int) float64 {
	var rates []float64
	for j, g := range groups {
		members := g.members
		if j == i {
			rates, members = append(rates, g.joined.rate), members[2:]
		}
		for _, m := range members {
			rates = append(rates, m.rate)
		}
	}
	return plan.CompoundFPRate(rates...)
}

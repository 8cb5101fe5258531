package message

import (
	"math"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/folding"
	"github.com/umbel-filters/umbel/internal/occupancy"
	"github.com/umbel-filters/umbel/internal/sentinel"
	"github.com/umbel-filters/umbel/plan"
)

// Growth states how the keys of a filter of kind folding grow, of which peers get the folded filter again and again.
// Sailhan and Stehr 2012, section IV, name the rate of addition of items among the requirements of a plan.
type Growth struct {
	Keys     uint64  // distinct keys at the beginning, at least 1
	Share    float64 // of the keys, added in each period: 0.05 is compound growth by 5 %
	Added    float64 // keys that are added in each period, besides
	Periods  int     // 1 to 2^20
	FPRate   float64 // highest rate of the folded filter
	Messages float64 // per period, 0 for 1
}

// Stage is a number of periods in which the folded filter keeps its size.
type Stage struct {
	First, Last int     // periods, from 0, the beginning, on
	Keys        uint64  // at the end of the last one
	Fold        uint64  // the factor by which the base is folded
	M           uint64  // cells of the folded filter
	FPRate      float64 // with these keys
	Snapshot    float64 // mean bits of a message of the whole folded filter with these keys
	Update      float64 // mean bits of a message with the keys of the last period that are new since the one before it
	Sent        float64 // mean bits sent to a receiver: the whole filter when the stage begins, and then updates
}

// maxPeriods is the largest number of periods.
const maxPeriods = 1 << 20

// Plan returns the shape of the filter, for the keys at the end, and the stages of its growth. A folded filter that grows
// has more cells than its receivers know, so that the first message of a stage is the whole filter: a refinement would need a size
// that the one before divides, and in sizes that follow each other none does (TestNoStageRefines). The error wraps
// [plan.ErrRange] if a field is outside its range, or umbel.ErrGoal if no filter has so many keys.
func (g Growth) Plan() (folding.Shape, []Stage, error) {
	switch {
	case g.Periods < 1 || g.Periods > maxPeriods:
		return folding.Shape{}, nil, sentinel.Errorf(plan.ErrRange, "%d periods of growth, want 1 to 2^20", g.Periods)
	case !(g.Share >= 0 && g.Added >= 0 && g.Messages >= 0) || math.IsInf(g.Messages, 0):
		return folding.Shape{}, nil, sentinel.Errorf(plan.ErrRange, "a share of %v and %v keys added, %v messages in a period, want none negative",
			g.Share, g.Added, g.Messages)
	}
	keys := make([]uint64, g.Periods+1)
	for i, n := 0, float64(g.Keys); i < len(keys); i, n = i+1, n*(1+g.Share)+g.Added {
		if !(n < 1<<53) {
			return folding.Shape{}, nil, sentinel.Errorf(plan.ErrRange, "more than 2^53 keys after %d periods; plan fewer of them", i)
		}
		keys[i] = uint64(math.Round(n))
	}
	s, err := folding.Plan(umbel.Goal{Keys: keys[g.Periods], FPRate: g.FPRate})
	if err != nil {
		return folding.Shape{}, nil, err
	}
	return s, g.stages(s, keys), nil
}

// stages returns the stages of a base with the given keys at the end of each period.
func (g Growth) stages(s folding.Shape, keys []uint64) []Stage {
	messages := g.Messages
	if messages == 0 {
		messages = 1
	}
	var stages []Stage
	for i, n := range keys {
		size := s.FoldedSize(n)
		f := plan.Filter{M: size, K: s.K}
		whole := cellsOf(f, n).atMost(0.5)
		update, sent := 0.0, whole // at the beginning one message
		if i > 0 {
			update = min(additions(f, n, float64(n-keys[i-1])/messages).message(0.5), whole)
			sent = messages * update
		}
		last := len(stages) - 1
		if last < 0 || stages[last].M != size {
			if i > 0 {
				sent += whole - update
			}
			stages = append(stages, Stage{First: i, Fold: s.M / size, M: size})
			last++
		}
		o := &stages[last]
		o.Last, o.Keys, o.FPRate, o.Snapshot, o.Update = i, n, f.FPRate(n), whole, update
		o.Sent += sent
	}
	return stages
}

// additions returns the update of a filter to which some of its n keys were added last. A zero becomes a one with
// probability a, and a one stays, so an ideal code takes m·p·H(a) bits, where p is the share of zeros before.
func additions(f plan.Filter, n uint64, added float64) update {
	m := float64(f.M)
	a := occupancy.Fill(m, added*float64(f.K))
	zeros := (1 - f.Fill(n)) / (1 - a)
	bits := m * zeros * entropy(a)
	if zeros*a < sparseChange {
		bits *= sparseCost
	}
	return update{Bits: plan.Bits{Mean: bits}, blocks: m / blockCells}
}

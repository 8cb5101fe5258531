package replica

import (
	"cmp"

	"github.com/umbel-filters/umbel/cmd/internal/http/api"
	"github.com/umbel-filters/umbel/cmd/internal/report"
)

// Who returns, for each key, the filters that may contain it, in the order of zones and costs. Filters that
// are out of date answer as Options.Stale selects. Those that have no answer may contain every key; they are
// listed with the reason. Filters for which include returns false are left out.
func (s *Set) Who(keys [][]byte, include func(filter string) bool) api.Owners {
	owners := api.Owners{Filters: make([][]string, len(keys)), Unanswered: []api.Unanswered{}}
	for i := range keys {
		owners.Filters[i] = []string{}
	}
	for _, f := range s.asked {
		if !include(f.Filter) {
			continue
		}
		for i, key := range keys {
			has, err := f.subscriber.HasBytes(key)
			if err != nil {
				owners.Unanswered = append(owners.Unanswered, f.unanswered(err))
				break
			}
			if has {
				owners.Filters[i] = append(owners.Filters[i], f.Filter)
			}
		}
	}
	return owners
}

// unanswered describes that a query had an error.
func (f *follower) unanswered(err error) api.Unanswered {
	u := api.Unanswered{Filter: f.Filter, State: api.SubscriptionStale, Error: report.Text(err)}
	if f.subscriber.View() == nil {
		u.State = api.SubscriptionWaiting
	}
	if c := f.subscriber.Counters(); c.Err != nil {
		u.Error += "; last update: " + errorText(c.Err)
	}
	return u
}

// compareCosts orders followers in the order in which to try them.
func compareCosts(a, b *follower) int {
	return cmp.Or(cmp.Compare(a.Zone, b.Zone), cmp.Compare(a.Cost, b.Cost), cmp.Compare(a.Filter, b.Filter))
}

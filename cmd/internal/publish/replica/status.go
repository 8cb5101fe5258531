package replica

import (
	"cmp"
	"errors"
	"net/url"
	"time"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/http/api"
	"github.com/umbel-filters/umbel/cmd/internal/report"
	"github.com/umbel-filters/umbel/share"
)

// version is a version in the engine, measured once it is there.
type version struct {
	view  *share.View
	stats umbel.Stats
}

// current returns the version that the engine has, nil if that is none.
func (f *follower) current() *version {
	if g := f.engine.Get([]byte(f.Filter)); g != nil {
		for _, v := range []*version{f.next.Load(), f.shown.Load()} {
			if v == nil {
				continue
			}
			if h := v.view.Head(); h.Version == g.Version() {
				return v
			}
		}
	}
	return f.shown.Load()
}

// status returns the state of the publication.
func (f *follower) status() api.Subscription {
	c := f.subscriber.Counters()
	s := api.Subscription{
		Filter: f.Filter, Path: api.FilterPath(f.Filter), Name: f.Verifier.Name(), Source: withoutCredentials(f.Source), Zone: f.Zone, Cost: f.Cost,
		State: api.SubscriptionWaiting, Versions: c.Versions, Objects: c.Objects, FetchedBytes: c.Bytes, Resyncs: c.Resyncs, Failures: c.Failures,
	}
	if c.Err != nil {
		s.Error = errorText(c.Err)
	}
	if err := f.refused.Load(); err != nil {
		s.Error = (*err).Error()
	}
	shown := f.current()
	if shown == nil {
		return s
	}
	// The head may have been renewed since the version was stored.
	view := f.subscriber.View()
	if view.Filter() != shown.view.Filter() {
		view = shown.view
	}
	s.State = api.SubscriptionStale
	h := view.Head()
	if view.Exact() {
		s.State = api.SubscriptionExact
	}
	at, expires := h.Time, h.Expires()
	s.Version, s.Time, s.Expires, s.ID = h.Version, &at, &expires, h.ID.String()
	s.AgeSeconds = max(0, view.Age(time.Now()).Seconds())
	if s.Fold = h.Fold; s.Fold == 1 {
		s.Fold = 0
	}
	s.Kind, s.Bytes, s.Keys, s.FPRate = h.Kind, shown.stats.Bytes, api.Float(shown.stats.Keys), api.Float(shown.stats.FPRate)
	return s
}

// errorText describes the error of the last update. Waiting for the budget is no failure.
func errorText(err error) string {
	if errors.Is(err, share.ErrBudget) {
		return "waits for budget"
	}
	return report.Text(err)
}

// withoutCredentials returns a source without the password of a URL.
func withoutCredentials(source string) string {
	if u, err := url.Parse(source); err == nil && u.User != nil {
		u.User = nil
		return u.String()
	}
	return source
}

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

package share

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/internal/event"
	"github.com/umbel-filters/umbel/internal/faultlog"
	"github.com/umbel-filters/umbel/internal/sentinel"
)

// Union is a filter with the bits of all versions of some publications, its sources, for a publisher: see Feed. What was united
// stays, also if a source cannot be read any more, is set back, or is replaced by a filter with fewer keys.
//
// Since uniting bits twice, or in another order, changes nothing, unions may follow each other, in a circle too: each is
// published until all have the same bits, and then no more. So many regions can add keys to filters of their own, and each
// publishes the union of its filter and of those that the other regions publish.
//
// The union is of a kind whose additions only set bits and which does not grow ([umbel.Kind.Monotone]), and has the size with
// which it began. A source must have the same kind and hasher, and a size that is a multiple: it is folded, which
// gives the bits that its keys would have set at the size of the union.
//
// Memory is that of the filter in addition to the publisher and the subscribers. The methods must not be called concurrently.
type Union struct {
	o       UnionOptions
	filter  umbel.Filter // nil before the first version
	sources []*unionSource
	wake    chan struct{}
}

// UnionOptions configure a union. Kinds is required.
type UnionOptions struct {
	Kinds umbel.Kinds
	// State is what the union begins with, for example that of Publisher.State after a restart. It is not changed. If it is nil,
	// the union begins with the smallest of the versions that its sources have when Next is called first.
	State *umbel.State
	// Log receives messages about sources: a version cannot be united, lacks bits of the one before, or has expired.
	Log *slog.Logger
}

// unionSource is a publication that a union follows.
type unionSource struct {
	name       string
	subscriber *Subscriber
	log        *slog.Logger
	cached     *View          // the version of its cache, until it is united
	last       *View          // that was united or refused
	united     *View          // the last one that was united
	err        error          // why the last one was refused
	stale      faultlog.Fault // its head has expired
}

// arrival is a version that a union has not seen before.
type arrival struct {
	source *unionSource
	view   *View
}

// NewUnion returns a union. The error wraps umbel.ErrGoal if options are missing, and errors.ErrUnsupported if the state is of
// a kind that cannot be united.
func NewUnion(o UnionOptions) (*Union, error) {
	if len(o.Kinds) == 0 {
		return nil, sentinel.Errorf(umbel.ErrGoal, "a union needs a list of kinds, for example filter.All")
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	u := &Union{o: o, wake: make(chan struct{}, 1)}
	if o.State == nil {
		return u, nil
	}
	return u, u.begin(*o.State)
}

// Follow returns a subscriber whose versions the union takes; name is that of the source in messages. Kinds of o are those of the union,
// unless o has its own; Stale is StaleLast, unless o has another choice. The program calls Run or Update of the subscriber,
// and closes it. Errors are those of NewSubscriber.
func (u *Union) Follow(ctx context.Context, name string, o SubscriberOptions) (*Subscriber, error) {
	if len(o.Kinds) == 0 {
		o.Kinds = u.o.Kinds
	}
	if o.Stale == 0 {
		o.Stale = StaleLast
	}
	changed := o.Changed
	o.Changed = func(v *View) {
		if changed != nil {
			changed(v)
		}
		select {
		case u.wake <- struct{}{}:
		default:
		}
	}
	s, err := NewSubscriber(ctx, o)
	if err == nil {
		u.sources = append(u.sources, &unionSource{name: name, subscriber: s, log: u.o.Log.With("source", name), cached: s.View()})
	}
	return s, err
}

// Feed returns a feed for Publisher.Run with Next and Wake of the union. It renews the head also while sources cannot be united.
func (u *Union) Feed() Feed { return Feed{Next: u.Next, Wake: u.wake, Hold: true} }

// Next unites the versions that the sources have now, as Feed.Next. It returns nil if there is no new one. Versions that
// cannot be united are refused: see Err.
func (u *Union) Next(context.Context) (*Update, error) {
	var fresh []arrival
	for _, s := range u.sources {
		current := s.subscriber.View()
		for _, v := range []*View{s.cached, current} {
			if v != nil && (s.last == nil || s.last.head.ID != v.head.ID) {
				s.last = v
				fresh = append(fresh, arrival{s, v})
			}
		}
		s.cached = nil
		s.note(current)
	}
	if u.filter == nil {
		slices.SortStableFunc(fresh, func(a, b arrival) int { return cmp.Compare(a.view.head.Bytes, b.view.head.Bytes) })
	}
	united := false
	for _, a := range fresh {
		s, h := a.source, a.view.head
		if s.err = u.unite(a.view.filter); s.err != nil {
			s.log.Warn("the source cannot be united", event.SourceRefused, "version", h.Version, "error", s.err)
			continue
		}
		united = true
		s.reportLost(a.view)
		s.united = a.view
	}
	if !united {
		return nil, nil
	}
	return &Update{State: u.filter.State()}, nil
}

// Err returns the errors of the sources whose last version was refused by Next: they wrap umbel.ErrMismatch if it does not fit the
// union, and errors.ErrUnsupported if its kind cannot be united. It returns nil if there are none.
func (u *Union) Err() error {
	var errs []error
	for _, s := range u.sources {
		if s.err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", s.name, s.err))
		}
	}
	return errors.Join(errs...)
}

// begin makes a copy of a state the union.
func (u *Union) begin(s umbel.State) error {
	f, err := u.o.Kinds.Open(s.Clone())
	if err == nil {
		err = u.check(f)
	}
	if err == nil {
		u.filter = f
	}
	return err
}

// check returns an error wrapping errors.ErrUnsupported if filters of the kind of f cannot be united.
func (u *Union) check(f umbel.Filter) error {
	name := f.State().Kind
	k, err := u.o.Kinds.Find(name)
	if err != nil {
		return err
	}
	_, merges := f.(umbel.Merger)
	if _, grows := f.(umbel.Grower); grows {
		return sentinel.Errorf(errors.ErrUnsupported, "filters of kind %s cannot be united: they grow, and two of them grow differently", name)
	}
	if !k.Monotone || !merges {
		return sentinel.Errorf(errors.ErrUnsupported, "filters of kind %s cannot be united: their additions do more than set bits, "+
			"so that uniting a version twice would change the result", name)
	}
	return nil
}

// unite adds the bits of a filter. On error the union is unchanged.
func (u *Union) unite(f umbel.Filter) error {
	if u.filter == nil {
		return u.begin(f.State())
	}
	if err := u.check(f); err != nil {
		return err
	}
	own, s := u.filter.State(), f.State()
	if err := own.CheckMatch(s); err != nil {
		return err
	}
	if have, want := s.Arrays[0].Len, own.Arrays[0].Len; have%want != 0 {
		return sentinel.Errorf(umbel.ErrMismatch, "the source has %d cells, want a multiple of the %d of the union: give all sources one size", have, want)
	}
	return u.filter.(umbel.Merger).Merge(s)
}

// note logs that the head of the source has expired, or that it is valid again.
func (s *unionSource) note(v *View) {
	if v == nil {
		return
	}
	if v.Exact() {
		s.stale.Succeeded(s.log).Info("the source is exact again", event.SubscriptionExact, "version", v.head.Version)
	} else {
		s.stale.Failed(s.log).Warn("the head of the source has expired; its last bits stay", event.SubscriptionStale,
			"version", v.head.Version, "expires", v.head.Expires())
	}
}

// reportLost logs that a version lacks bits of the one before: the source was cleared, replaced or set back.
func (s *unionSource) reportLost(v *View) {
	if s.united == nil {
		return
	}
	before, now := s.united.filter.State(), v.filter.State()
	total := before.Arrays[0].Nonzero()
	lost := total // by a filter of another shape
	if before.SameShape(now) {
		kept := before.Arrays[0].Clone()
		_ = kept.Min(now.Arrays[0]) // they have the same shape
		lost -= kept.Nonzero()
	}
	if lost > 0 {
		s.log.Warn("the source has lost bits, which stay in the union", event.SourceShrunk, "from", s.united.head.Version, "to", v.head.Version,
			"lost", lost, "total", total)
	}
}

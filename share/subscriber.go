package share

import (
	"context"
	"fmt"
	"log/slog"
	"runtime"
	"sync"
	"time"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/filter/sparse"
	"github.com/umbel-filters/umbel/internal/event"
	"github.com/umbel-filters/umbel/internal/faultlog"
	"github.com/umbel-filters/umbel/internal/sentinel"
	"github.com/umbel-filters/umbel/wire"
	"golang.org/x/mod/sumdb/note"
)

// SubscriberOptions configure a subscriber. Source, Verifier, Kinds and Stale are required.
type SubscriberOptions struct {
	Source Source
	// Verifier is the key of the publication. Its name is the name of the publication.
	Verifier note.Verifier
	// Kinds are the kinds that the publication may have, for example filter.All.
	Kinds umbel.Kinds
	Stale Stale
	// Cache keeps the version, so that a restart fetches only what changed since. It also keeps
	// the time of the last head, so that an older one is refused after a restart. It is for one
	// subscriber. If it is nil, each process begins without both.
	Cache Store
	// Compact keeps a filter of kind bloom with k = 1 as the equivalent sparse filter: the list of
	// its nonzero cells. It takes about as many bytes as a snapshot, and queries take longer.
	// During an update there is memory for the cells as well. Other filters stay as they are.
	Compact bool
	// Budget selects a fold class of the publication. Without it, or if the publication has no
	// classes, the subscriber follows the whole filter.
	Budget Budget
	// Limits bound the memory of the filter; the default is 1 GiB. Limits.Workers is the number of
	// goroutines that decode and verify a version; the default is GOMAXPROCS, but at most 4.
	Limits wire.Limits
	// Skew is by how much the clock of the publisher may be ahead; the default is a minute.
	Skew time.Duration
	// Changed, if it is not nil, is called by Update and Run when a new version answers.
	Changed func(*View)
	// Log receives messages about faults that do not fail an update, such as a damaged object that was fetched again,
	// or a Budget that no class keeps; and those of Run: updates fail, and succeed again.
	Log *slog.Logger
	// Now returns the time; the default is time.Now. Update, Run and NewSubscriber compare heads with it.
	// Waiting is in the time of the system: a version becomes stale when the time has passed for which its
	// head was valid by Now when it began to answer, and also when Update or Run find that the head has
	// expired by Now. So a clock that a program sets changes nothing until the next Update, and the period
	// of Run does not depend on it. A test that needs both clocks uses testing/synctest.
	Now func() time.Time
}

// defaultSkew is the difference of clocks that is tolerated.
const defaultSkew = time.Minute

// Subscriber answers queries from the last version of a publication. Update and Run must not be
// called concurrently with each other; all other methods are safe for concurrent use. The zero Subscriber cannot be
// used.
type Subscriber struct {
	o        SubscriberOptions
	chooser  chooser  // which head, and when
	fetcher  fetcher  // from a head to its version
	cache    cache    // the local version
	answerer answerer // the view
	counters counters
	signed   []byte         // the head of the view, as it was received; nil after a restart
	failing  faultlog.Fault // of updates in Run
}

// Counters count what a subscriber did.
type Counters struct {
	Versions    uint64 // that were applied
	Objects     uint64 // that were fetched
	Bytes       uint64 // of these objects, indexes excluded
	Received    uint64 // bytes in all: of heads, indexes and objects, also of useless ones
	Resyncs     uint64 // paths to versions that failed, after which another was tried
	Failures    uint64 // updates that returned an error, except ErrBudget
	Err         error  // of the last update
	LastUpdated time.Time
}

// counters are Counters that are safe for concurrent use.
type counters struct {
	mu    sync.Mutex
	count Counters
}

func (c *counters) change(by func(*Counters)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	by(&c.count)
}

// maxWorkers bounds the default of Limits.Workers.
const maxWorkers = 4

// NewSubscriber returns a subscriber with the version of its cache, if there is one. Whether that is
// still valid is known after the first Update. The error wraps umbel.ErrGoal if the options are incomplete or out
// of range; otherwise it is that of the cache.
func NewSubscriber(ctx context.Context, o SubscriberOptions) (*Subscriber, error) {
	if err := o.complete(); err != nil {
		return nil, err
	}
	s := &Subscriber{o: o}
	s.chooser = chooser{budget: o.Budget, verifier: o.Verifier, log: o.Log, now: o.Now, order: order{skew: o.Skew, log: o.Log}}
	s.chooser.meter.Source, s.chooser.meter.now, s.chooser.meter.limit = o.Source, o.Now, o.Budget.BytesPerSecond
	s.fetcher = fetcher{
		applier: applier{source: &s.chooser.meter, limits: o.Limits, kinds: o.Kinds, afford: s.chooser.afford, arrived: s.arrived},
		resync:  s.resync,
	}
	s.cache = cache{store: o.Cache, log: o.Log}
	s.answerer.policy, s.answerer.skew = o.Stale, o.Skew
	s.answerer.answers.Store(s.answerer.whenStale(nil))
	if o.Cache == nil {
		return s, nil
	}
	h, got, err := s.cache.read(ctx, o.Verifier, o.Limits)
	if err != nil {
		return nil, err
	}
	s.chooser.order.last = h // so that an older one is not accepted, also if the version is damaged
	if got.head != nil {
		s.restore(got)
	}
	return s, nil
}

// complete sets the defaults. The error wraps umbel.ErrGoal if the options are incomplete or out of range.
func (o *SubscriberOptions) complete() error {
	switch {
	case o.Source == nil || o.Verifier == nil || len(o.Kinds) == 0:
		return sentinel.Errorf(umbel.ErrGoal, "a subscriber needs a source, a verifier and a list of kinds")
	case !(o.Budget.Rate >= 0 && o.Budget.Rate < 1):
		return sentinel.Errorf(umbel.ErrGoal, "a budget with a false-positive rate of %v, want 0 for any, or a rate below 1", o.Budget.Rate)
	case o.Stale < StaleError || o.Stale > StaleLast:
		return sentinel.Errorf(umbel.ErrGoal, "choose what a subscriber answers when it is stale: StaleError, StaleMaybe or StaleLast")
	}
	if o.Limits.Bytes == 0 {
		o.Limits.Bytes = wire.DefaultBytes
	}
	if o.Budget.Memory > 0 {
		o.Limits.Bytes = min(o.Limits.Bytes, o.Budget.Memory)
	}
	if o.Limits.Workers == 0 {
		o.Limits.Workers = min(runtime.GOMAXPROCS(0), maxWorkers)
	}
	if o.Skew == 0 {
		o.Skew = defaultSkew
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return nil
}

// restore answers from the version of the cache.
func (s *Subscriber) restore(got local) {
	f, err := s.open(&got)
	if err != nil {
		s.cache.unusable(err)
		return
	}
	s.cache.local = got.packed()
	s.chooser.restore(got.head)
	s.answerer.show(f, got.head, s.o.Now())
}

// open opens the filter of a version, unless the current view has it.
func (s *Subscriber) open(got *local) (f umbel.Filter, err error) {
	if v := s.View(); v != nil && v.head.ID == got.head.ID {
		return v.filter, nil
	}
	if s.o.Compact && got.state.Kind == bloom.Name && got.state.Params.Uint("k") == 1 {
		got.compact, err = sparse.FromBloom(got.state)
		f = got.compact
	} else {
		f, err = s.o.Kinds.Open(got.state)
	}
	if err != nil {
		return nil, fmt.Errorf("version %d: %w", got.head.Version, err)
	}
	return f, nil
}

// arrived counts an object that was fetched, and notes it for the cache.
func (s *Subscriber) arrived(r Ref, data []byte) {
	s.counters.change(func(c *Counters) {
		c.Objects++
		c.Bytes += r.Bytes
	})
	s.cache.arrived(r, data)
}

// resync notes that a path failed.
func (s *Subscriber) resync(what string, err error) {
	s.counters.change(func(c *Counters) { c.Resyncs++ })
	s.o.Log.Warn("a part of the version cannot be used, and another way to it is tried", event.SubscriptionResync, "part", what, "error", err)
}

// Counters returns what the subscriber did.
func (s *Subscriber) Counters() (c Counters) {
	s.counters.change(func(now *Counters) { c = *now })
	c.Received = s.chooser.meter.received.Load()
	return c
}

// View returns the current version, nil before the first. Queries that begin later are answered from this
// version or a later one.
func (s *Subscriber) View() *View { return s.answerer.view.Load() }

// HasString reports whether a key may be in the set. While the subscriber has no valid head, the answer
// is what SubscriberOptions.Stale says. Before the first version it is that of StaleError or, with
// StaleMaybe, true.
func (s *Subscriber) HasString(key string) (bool, error) {
	a := s.answerer.answers.Load()
	return a.from.Has(a.hasher.HashString(key)), a.err
}

// HasBytes is HasString for a key in a byte slice.
func (s *Subscriber) HasBytes(key []byte) (bool, error) {
	a := s.answerer.answers.Load()
	return a.from.Has(a.hasher.HashBytes(key)), a.err
}

// Has is HasString for the digest of a key, made with the hasher of the publication. If that may
// change from one version to another, use HasString: a digest of another hasher may be absent.
func (s *Subscriber) Has(d umbel.Digest) (bool, error) {
	a := s.answerer.answers.Load()
	return a.from.Has(d), a.err
}

// Close stops the subscriber's timer and makes the view stale; later ones are stale as well.
func (s *Subscriber) Close() { s.answerer.close() }

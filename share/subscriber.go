package share

import (
	"context"
	"fmt"
	"log/slog"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/internal/faultlog"
	"github.com/umbel-filters/umbel/wire"
	"golang.org/x/mod/sumdb/note"
)

// Stale says what a subscriber answers while it has no valid head. There is no default: the program
// chooses.
type Stale uint8

const (
	// StaleError answers with ErrStale.
	StaleError Stale = iota + 1
	// StaleMaybe answers that every key may be in the set.
	StaleMaybe
	// StaleLast answers from the last version. Keys that were added since may be missing.
	StaleLast
)

// String returns the name of s as in the command's flag --stale: error, maybe or last.
func (s Stale) String() string {
	switch s {
	case StaleError:
		return "error"
	case StaleMaybe:
		return "maybe"
	case StaleLast:
		return "last"
	}
	return fmt.Sprintf("Stale(%d)", uint8(s))
}

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
	// Log receives what does not fail an update, such as a damaged object that was fetched again, or a
	// Budget that no class keeps; and of Run, as it states there, that updates fail and succeed again.
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
	o       SubscriberOptions
	held    held
	unkept  unkept
	last    *Head  // the last head that was accepted, in this process or, with a cache, before
	signed  []byte // the head of the view, as it was received; nil after a restart
	class   uint64 // the factor of the class whose record is read next; 0 and 1 are the whole filter
	meter   meter
	pace    pace
	target  *target        // the version that the budget does not permit yet, nil if there is none
	needed  uint64         // bytes that the next update takes, if it waits for them
	refused time.Time      // when a change to a finer class failed
	unmet   unmet          // what was logged
	failing faultlog.Fault // of updates in Run
	view    atomic.Pointer[View]
	answers atomic.Pointer[answers]

	mu      sync.Mutex  // guards what follows
	retire  func()      // makes the view stale
	timer   *time.Timer // calls it
	closed  bool
	counter Counters
}

// Counters count what a subscriber did.
type Counters struct {
	Versions    uint64 // that were applied
	Objects     uint64 // that were fetched
	Bytes       uint64 // of these objects, indexes excluded
	Received    uint64 // bytes in all: of heads, indexes and objects, also of those that were of no use
	Resyncs     uint64 // ways that failed, after which another was tried
	Failures    uint64 // updates that returned an error, except ErrBudget
	Err         error  // of the last update
	LastUpdated time.Time
}

// maxWorkers bounds the default of Limits.Workers.
const maxWorkers = 4

// NewSubscriber returns a subscriber with the version of its cache, if there is one. Whether that is
// still valid is known after the first Update. The error wraps umbel.ErrGoal if the options are incomplete or out
// of range; otherwise it is that of the cache.
func NewSubscriber(ctx context.Context, o SubscriberOptions) (*Subscriber, error) {
	switch {
	case o.Source == nil || o.Verifier == nil || len(o.Kinds) == 0:
		return nil, fmt.Errorf("share: a subscriber needs a source, a verifier and a list of kinds: %w", umbel.ErrGoal)
	case !(o.Budget.Rate >= 0 && o.Budget.Rate < 1):
		return nil, fmt.Errorf("share: a budget with a false-positive rate of %v, want 0 for any, or a rate below 1: %w", o.Budget.Rate, umbel.ErrGoal)
	case o.Stale < StaleError || o.Stale > StaleLast:
		return nil, fmt.Errorf("share: choose what a subscriber answers when it is stale: StaleError, StaleMaybe or StaleLast: %w", umbel.ErrGoal)
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
	s := &Subscriber{o: o}
	s.meter.Source, s.meter.now, s.meter.limit = o.Source, o.Now, o.Budget.BytesPerSecond
	s.answers.Store(s.staleAnswers(nil))
	if o.Cache != nil {
		if err := s.restore(ctx); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// Counters returns what the subscriber did.
func (s *Subscriber) Counters() Counters {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.counter
	c.Received = s.meter.received.Load()
	return c
}

func (s *Subscriber) count(change func(*Counters)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.counter)
}

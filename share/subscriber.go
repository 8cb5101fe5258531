package share

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/filter/sparse"
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
	// Log receives what does not fail an update, such as a damaged object that was fetched again.
	Log *slog.Logger
	// Now returns the time; the default is time.Now.
	Now func() time.Time
}

// defaultSkew is the difference of clocks that is tolerated.
const defaultSkew = time.Minute

// Subscriber answers queries from the last version of a publication. Update and Run must not be
// called concurrently with each other; all other methods are safe for concurrent use.
type Subscriber struct {
	o       SubscriberOptions
	held    held
	last    *Head  // the last head that was accepted, in this process or, with a cache, before
	signed  []byte // the head of the view, as it was received; nil after a restart
	class   uint64 // the factor of the class whose record is read next; 0 and 1 are the whole filter
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
	Resyncs     uint64 // ways that failed, after which another was tried
	LastUpdated time.Time
}

// maxWorkers bounds the default of Limits.Workers.
const maxWorkers = 4

// NewSubscriber returns a subscriber with the version of its cache, if there is one. Whether that is
// still valid is known after the first Update.
func NewSubscriber(ctx context.Context, o SubscriberOptions) (*Subscriber, error) {
	switch {
	case o.Source == nil || o.Verifier == nil || len(o.Kinds) == 0:
		return nil, errors.New("share: a subscriber needs a source, a verifier and a list of kinds")
	case !(o.Budget.Rate >= 0 && o.Budget.Rate < 1):
		return nil, fmt.Errorf("share: a budget with a false-positive rate of %v, want 0 for any, or a rate below 1", o.Budget.Rate)
	case o.Stale < StaleError || o.Stale > StaleLast:
		return nil, errors.New("share: choose what a subscriber answers when it is stale: StaleError, StaleMaybe or StaleLast")
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
	s.answers.Store(s.staleAnswers(nil))
	if o.Cache != nil {
		if err := s.restore(ctx); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// Update fetches the head and what leads to its version, and answers from that version from then on.
// After an error the subscriber has its last version until that expires. The error wraps ErrNotFound,
// ErrSignature, ErrReplayed, ErrFork, ErrFuture, ErrCorrupt, umbel.ErrLimit, or is that of the source
// or the cache. It wraps ErrStale if the version was applied, but its head has expired.
func (s *Subscriber) Update(ctx context.Context) error {
	defer s.expire()
	b, err := s.o.Source.Record(ctx, s.record())
	if err != nil {
		s.class = 0
		return fmt.Errorf("share: read the head: %w", err)
	}
	return s.apply(ctx, b)
}

// apply applies a signed head of the record of the class, or that of a class that suits the budget better.
func (s *Subscriber) apply(ctx context.Context, signed []byte) error {
	h, err := s.openHead(signed, max(s.class, 1))
	if err == nil {
		h, signed, err = s.classOf(ctx, h, signed)
	}
	if err == nil {
		err = s.follow(ctx, h, signed)
	}
	if err != nil {
		s.class = 0 // the head of the whole filter announces the classes that there are
	}
	return err
}

// openHead opens a head of the class of a factor, unless it is not in the order of heads.
func (s *Subscriber) openHead(signed []byte, fold uint64) (*Head, error) {
	h, err := OpenHead(signed, s.o.Verifier.Name(), note.VerifierList(s.o.Verifier))
	if err != nil {
		return nil, err
	}
	if err := h.checkClass(fold); err != nil {
		return nil, err
	}
	return h, s.checkOrder(h, s.o.Now())
}

// follow makes the version of a head the one that answers.
func (s *Subscriber) follow(ctx context.Context, h *Head, signed []byte) error {
	now := s.o.Now()
	if v := s.View(); v != nil && v.head.Stream == h.Stream && v.head.Time.Equal(h.Time) && v.head.Fold == h.Fold {
		s.class, s.signed = h.Fold, signed
		s.count(func(c *Counters) { c.LastUpdated = now })
		return v.check(now) // it is exact for as long as it was when the head was new
	}
	r := reacher{source: s.o.Source, limits: s.o.Limits, fetched: s.fetched, note: s.resync}
	got, err := r.reach(ctx, h, s.held)
	if err != nil {
		return err
	}
	f, err := s.open(&got)
	if err != nil {
		return err
	}
	if err := s.keep(ctx, &got, signed); err != nil {
		return err
	}
	isNew := s.held.head == nil || s.held.head.ID != h.ID
	s.held, s.last = got.packed(), h
	s.class, s.signed = h.Fold, signed
	s.count(func(c *Counters) {
		if c.LastUpdated = now; isNew {
			c.Versions++
		}
	})
	now = s.o.Now() // objects may have taken long
	v := s.show(f, h, now)
	if isNew && s.o.Changed != nil {
		s.o.Changed(v)
	}
	return v.check(now)
}

// checkOrder refuses heads that are older than the last one, contradict it, or are from the future.
func (s *Subscriber) checkOrder(h *Head, now time.Time) error {
	if ahead := h.Time.Sub(now); ahead > s.o.Skew {
		return fmt.Errorf("share: the head was signed %v in the future; check both clocks: %w", ahead.Round(time.Second), ErrFuture)
	}
	last := s.last
	if last == nil {
		return nil
	}
	switch c := h.Stream.Compare(last.Stream); {
	case c < 0 && h.Time.After(last.Time) && now.Before(last.Expires()):
		return fmt.Errorf("share: a publisher that began at %s still signs heads, after another began at %s: stop one, or give it a key of its own: %w",
			time.UnixMilli(h.Stream.Began).UTC().Format(time.RFC3339), time.UnixMilli(last.Stream.Began).UTC().Format(time.RFC3339), ErrFork)
	case h.Time.Before(last.Time):
		return fmt.Errorf("share: head of version %d from %s, but version %d from %s was accepted before: %w",
			h.Version, h.Time.Format(time.RFC3339Nano), last.Version, last.Time.Format(time.RFC3339Nano), ErrReplayed)
	case h.Time.Equal(last.Time) && (h.Stream != last.Stream || h.Version != last.Version || h.Fold == last.Fold && h.ID != last.ID):
		return fmt.Errorf("share: two heads were signed at %s, of versions %d and %d: %w", h.Time.Format(time.RFC3339Nano), last.Version, h.Version, ErrFork)
	case c < 0:
		s.o.Log.Warn("the publisher that began later has stopped", "stream", h.Stream, "instead of", last.Stream)
	case c == 0 && (h.Version < last.Version || h.Version == last.Version && h.Fold == last.Fold && h.ID != last.ID):
		// The head was signed later, so it is what the publisher means. Its store was restored.
		s.o.Log.Warn("the publisher was set back", "from", last.Version, "to", h.Version)
	}
	return nil
}

// open opens the filter of a state, unless the current view has it.
func (s *Subscriber) open(got *held) (umbel.Filter, error) {
	if v := s.view.Load(); v != nil && v.head.ID == got.head.ID {
		return v.filter, nil
	}
	if s.o.Compact && got.state.Kind == bloom.Name && got.state.Params.Uint("k") == 1 {
		f, err := sparse.FromBloom(got.state)
		if err != nil {
			return nil, fmt.Errorf("share: version %d: %w", got.head.Version, err)
		}
		got.compact = f
		return f, nil
	}
	f, err := s.o.Kinds.Open(got.state)
	if err != nil {
		return nil, fmt.Errorf("share: version %d: %w", got.head.Version, err)
	}
	return f, nil
}

// packed returns h without what its compact form contains.
func (h held) packed() held {
	if h.compact != nil {
		h.state, h.tree = umbel.State{}, nil
	}
	return h
}

func (s *Subscriber) fetched(ctx context.Context, r Ref, data []byte) error {
	s.count(func(c *Counters) {
		c.Objects++
		c.Bytes += r.Bytes
	})
	if s.o.Cache == nil {
		return nil
	}
	if _, err := putBytes(ctx, s.o.Cache, data); err != nil {
		return fmt.Errorf("share: %w: %w", errKeep, err)
	}
	return nil
}

func (s *Subscriber) resync(what string, err error) {
	s.count(func(c *Counters) { c.Resyncs++ })
	s.o.Log.Warn("another way to the version is tried", "failed", what, "error", err)
}

// Counters returns what the subscriber did.
func (s *Subscriber) Counters() Counters {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.counter
}

func (s *Subscriber) count(change func(*Counters)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.counter)
}

package share

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/umbel-filters/umbel"
)

// View is a version of a filter. It does not change; Subscriber.View returns a new one when there is
// a new version. Its methods are safe for concurrent use.
type View struct {
	filter umbel.Filter
	head   *Head
	fold   uint64
	stale  atomic.Bool
	rate   func() float64
}

// Filter returns the filter. It must not be changed. With SubscriberOptions.Compact it may be the sparse
// filter that is equivalent to the published one, and with Budget.Shrink a fold of it.
func (v *View) Filter() umbel.Filter { return v.filter }

// Head returns the head of the version. If the subscriber follows a fold class, it is the head of that
// class.
func (v *View) Head() Head { return *v.head }

// Fold returns the factor by which the published filter was folded; 1 is the whole filter. It is that of the
// class, Head.Fold or, with Budget.Shrink, a multiple of it.
func (v *View) Fold() uint64 { return v.fold }

// Rate returns the false-positive rate of the view, measured from the fill of its cells. The first call
// reads all cells.
func (v *View) Rate() float64 { return v.rate() }

// Exact reports whether the version was verified and its head is valid: whether the view answers as
// the publisher's filter did less than Head.Valid ago.
func (v *View) Exact() bool { return !v.stale.Load() }

// Age returns how long before now the head was signed.
func (v *View) Age(now time.Time) time.Duration { return now.Sub(v.head.Time) }

// show makes a version the one that answers. It stays exact until the head expires by the clock, and
// not longer than the head is valid from now on, in case the clock is slow. If the head is from the
// future, as one of the cache can be, the clock is wrong, and the version is stale. Time during which
// the machine is suspended counts when Update or Run checks the clock next.
func (s *Subscriber) show(f umbel.Filter, h *Head, fold uint64, now time.Time) *View {
	v := &View{filter: f, head: h, fold: fold, rate: sync.OnceValue(func() float64 { return f.Stats().FPRate })}
	left := min(h.Expires().Sub(now), h.Valid)
	s.mu.Lock()
	defer s.mu.Unlock()
	if h.Time.Sub(now) > s.o.Skew || s.closed {
		left = 0
	}
	if s.timer != nil {
		s.timer.Stop()
	}
	v.stale.Store(left <= 0)
	defer s.view.Store(v) // after the answers: a caller that has seen a version finds its keys
	switch {
	case s.closed:
		s.answers.Store(s.closedAnswers(v))
		return v
	case left <= 0:
		s.answers.Store(s.staleAnswers(v))
		return v
	}
	exact := &answers{from: f, hasher: f.Hasher()}
	s.answers.Store(exact)
	s.retire = func() {
		v.stale.Store(true)
		s.answers.CompareAndSwap(exact, s.staleAnswers(v))
	}
	s.timer = time.AfterFunc(left, s.retire)
	return v
}

// answers are the results of queries. They are immutable, so that a query loads one pointer.
type answers struct {
	from   interface{ Has(umbel.Digest) bool }
	hasher umbel.Hasher // of from
	err    error
}

// always is a filter that contains every key.
type always struct{}

func (always) Has(umbel.Digest) bool { return true }

// staleAnswers returns the answers while a view is stale, or while there is none.
func (s *Subscriber) staleAnswers(v *View) *answers {
	switch {
	case s.o.Stale == StaleMaybe:
		return &answers{from: always{}}
	case v == nil:
		return &answers{from: always{}, err: fmt.Errorf("share: no version has arrived yet: %w", ErrStale)}
	case s.o.Stale == StaleLast:
		return &answers{from: v.filter, hasher: v.filter.Hasher()}
	}
	return &answers{from: always{}, err: v.check(v.head.Expires())}
}

// closedAnswers returns the answers after Close.
func (s *Subscriber) closedAnswers(v *View) *answers {
	a := s.staleAnswers(v)
	if a.err != nil {
		a.err = errClosed
	}
	return a
}

var errClosed = fmt.Errorf("share: the subscriber is closed: %w", ErrStale)

// check returns an error wrapping ErrStale if the view is stale, which it also is after Close.
func (s *Subscriber) check(v *View, now time.Time) error {
	err := v.check(now)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil && s.closed {
		return errClosed
	}
	return err
}

// check returns an error wrapping ErrStale if the view is stale.
func (v *View) check(now time.Time) error {
	if now.Before(v.head.Expires()) && v.Exact() {
		return nil
	}
	return fmt.Errorf("share: the head of version %d was valid until %s: %w", v.head.Version, v.head.Expires().Format(time.RFC3339), ErrStale)
}

// expire marks the view stale if its head has expired by the clock.
func (s *Subscriber) expire() {
	if v := s.view.Load(); v != nil && v.Exact() && !s.o.Now().Before(v.head.Expires()) {
		s.retire()
	}
}

// View returns the current version, nil before the first. Queries that begin later are answered from this
// version or a later one.
func (s *Subscriber) View() *View { return s.view.Load() }

// HasString reports whether a key may be in the set. While the subscriber has no valid head, the answer
// is what SubscriberOptions.Stale says. Before the first version it is that of StaleError or, with
// StaleMaybe, true.
func (s *Subscriber) HasString(key string) (bool, error) {
	a := s.answers.Load()
	return a.from.Has(a.hasher.HashString(key)), a.err
}

// HasBytes is HasString for a key in a byte slice.
func (s *Subscriber) HasBytes(key []byte) (bool, error) {
	a := s.answers.Load()
	return a.from.Has(a.hasher.HashBytes(key)), a.err
}

// Has is HasString for the digest of a key, made with the hasher of the publication. If that may
// change from one version to another, use HasString: a digest of another hasher may be absent.
func (s *Subscriber) Has(d umbel.Digest) (bool, error) {
	a := s.answers.Load()
	return a.from.Has(d), a.err
}

// Close stops the subscriber's timer and makes the view stale; later ones are stale as well.
func (s *Subscriber) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	if s.timer != nil {
		s.timer.Stop()
	}
	v := s.View()
	if v != nil && v.Exact() {
		s.retire()
	}
	s.answers.Store(s.closedAnswers(v))
}

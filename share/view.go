package share

import (
	"fmt"
	"sync/atomic"
	"time"

	"github.com/umbel-filters/umbel"
)

// View is a version of a filter. It does not change; Subscriber.View returns a new one when there is
// a new version. Its methods are safe for concurrent use.
type View struct {
	filter umbel.Filter
	head   *Head
	stale  atomic.Bool
}

// Filter returns the filter. It must not be changed. With SubscriberOptions.Compact it may be the sparse
// filter that is equivalent to the published one.
func (v *View) Filter() umbel.Filter { return v.filter }

// Head returns the head of the version.
func (v *View) Head() Head { return *v.head }

// Exact reports whether the version was verified and its head is valid: whether the view answers as
// the publisher's filter did less than Head.Valid ago.
func (v *View) Exact() bool { return !v.stale.Load() }

// Age returns how long before now the head was signed.
func (v *View) Age(now time.Time) time.Duration { return now.Sub(v.head.Time) }

// show makes a version the one that answers. It stays exact until the head expires by the clock, and
// not longer than the head is valid from now on, in case the clock is slow. If the head is from the
// future, as one of the cache can be, the clock is wrong, and the version is stale. Time during which
// the machine is suspended counts when Update or Run checks the clock next.
func (s *Subscriber) show(f umbel.Filter, h *Head, now time.Time) *View {
	v := &View{filter: f, head: h}
	left := min(h.Expires().Sub(now), h.Valid)
	if h.Time.Sub(now) > s.o.Skew {
		left = 0
	}
	v.stale.Store(left <= 0)
	if s.timer != nil {
		s.timer.Stop()
	}
	if left > 0 {
		s.timer = time.AfterFunc(left, func() { v.stale.Store(true) })
	}
	s.view.Store(v)
	return v
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
	if v := s.view.Load(); v != nil && !s.o.Now().Before(v.head.Expires()) {
		v.stale.Store(true)
	}
}

// View returns the current version, nil before the first.
func (s *Subscriber) View() *View { return s.view.Load() }

// HasString reports whether a key may be in the set. While the subscriber has no valid head, the answer
// is what SubscriberOptions.Stale says. Before the first version it is that of StaleError or, with
// StaleMaybe, true.
func (s *Subscriber) HasString(key string) (bool, error) {
	v := s.view.Load()
	if v == nil {
		return s.hasStale(nil, umbel.Digest{})
	}
	return s.hasIn(v, v.filter.Hasher().HashString(key))
}

// HasBytes is HasString for a key in a byte slice.
func (s *Subscriber) HasBytes(key []byte) (bool, error) {
	v := s.view.Load()
	if v == nil {
		return s.hasStale(nil, umbel.Digest{})
	}
	return s.hasIn(v, v.filter.Hasher().HashBytes(key))
}

// Has is HasString for the digest of a key, made with the hasher of the publication. If that may
// change from one version to another, use HasString: a digest of another hasher may be absent.
func (s *Subscriber) Has(d umbel.Digest) (bool, error) {
	v := s.view.Load()
	if v == nil || v.stale.Load() {
		return s.hasStale(v, d)
	}
	return v.filter.Has(d), nil
}

// hasIn answers from a version, or as a stale one.
func (s *Subscriber) hasIn(v *View, d umbel.Digest) (bool, error) {
	if v.stale.Load() {
		return s.hasStale(v, d)
	}
	return v.filter.Has(d), nil
}

func (s *Subscriber) hasStale(v *View, d umbel.Digest) (bool, error) {
	switch {
	case s.o.Stale == StaleMaybe:
		return true, nil
	case v == nil:
		return true, fmt.Errorf("share: no version has arrived yet: %w", ErrStale)
	case s.o.Stale == StaleLast:
		return v.filter.Has(d), nil
	}
	return true, v.check(v.head.Expires())
}

// Close stops the subscriber's timer and makes the view stale.
func (s *Subscriber) Close() {
	if s.timer != nil {
		s.timer.Stop()
	}
	if v := s.View(); v != nil {
		v.stale.Store(true)
	}
}

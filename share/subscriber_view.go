package share

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/internal/sentinel"
)

// View is a version of a filter. It does not change; Subscriber.View returns a new one when there is
// a new version. Its methods are safe for concurrent use.
type View struct {
	filter umbel.Filter
	head   *Head
	until  time.Time // the end of the validity by the clock of the system
	stale  atomic.Bool
	rate   func() float64
}

// Filter returns the filter. It must not be changed. With SubscriberOptions.Compact it may be the sparse
// filter that is equivalent to the published one.
func (v *View) Filter() umbel.Filter { return v.filter }

// Head returns the head of the version. If the subscriber follows a fold class, it is the head of that
// class: Head.Fold is the factor by which the published filter was folded.
func (v *View) Head() Head { return *v.head }

// Rate returns the false-positive rate of the view that follows from the number of its nonzero cells: the probability
// that Filter().Has returns true for an absent key. The first call reads all cells.
func (v *View) Rate() float64 { return v.rate() }

// Exact reports whether the version was verified and its head is valid at the time of the call, so that the view
// answers as the publisher's filter did less than Head.Valid ago (the package comment states what wrong clocks
// change). It compares the time with the end of the validity by both clocks of the system: the one that can be set,
// and the one that counts on.
//
// The answer of Filter().Has is exact if Exact returns true afterwards. Those of Subscriber.Has and HasString may be
// stale for as long as the timer that ends the validity is late, some milliseconds on a busy machine.
func (v *View) Exact() bool {
	if v.stale.Load() {
		return false
	}
	now := time.Now()
	return now.Before(v.until) && now.Round(0).Before(v.until.Round(0))
}

// Age returns how long before now the head was signed.
func (v *View) Age(now time.Time) time.Duration { return now.Sub(v.head.Time) }

// check returns an error wrapping ErrStale if the view is stale.
func (v *View) check(now time.Time) error {
	if now.Before(v.head.Expires()) && v.Exact() {
		return nil
	}
	return sentinel.Errorf(ErrStale, "the head of version %d was valid until %s", v.head.Version, v.head.Expires().Format(time.RFC3339))
}

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

// answers are the results of queries. They are immutable, so that a query loads one pointer.
type answers struct {
	from   interface{ Has(umbel.Digest) bool }
	hasher umbel.Hasher // of from
	err    error
}

// always is a filter that contains every key.
type always struct{}

func (always) Has(umbel.Digest) bool { return true }

// answerer is the part of a subscriber that answers queries, from the view or as Stale says. It is safe for concurrent
// use, but show has one caller.
type answerer struct {
	policy  Stale
	skew    time.Duration // of clocks, which is tolerated
	view    atomic.Pointer[View]
	answers atomic.Pointer[answers]

	mu     sync.Mutex  // guards the fields below
	retire func()      // makes the view stale
	timer  *time.Timer // calls it
	closed bool
}

// show makes a version the one that answers. It stays exact until the head expires by the clock, and
// not longer than the head is valid from now on, in case the clock is slow. If the head is from the
// future, as one of the cache can be, the clock is wrong, and the version is stale. Queries use the version for as long
// as the machine is suspended in addition, until expire is called.
func (a *answerer) show(f umbel.Filter, h *Head, now time.Time) *View {
	left := min(h.Expires().Sub(now), h.Valid)
	a.mu.Lock()
	defer a.mu.Unlock()
	if h.Time.Sub(now) > a.skew || a.closed {
		left = 0
	}
	if a.timer != nil {
		a.timer.Stop()
	}
	v := &View{filter: f, head: h, until: time.Now().Add(left), rate: sync.OnceValue(func() float64 { return f.Stats().FPRate })}
	v.stale.Store(left <= 0)
	defer a.view.Store(v) // after the answers: a caller that has seen a version finds its keys
	switch {
	case a.closed:
		a.answers.Store(a.whenClosed(v))
		return v
	case left <= 0:
		a.answers.Store(a.whenStale(v))
		return v
	}
	exact := &answers{from: f, hasher: f.Hasher()}
	a.answers.Store(exact)
	a.retire = func() {
		v.stale.Store(true)
		a.answers.CompareAndSwap(exact, a.whenStale(v))
	}
	a.timer = time.AfterFunc(left, a.retire)
	return v
}

// whenStale returns the answers while a view is stale, or while there is none.
func (a *answerer) whenStale(v *View) *answers {
	switch {
	case a.policy == StaleMaybe:
		return &answers{from: always{}}
	case v == nil:
		return &answers{from: always{}, err: sentinel.Errorf(ErrStale, "no version has arrived yet")}
	case a.policy == StaleLast:
		return &answers{from: v.filter, hasher: v.filter.Hasher()}
	}
	return &answers{from: always{}, err: v.check(v.head.Expires())}
}

// whenClosed returns the answers after close.
func (a *answerer) whenClosed(v *View) *answers {
	x := a.whenStale(v)
	if x.err != nil {
		x.err = errClosed
	}
	return x
}

var errClosed = sentinel.Errorf(ErrStale, "the subscriber is closed")

// check returns an error wrapping ErrStale if the view is stale, which it also is after close.
func (a *answerer) check(v *View, now time.Time) error {
	err := v.check(now)
	a.mu.Lock()
	defer a.mu.Unlock()
	if err != nil && a.closed {
		return errClosed
	}
	return err
}

// expire makes the view stale if its head has expired by the clock of the subscriber or of the system.
func (a *answerer) expire(now time.Time) {
	if v := a.view.Load(); v != nil && !v.stale.Load() && v.check(now) != nil {
		a.retire()
	}
}

// close stops the timer and makes the view stale; later ones are stale as well.
func (a *answerer) close() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.closed = true
	if a.timer != nil {
		a.timer.Stop()
	}
	v := a.view.Load()
	if v != nil && !v.stale.Load() {
		a.retire()
	}
	a.answers.Store(a.whenClosed(v))
}

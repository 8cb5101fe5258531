package share

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/internal/event"
	"github.com/umbel-filters/umbel/internal/faultlog"
	"github.com/umbel-filters/umbel/internal/sentinel"
)

// Feed is the filter that Publisher.Run publishes, and when Run looks at it. Next is required.
type Feed struct {
	// Next returns what to publish, or nil if that is what it returned last. A filter that has not changed is not
	// published again, so Next need not find that out. Run calls it at the beginning, once per Period, after each value of
	// Wake and before it renews a head, and then reads the state until it calls Done: nothing may change the filter
	// meanwhile. It may read the state again, after a failure or if the change was too small, until it calls Next.
	Next func(ctx context.Context) (*Update, error)
	// Period is the time from one call of Next to the other. If it is zero, Run calls Next for its other reasons only.
	Period time.Duration
	// Wake, if it is not nil, makes Run call Next at once. With room for one value, a program never waits:
	//
	//	select {
	//	case wake <- struct{}{}:
	//	default:
	//	}
	Wake <-chan struct{}
	// WhenChanged is the share of cells, from 0 to 1, that must have changed since the last version: an update with a
	// smaller change is published when the head is due to be renewed, a third of its validity after it was signed, or with
	// further changes. Until then subscribers don't have it. The number of cells that differ is divided by the number of those of the last
	// version that are not zero; that is about the share of keys that were added or removed. (Mitzenmacher
	// 2002, section IV, divides by all cells.) With 0 each change is published.
	WhenChanged float64
	// Hold makes Run renew the head of the last version even if Next fails, or the filter cannot be published or is
	// refused. Without it, the head expires, and subscribers become stale.
	Hold bool
	// Done, if it is not nil, is called after Next and, if there is something to publish, after that: with the last head
	// that was signed, which is nil before the first version, and an error if the filter is not published.
	Done func(h *Head, err error)
}

// firstRetry is the time until the first attempt after a failure, unless the period is shorter. Each further attempt
// waits twice as long, at most a third of the validity of a head, or a period if that is longer.
const firstRetry = time.Second

// Run publishes what feed returns, until ctx ends, and then returns its error. It publishes when the filter has changed,
// and renews the head after a third of its validity. If the store fails, it tries again after a time that doubles from a
// second, or from the period of feed if that is shorter. An update that is refused (MaxShrink) is not tried
// again; the refusal remains until Next returns another update.
//
// The first failure is logged, then at most one per minute with the number of those that were omitted, another cause at
// once, and the first success after it. Run returns an error wrapping ErrFork if something else changed the store:
// continue with a new publisher. It wraps umbel.ErrGoal if feed has no Next or no valid WhenChanged.
func (p *Publisher) Run(ctx context.Context, feed Feed) error {
	if feed.Next == nil {
		return sentinel.Errorf(umbel.ErrGoal, "run a publisher with a Feed that has Next")
	}
	if err := checkWhenChanged(feed.WhenChanged); err != nil {
		return err
	}
	r := runner{p: p, feed: feed}
	for {
		err := r.look(ctx)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		r.report(err)
		if feed.Done != nil {
			feed.Done(p.Head(), err)
		}
		if errors.Is(err, ErrFork) {
			return err
		}
		if !r.wait(ctx, err) {
			return ctx.Err()
		}
	}
}

// runner is one call of Run.
type runner struct {
	p        *Publisher
	feed     Feed
	update   *Update // the last one of feed if it is not published yet
	refused  error   // why it will not be
	failures int     // of the store, in a row
	failing  faultlog.Fault
	cleaning faultlog.Fault // of objects that no head needs any more
}

// look publishes what feed has, and renews the head if that is due.
func (r *runner) look(ctx context.Context) error {
	next, err := r.feed.Next(ctx)
	if next != nil && err == nil {
		r.update, r.refused = next, nil
	}
	failed := false
	if err == nil {
		if err = r.publish(ctx); err != nil {
			failed = !isShrunk(err)
		}
	}
	if (err == nil || r.feed.Hold) && ctx.Err() == nil && r.p.untilRenewal() <= 0 {
		h, renewed := r.p.Renew(ctx)
		r.clean(h, renewed)
		if h == nil && renewed != nil {
			err, failed = errors.Join(err, renewed), true
		}
	}
	if r.failures++; !failed {
		r.failures = 0
	}
	return err
}

// publish publishes the update of feed, if there is one.
func (r *runner) publish(ctx context.Context) error {
	if r.update == nil {
		return r.refused
	}
	if r.awaits() {
		return nil
	}
	h, err := r.p.put(ctx, *r.update, false)
	if h != nil {
		r.clean(h, err)
		r.update = nil
		return nil
	}
	if isShrunk(err) {
		r.update, r.refused = nil, err
	}
	return err
}

// clean notes whether old objects could be removed, after a head was stored.
func (r *runner) clean(h *Head, err error) {
	if h == nil {
		return
	}
	log := r.p.o.Log
	if err != nil {
		r.cleaning.FailedBy(log, err).Warn("old objects of the publication remain", event.CleanupFailed, "error", err)
	} else {
		r.cleaning.Succeed()
	}
}

// report logs a failure, or that it is over.
func (r *runner) report(err error) {
	log := r.p.o.Log
	if err != nil {
		r.failing.FailedBy(log, err).Warn("publishing failed", event.PublicationFailed, "error", err)
	} else {
		r.failing.Succeeded(log).Info("publishing succeeds again", event.PublicationRecovered)
	}
}

// wait waits until the next look is due after one that ended with err. It reports false if ctx ends.
func (r *runner) wait(ctx context.Context, err error) bool {
	if ctx.Err() != nil {
		return false // Done may have ended it: a value of Wake is for the next Run
	}
	period := r.feed.Period
	if period <= 0 {
		period = math.MaxInt64
	}
	d := period
	switch {
	case r.failures > 0:
		d = min(firstRetry, period) << min(r.failures-1, 20)
		d = min(d, max(r.p.o.Valid/3, r.feed.Period))
	case err == nil || r.feed.Hold:
		d = min(d, r.p.untilRenewal())
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-r.feed.Wake:
		return true
	case <-ctx.Done():
		return false
	}
}

// untilRenewal returns the time until the head is renewed: a third of its validity after it was signed, or now if it is
// valid for another time than the option, or from the future since the clock was set back. Without a version it is the
// longest time.
func (p *Publisher) untilRenewal() time.Duration {
	h := p.Head()
	if h == nil || !p.isComplete() {
		return math.MaxInt64
	}
	age := p.o.Now().Sub(h.Time)
	if h.Valid != p.o.Valid || age < -defaultSkew {
		return 0
	}
	return p.o.Valid/3 - age
}

// checkWhenChanged returns an error wrapping umbel.ErrGoal if share cannot be Feed.WhenChanged.
func checkWhenChanged(share float64) error {
	if !(share >= 0 && share <= 1) {
		return sentinel.Errorf(umbel.ErrGoal, "publish when a share of %v of the cells has changed: want 0 to 1", share)
	}
	return nil
}

// awaits reports whether the update of feed waits for further changes.
func (r *runner) awaits() bool {
	if r.feed.WhenChanged == 0 || r.p.untilRenewal() <= 0 {
		return false
	}
	c := r.p.whole()
	if c.head == nil || changedShare(c.history.state, r.update.State) >= r.feed.WhenChanged {
		return false
	}
	r.p.current = false // the next update lists words from this one on
	return true
}

// changedShare returns the number of cells that differ between two states, as a share of those of the first that are
// not zero. It is 1 if they have another shape, or if only their parameters differ.
func changedShare(last, next umbel.State) float64 {
	if !last.SameShape(next) {
		return 1
	}
	var changed, used uint64
	to := next.AllArrays()
	for i, a := range last.AllArrays() {
		used += a.Nonzero()
		changed += differing(a, to[i])
	}
	if changed == 0 && !last.Equal(next) {
		return 1
	}
	return float64(changed) / float64(max(used, 1))
}

// differing returns the number of cells that differ between arrays of the same shape.
func differing(a, b cells.Array) (n uint64) {
	const words = 1024
	var buffer [words]uint64
	for at := 0; at < len(a.Words); at += words {
		block := a.Words[at:min(at+words, len(a.Words))]
		for i, w := range block {
			buffer[i] = w ^ b.Words[at+i]
		}
		d := cells.Array{Words: buffer[:len(block)], Width: a.Width, Len: uint64(len(block)) * 64 / uint64(max(a.Width, 1))}
		n += d.Nonzero()
	}
	return n
}

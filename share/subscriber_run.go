package share

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/umbel-filters/umbel/internal/event"
	"github.com/umbel-filters/umbel/internal/pause"
)

const (
	// minWait and maxWait bound the time between two heads that Run requests. After a failure it doubles.
	minWait = 100 * time.Millisecond
	maxWait = 5 * time.Minute
	// maxWatch is more than the sources of this module wait for another head.
	maxWatch = 40 * time.Second
)

// Run updates the subscriber until ctx ends, and then returns its error. It requests the head once
// per period, or whenever it changes if the source is a Watcher. A Watcher may wait for 40
// seconds, or for a period if that is longer, and at most until the head expires; then the head is requested
// all the same. Failed updates are repeated after a time that doubles from 100 ms to at most period; each
// time varies by up to a quarter, so that many subscribers do not act at once. The first one is logged, then at most
// one per minute with the number of those that were omitted, and the first update that succeeds again: with a head that
// has not expired.
func (s *Subscriber) Run(ctx context.Context, period time.Duration) error {
	period = max(period, minWait)
	retry := pause.Doubling{First: minWait, Most: maxWait}
	var last []byte
	for {
		if d := s.chooser.wait(); d > 0 {
			if !pause.For(ctx, d) {
				return ctx.Err()
			}
			s.answerer.expire(s.o.Now())
			continue
		}
		wait, began, accepted := period, time.Now(), s.chooser.order.last
		_, watched := s.o.Source.(Watcher)
		unchanged, err := false, error(nil)
		if p := s.chooser.pending; p != nil {
			err = s.follow(ctx, p)
		} else {
			unchanged, err = s.followNext(ctx, period, last)
		}
		if !unchanged && (err == nil || errors.Is(err, ErrStale)) {
			last = s.signed
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if !unchanged {
			s.ended(err)
		}
		s.answerer.expire(s.o.Now())
		switch {
		case errors.Is(err, ErrBudget):
			wait = 0 // until the budget permits more
		case err != nil:
			wait = min(retry.Next(), period)
		case watched && (s.chooser.order.last != accepted || time.Since(began) >= minWait):
			wait = 0
		case watched: // the source returned at once, without a later head
			wait = minWait
		}
		if err == nil {
			retry.Reset()
		}
		if wait > 0 {
			wait = wait*3/4 + rand.N(wait/2)
		}
		if unchanged && s.failing.Lasts() {
			err = s.answerer.check(s.View(), s.o.Now()) // a head that has expired does not end the fault
		}
		if err == nil || errors.Is(err, ErrBudget) {
			s.failing.Succeeded(s.o.Log).Info("updates succeed again", event.SubscriptionRecovered)
		} else {
			s.failing.Failed(s.o.Log).Warn("update failed", event.SubscriptionFailed, "delay", wait.Round(time.Millisecond), "error", err)
		}
		if wait > 0 && !pause.For(ctx, wait) {
			return ctx.Err()
		}
	}
}

// followNext reads the next head, and follows it unless it is the last one.
func (s *Subscriber) followNext(ctx context.Context, period time.Duration, last []byte) (unchanged bool, err error) {
	b, err := s.chooser.next(ctx, s.watchTime(period), last)
	if err != nil {
		s.chooser.reset()
		return false, err
	}
	if last != nil && bytes.Equal(b, last) {
		return true, nil
	}
	return false, s.apply(ctx, b)
}

// watchTime returns for how long a source may wait for the next head. A shorter time would end long polls
// that the server is about to answer; a longer one would leave a lost message unnoticed until the head
// has expired.
func (s *Subscriber) watchTime(period time.Duration) time.Duration {
	last := s.chooser.order.last
	if last == nil {
		return period
	}
	wait := max(period, maxWatch)
	if left := last.Expires().Sub(s.o.Now()); left > 0 {
		return min(wait, left)
	}
	return period
}

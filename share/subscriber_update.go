package share

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Update fetches the head and the objects that lead to its version, and answers from that version from then on. If the
// last head still waits for bytes (Budget.BytesPerSecond), it continues with that one. After an error the subscriber
// has its last version until that expires. The error wraps ErrNotFound,
// ErrSignature, ErrReplayed, ErrFork, ErrFuture, ErrCorrupt, ErrBudget, umbel.ErrLimit, or is that of the
// source or the cache. It wraps ErrStale if the version was applied, but its head has expired or the
// subscriber is closed.
func (s *Subscriber) Update(ctx context.Context) (err error) {
	defer func() {
		s.answerer.expire(s.o.Now())
		s.ended(err)
	}()
	if d := s.chooser.wait(); d > 0 {
		return fmt.Errorf("the next head must wait for %v: %w", d.Round(time.Millisecond), ErrBudget)
	}
	if p := s.chooser.pending; p != nil {
		return s.follow(ctx, p)
	}
	signed, err := s.chooser.read(ctx)
	if err != nil {
		s.chooser.reset()
		return fmt.Errorf("read the head: %w", err)
	}
	return s.apply(ctx, signed)
}

// ended counts an update. One that waits for the budget has not failed.
func (s *Subscriber) ended(err error) {
	s.counters.change(func(c *Counters) {
		if c.Err = err; err != nil && !errors.Is(err, ErrBudget) {
			c.Failures++
		}
	})
}

// apply follows a signed head, or that of a class that suits the budget better.
func (s *Subscriber) apply(ctx context.Context, signed []byte) error {
	h, err := s.chooser.openNext(signed)
	if err == nil {
		err = s.followBest(ctx, h, signed)
	}
	if err != nil && !errors.Is(err, ErrBudget) {
		s.chooser.reset()
	}
	return err
}

// followBest follows the class that suits the budget, as a head announces the classes.
func (s *Subscriber) followBest(ctx context.Context, h *Head, signed []byte) error {
	local := s.cache.local.head
	best, fold, err := s.chooser.best(ctx, h, signed, local)
	if err == nil && fold == h.Fold {
		return s.follow(ctx, newPending(h, signed))
	}
	if err == nil {
		var other *Head
		if other, err = s.chooser.open(best, fold); err == nil {
			err = s.follow(ctx, newPending(other, best))
		}
	}
	if err != nil && fold < h.Fold && local != nil && h.Fold == local.Fold && ctx.Err() == nil {
		s.chooser.refuse(h, fold, err) // the subscriber has a class that it can follow meanwhile
		return s.follow(ctx, newPending(h, signed))
	}
	return err
}

// follow makes the version of a head the one that answers. If its bytes must wait, the next update continues with
// the head, and otherwise begins with another.
func (s *Subscriber) follow(ctx context.Context, p *pendingHead) error {
	s.chooser.pending = nil
	err := s.advance(ctx, p)
	if errors.Is(err, ErrBudget) {
		s.chooser.pending = p
	}
	return err
}

// advance makes the version of a head the one that answers.
func (s *Subscriber) advance(ctx context.Context, p *pendingHead) error {
	h, now := p.Head, s.o.Now()
	if v := s.View(); v != nil && v.head.Stream == h.Stream && v.head.Time.Equal(h.Time) && v.head.Fold == h.Fold {
		s.chooser.class, s.signed = h.Fold, p.signed
		s.counters.change(func(c *Counters) { c.LastUpdated = now })
		return s.answerer.check(v, now) // it is exact for as long as it was when the head was new
	}
	mayRefine := s.chooser.mayRefine(h)
	s.fetcher.keep = s.o.Cache != nil || mayRefine
	got, err := s.fetcher.fetch(ctx, h, s.cache.from(h), p.fetched)
	if err != nil {
		return err
	}
	f, err := s.open(&got)
	if err != nil {
		return err
	}
	isNew := s.cache.local.head == nil || s.cache.local.head.ID != h.ID
	if err := s.cache.set(ctx, got, p.signed, mayRefine); err != nil {
		return err
	}
	s.signed = p.signed
	s.chooser.accept(p)
	s.counters.change(func(c *Counters) {
		if c.LastUpdated = now; isNew {
			c.Versions++
		}
	})
	now = s.o.Now() // objects may have taken long
	v := s.answerer.show(f, h, now)
	if isNew && s.o.Changed != nil {
		s.o.Changed(v)
	}
	return s.answerer.check(v, now)
}

package share

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/filter/sparse"
	"github.com/umbel-filters/umbel/wire"
	"golang.org/x/mod/sumdb/note"
)

// Update fetches the head and what leads to its version, and answers from that version from then on. If the last
// head still waits for bytes (Budget.BytesPerSecond), it continues with that one. After an error the subscriber
// has its last version until that expires. The error wraps ErrNotFound,
// ErrSignature, ErrReplayed, ErrFork, ErrFuture, ErrCorrupt, ErrBudget, umbel.ErrLimit, or is that of the
// source or the cache. It wraps ErrStale if the version was applied, but its head has expired or the
// subscriber is closed.
func (s *Subscriber) Update(ctx context.Context) (err error) {
	defer func() {
		s.expire()
		s.ended(err)
	}()
	if d := s.pause(); d > 0 {
		return fmt.Errorf("share: the next head must wait for %v: %w", d.Round(time.Millisecond), ErrBudget)
	}
	if s.target != nil {
		return s.follow(ctx, s.target)
	}
	b, err := s.readRecord(ctx, s.record())
	if err != nil {
		s.class = 0
		return fmt.Errorf("share: read the head: %w", err)
	}
	return s.apply(ctx, b)
}

// ended counts an update. One that waits for the budget has not failed.
func (s *Subscriber) ended(err error) {
	s.count(func(c *Counters) {
		if c.Err = err; err != nil && !errors.Is(err, ErrBudget) {
			c.Failures++
		}
	})
}

// pause returns the time until the next head may be read. If it is zero, an update begins.
func (s *Subscriber) pause() time.Duration {
	d := s.meter.wait(s.needed)
	if d == 0 {
		s.needed = 0
	}
	return d
}

// readRecord reads and counts a record.
func (s *Subscriber) readRecord(ctx context.Context, name string) ([]byte, error) {
	b, err := s.o.Source.Record(ctx, name)
	s.meter.count(b)
	return b, err
}

// apply applies a signed head of the record of the class, or that of a class that suits the budget better.
func (s *Subscriber) apply(ctx context.Context, signed []byte) error {
	h, err := s.openHead(signed, max(s.class, 1))
	if err == nil {
		s.pace.note(h, len(signed))
		err = s.followBest(ctx, h, signed)
	}
	if err != nil && !errors.Is(err, ErrBudget) {
		s.class = 0 // the head of the whole filter announces the classes that there are
	}
	return err
}

// followBest follows the class that suits the budget, as a head announces the classes.
func (s *Subscriber) followBest(ctx context.Context, h *Head, signed []byte) error {
	best, fold, err := s.headOf(ctx, h, signed)
	if err == nil && fold == h.Fold {
		return s.follow(ctx, newTarget(h, signed))
	}
	if err == nil {
		var other *Head
		if other, err = s.openHead(best, fold); err == nil {
			err = s.follow(ctx, newTarget(other, best))
		}
	}
	if err != nil && fold < h.Fold && h.Fold == s.heldFold() && ctx.Err() == nil {
		// The subscriber has a class that it can follow meanwhile.
		s.refused, s.needed = s.o.Now(), 0
		s.o.Log.Warn("the class stays, because a finer one cannot be followed", "class", h.Fold, "finer", fold, "error", err)
		return s.follow(ctx, newTarget(h, signed))
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

// advance makes the version of a target the one that answers.
func (s *Subscriber) advance(ctx context.Context, t *target) error {
	h, signed, now := t.head, t.signed, s.o.Now()
	if v := s.View(); v != nil && v.head.Stream == h.Stream && v.head.Time.Equal(h.Time) && v.head.Fold == h.Fold {
		s.class, s.signed = h.Fold, signed
		s.count(func(c *Counters) { c.LastUpdated = now })
		return s.check(v, now) // it is exact for as long as it was when the head was new
	}
	r := reacher{
		source: &s.meter, limits: s.o.Limits, kinds: s.o.Kinds, afford: s.afford, fetched: s.fetched, note: s.resync,
		keep: s.o.Cache != nil || s.mayRefine(h), indexes: t.indexes,
	}
	base := s.base(h)
	got, err := r.reach(ctx, h, base)
	if err != nil {
		return err
	}
	f, fold, err := s.open(&got)
	if err != nil {
		return err
	}
	if err := s.keep(ctx, &got, signed); err != nil {
		s.unkept.held = got
		return err
	}
	s.unkept = unkept{}
	isNew := s.held.head == nil || s.held.head.ID != h.ID
	s.held, s.last = got.packed(), h
	s.class, s.signed = h.Fold, signed
	s.count(func(c *Counters) {
		if c.LastUpdated = now; isNew {
			c.Versions++
		}
	})
	now = s.o.Now() // objects may have taken long
	v := s.show(f, h, fold, now)
	s.meter.begin()
	s.needed = s.nextBytes(h, uint64(len(signed)))
	if isNew && s.o.Changed != nil {
		s.o.Changed(v)
	}
	return s.check(v, now)
}

// mayRefine reports whether refinements may begin with the snapshot of a head.
func (s *Subscriber) mayRefine(h *Head) bool { return s.o.Budget != (Budget{}) && h.Fold > 1 }

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
		s.o.Log.Warn("the publisher that began later has stopped", "stream", h.Stream.String(), "last", last.Stream.String())
	case c > 0: // another program publishes with the key, or the store of the publisher was lost
		s.o.Log.Warn("a publisher that began later is followed now", "stream", h.Stream.String(), "last", last.Stream.String(), "from", last.Version, "to", h.Version)
	case c == 0 && (h.Version < last.Version || h.Version == last.Version && h.Fold == last.Fold && h.ID != last.ID):
		// The head was signed later, so it is what the publisher means. Its store was restored.
		s.o.Log.Warn("the publisher was set back", "from", last.Version, "to", h.Version)
	}
	return nil
}

// open opens the filter of a state, unless the current view has it, and returns the factor of its fold.
func (s *Subscriber) open(got *held) (f umbel.Filter, fold uint64, err error) {
	if v := s.view.Load(); v != nil && v.head.ID == got.head.ID {
		return v.filter, v.fold, nil
	}
	if s.o.Compact && got.state.Kind == bloom.Name && got.state.Params.Uint("k") == 1 {
		got.compact, err = sparse.FromBloom(got.state)
		f = got.compact
	} else {
		f, err = s.o.Kinds.Open(got.state)
	}
	if err != nil {
		return nil, 0, fmt.Errorf("share: version %d: %w", got.head.Version, err)
	}
	fold = got.head.Fold
	if smaller, r := s.shrink(got.state); smaller != nil {
		f, fold = smaller, fold*r
		if got.compact == nil {
			got.pack, err = wire.Packer{}.Append(nil, got.state)
		}
	}
	return f, fold, err
}

func (s *Subscriber) fetched(r Ref, data []byte) {
	s.count(func(c *Counters) {
		c.Objects++
		c.Bytes += r.Bytes
	})
	if s.o.Cache != nil {
		s.unkept.add(r, data)
	}
}

func (s *Subscriber) resync(what string, err error) {
	s.count(func(c *Counters) { c.Resyncs++ })
	s.o.Log.Warn("a part of the version cannot be used, and another way to it is tried", "part", what, "error", err)
}

package share

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"time"

	"github.com/umbel-filters/umbel/internal/event"
	"golang.org/x/mod/sumdb/note"
)

// chooser is the part of a subscriber that reads heads: it decides which head is read next and when, which class
// suits the budget, and whether the bytes of a version may be fetched.
type chooser struct {
	budget   Budget
	verifier note.Verifier
	log      *slog.Logger
	now      func() time.Time
	meter    meter // the source
	pace     pace
	order    order
	class    uint64       // the factor of the class whose record is read next; 0 and 1 are the whole filter
	pending  *pendingHead // whose bytes the budget does not permit yet, nil if there is none
	needed   uint64       // bytes that the next update takes, if it waits for them
	refused  time.Time    // when a change to a finer class failed
	exceeded exceeded     // the parts of the budget that were logged
}

// pendingHead is a head whose version is fetched next. If the bytes must wait for the budget, it stays pending: the path
// to a later version would become longer while bytes are saved. Versions are skipped instead.
type pendingHead struct {
	*Head
	signed  []byte
	fetched indexes
}

func newPending(h *Head, signed []byte) *pendingHead { return &pendingHead{h, signed, make(indexes)} }

// wait returns the time until the next head may be read. If it is zero, an update begins.
func (c *chooser) wait() time.Duration {
	d := c.meter.wait(c.needed)
	if d == 0 {
		c.needed = 0
	}
	return d
}

// read reads the head of the class that is followed.
func (c *chooser) read(ctx context.Context) ([]byte, error) {
	return c.readRecord(ctx, ClassRecord(c.class))
}

// readRecord reads and counts a record.
func (c *chooser) readRecord(ctx context.Context, name string) ([]byte, error) {
	b, err := c.meter.Record(ctx, name)
	c.meter.count(b)
	return b, err
}

// next returns the head, if the source can wait for that once it differs from last. If the source waits longer than
// limit, it requests the head whether it changed or not.
func (c *chooser) next(ctx context.Context, limit time.Duration, last []byte) (b []byte, err error) {
	if w, ok := c.meter.Source.(Watcher); ok && last != nil {
		limited, cancel := context.WithTimeout(ctx, limit)
		defer cancel()
		b, err = w.WatchRecord(limited, ClassRecord(c.class), last)
		if !bytes.Equal(b, last) {
			c.meter.count(b)
		}
		if limited.Err() == nil || ctx.Err() != nil {
			return b, err
		}
	}
	return c.read(ctx)
}

// open opens a head of the class of a factor, unless it is out of order.
func (c *chooser) open(signed []byte, fold uint64) (*Head, error) {
	h, err := OpenHead(signed, c.verifier.Name(), note.VerifierList(c.verifier))
	if err != nil {
		return nil, err
	}
	if err := h.checkClass(fold); err != nil {
		return nil, err
	}
	return h, c.order.check(h, c.now())
}

// openNext opens the head that was read.
func (c *chooser) openNext(signed []byte) (*Head, error) {
	h, err := c.open(signed, max(c.class, 1))
	if err == nil {
		c.pace.note(h, len(signed))
	}
	return h, err
}

// reset makes the next update begin with the head of the whole filter, which announces the classes.
func (c *chooser) reset() { c.class = 0 }

// best returns the signed head of the class that suits the budget, which may be that of h, and the factor. A class
// whose record is not there, as in an incomplete copy of a publication, is left out. local is the head of the local
// version, nil if there is none.
func (c *chooser) best(ctx context.Context, h *Head, signed []byte, local *Head) ([]byte, uint64, error) {
	var missing []uint64
	for {
		fold, err := c.choose(h, local, missing)
		if err == nil {
			c.warn(h, fold, local == nil)
		}
		if err != nil || fold == h.Fold {
			return signed, fold, err
		}
		b, err := c.readRecord(ctx, ClassRecord(fold))
		if !errors.Is(err, ErrNotFound) {
			if err != nil {
				err = fmt.Errorf("read the head of class %d: %w", fold, err)
			}
			return b, fold, err
		}
		c.log.Warn("a class that the publication announces is missing", event.SubscriptionClass, "class", fold)
		missing = append(missing, fold)
	}
}

// choose returns the factor of the class that suits the budget, among the classes that h announces and that are not
// missing. If it is finer than the local version and the bytes of the change are not saved yet, choose returns the
// class of the local version.
func (c *chooser) choose(h, local *Head, missing []uint64) (fold uint64, err error) {
	if c.budget == (Budget{}) || len(h.Classes) == 0 {
		return h.Fold, nil
	}
	classes := slices.DeleteFunc(slices.Clone(h.Classes), func(x Class) bool { return slices.Contains(missing, x.Fold) })
	whole := uint64(math.MaxUint64)
	if h.Bytes <= whole/h.Fold {
		whole = h.Bytes * h.Fold
	}
	from, behind := uint64(0), false
	if local != nil {
		from, behind = local.Fold, local.Stream == h.Stream && h.Version > local.Version+MaxHeadDeltas
	}
	fold, err = c.budget.choose(choice{classes, whole, from, behind, &c.pace})
	if err != nil || fold >= from || !slices.ContainsFunc(classes, func(x Class) bool { return x.Fold == from }) {
		return fold, err
	}
	since := c.now().Sub(c.refused)
	if since >= 0 && since < retryRefine || c.meter.allowance() < changeBytes(classes, from, fold) {
		return from, nil
	}
	return fold, nil
}

// retryRefine is the time between two attempts to change to a finer class, after the first has failed.
const retryRefine = time.Minute

// refuse notes that a finer class cannot be followed: the class of h stays for a time.
func (c *chooser) refuse(h *Head, finer uint64, err error) {
	c.refused, c.needed = c.now(), 0
	c.log.Warn("the class stays, because a finer one cannot be followed", event.SubscriptionClass, "class", h.Fold, "finer", finer, "error", err)
}

// mayRefine reports whether refinements may begin with the snapshot of a head.
func (c *chooser) mayRefine(h *Head) bool { return c.budget != (Budget{}) && h.Fold > 1 }

// afford is meter.afford for the objects of a version. If the bytes must wait, so does the next update.
func (c *chooser) afford(bytes uint64) error {
	err := c.meter.afford(bytes)
	if err != nil {
		c.needed = bytes
	}
	return err
}

// accept notes that the version of a head is the local one.
func (c *chooser) accept(p *pendingHead) {
	c.order.last, c.class = p.Head, p.Fold
	c.meter.begin()
	c.needed = c.nextBytes(p)
}

// restore notes the head of the version in a cache.
func (c *chooser) restore(h *Head) {
	c.order.last = h
	if c.budget != (Budget{}) {
		c.class = h.Fold
		c.meter.begin()
	}
}

// nextBytes returns the bytes to save before the head after p is read, which is about as long as p: those of the
// head and of a delta, so that the version is fetched while its head is new. Saving them ends at the half of the
// validity, because the head may have to be renewed only.
func (c *chooser) nextBytes(p *pendingHead) uint64 {
	if c.meter.limit == 0 {
		return 0
	}
	half := p.Expires().Sub(c.now()) / 2
	until := c.meter.allowance() + float64(c.meter.limit)*max(half, time.Second).Seconds()
	return uint64(max(0, min(float64(uint64(len(p.signed))+p.Head.class().Delta), until)))
}

// warn logs the parts of the budget that the chosen class exceeds, once until it is within them again.
func (c *chooser) warn(h *Head, fold uint64, isFirst bool) {
	i := slices.IndexFunc(h.Classes, func(x Class) bool { return x.Fold == fold })
	if i < 0 {
		return
	}
	class, b, log := h.Classes[i], c.budget, c.log.With("class", fold)
	perSecond, _ := c.pace.of(fold)
	now, was := b.exceededBy(class, isFirst, i == len(h.Classes)-1, perSecond), c.exceeded
	if now.rate && !was.rate {
		log.Warn("no class within the limits has the rate that suffices", event.SubscriptionBudget, "rate", class.Rate, "wanted", b.Rate)
	}
	if now.start && !was.start {
		log.Warn("every first version is longer than the limit", event.SubscriptionBudget, "bytes", class.Snapshot, "limit", b.Start)
	}
	if now.perSecond && !was.perSecond {
		log.Warn("the coarsest class takes more bytes per second than the limit; versions are skipped or late",
			event.SubscriptionBudget, "bytes", uint64(perSecond), "limit", b.BytesPerSecond)
	}
	c.exceeded = now
}

// order refuses heads that are out of order.
type order struct {
	skew time.Duration // by which the clock of the publisher may be ahead
	log  *slog.Logger
	last *Head // that was accepted, in this process or, with a cache, before
}

// check refuses heads that are older than the last one, contradict it, or are from the future.
func (o *order) check(h *Head, now time.Time) error {
	if ahead := h.Time.Sub(now); ahead > o.skew {
		return fmt.Errorf("the head was signed %v in the future; check both clocks: %w", ahead.Round(time.Second), ErrFuture)
	}
	last := o.last
	if last == nil {
		return nil
	}
	switch c := h.Stream.Compare(last.Stream); {
	case c < 0 && h.Time.After(last.Time) && now.Before(last.Expires()):
		return fmt.Errorf("a publisher that began at %s still signs heads, after another began at %s: stop one, or give it a key of its own: %w",
			time.UnixMilli(h.Stream.Began).UTC().Format(time.RFC3339), time.UnixMilli(last.Stream.Began).UTC().Format(time.RFC3339), ErrFork)
	case h.Time.Before(last.Time):
		return fmt.Errorf("head of version %d from %s, but version %d from %s was accepted before: %w",
			h.Version, h.Time.Format(time.RFC3339Nano), last.Version, last.Time.Format(time.RFC3339Nano), ErrReplayed)
	case h.Time.Equal(last.Time) && (h.Stream != last.Stream || h.Version != last.Version || h.Fold == last.Fold && h.ID != last.ID):
		return fmt.Errorf("two heads were signed at %s, of versions %d and %d: %w", h.Time.Format(time.RFC3339Nano), last.Version, h.Version, ErrFork)
	case c < 0:
		o.log.Warn("the publisher that began later has stopped", event.SubscriptionPublisher, "stream", h.Stream.String(), "last", last.Stream.String())
	case c > 0: // another program publishes with the key, or the store of the publisher was lost
		o.log.Warn("a publisher that began later is followed now", event.SubscriptionPublisher, "stream", h.Stream.String(),
			"last", last.Stream.String(), "from", last.Version, "to", h.Version)
	case c == 0 && (h.Version < last.Version || h.Version == last.Version && h.Fold == last.Fold && h.ID != last.ID):
		// The head was signed later, so it is what the publisher means. Its store was restored.
		o.log.Warn("the publisher was set back", event.SubscriptionPublisher, "from", last.Version, "to", h.Version)
	}
	return nil
}

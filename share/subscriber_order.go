package share

import (
	"fmt"
	"log/slog"
	"time"

	"github.com/umbel-filters/umbel/internal/event"
)

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

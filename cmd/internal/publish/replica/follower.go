package replica

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/internal/event"
	"github.com/umbel-filters/umbel/internal/sentinel"
	"github.com/umbel-filters/umbel/share"
	"github.com/umbel-filters/umbel/share/dir"
)

// follower follows one publication.
type follower struct {
	Publication
	engine     *engine.Engine
	stale      share.Stale
	cache      *dir.Store
	subscriber *share.Subscriber
	log        *slog.Logger
	shown      atomic.Pointer[version] // in the engine; nil: none yet
	next       atomic.Pointer[version] // the same, or about to be stored there
	refused    atomic.Pointer[error]   // why the engine has an older version than the subscriber
	wasExact   bool                    // of logState
}

// begin stores the version of the cache in the engine, or an empty filter.
func (f *follower) begin() error {
	if v := f.subscriber.View(); v != nil {
		f.show(v)
		if err := f.refused.Load(); err != nil {
			return *err
		}
		return nil
	}
	empty, err := bloom.NewShape(bloom.Shape{M: 64, K: 1})
	if err != nil {
		return err
	}
	_, err = f.engine.Follow(f.Filter, empty, 0, func() error {
		if f.stale == share.StaleMaybe {
			return engine.ErrMaybe
		}
		return sentinel.Errorf(share.ErrStale, "no version has arrived yet")
	})
	return err
}

// run follows the publication until ctx ends.
func (f *follower) run(ctx context.Context, period time.Duration) {
	_ = f.subscriber.Run(ctx, period) // the error is that of ctx
}

// show stores a version in the engine.
func (f *follower) show(v *share.View) {
	h, next := v.Head(), &version{view: v}
	f.next.Store(next)
	g, err := f.engine.Follow(f.Filter, v.Filter(), h.Version, func() error { return f.check(v) })
	if err != nil {
		f.refused.Store(&err)
		f.log.Error("version can't be used; the one before answers until its head expires", event.SubscriptionRefused, "version", h.Version, "error", err)
		return
	}
	f.refused.Store(nil)
	measured := &version{view: v}
	_ = g.View(func(u umbel.Filter) { measured.stats = u.Stats() }) // zero after a fault, which the engine reports
	f.shown.Store(measured)
	f.next.Store(measured)
	f.log.Debug("new version", "version", h.Version, "bytes", h.Bytes)
}

// logState logs when the version becomes exact or stale. It is called by one goroutine.
func (f *follower) logState() {
	v := f.subscriber.View()
	exact := v != nil && v.Exact()
	if exact == f.wasExact {
		return
	}
	h := v.Head()
	if f.wasExact = exact; exact {
		f.log.Info("publication is exact", event.SubscriptionExact, "version", h.Version, "bytes", h.Bytes)
	} else {
		f.log.Warn("publication is stale, because its head has expired", event.SubscriptionStale, "version", h.Version, "expires", h.Expires())
	}
}

// check returns nil while the version of a view answers, and otherwise what engine.Engine.Follow documents.
// A later view has the same filter if only the head was renewed.
func (f *follower) check(shown *share.View) error {
	h := shown.Head()
	switch now := f.subscriber.View(); {
	case now.Filter() == shown.Filter() && now.Exact():
		return nil
	case now.Filter() != shown.Filter() && time.Now().Before(h.Expires()):
		return nil // the next version is about to be stored
	}
	switch f.stale {
	case share.StaleLast:
		return nil
	case share.StaleMaybe:
		return engine.ErrMaybe
	}
	h = f.subscriber.View().Head() // it may have been renewed
	return sentinel.Errorf(share.ErrStale, "the head of version %d was valid until %s", h.Version, h.Expires().Format(time.RFC3339))
}

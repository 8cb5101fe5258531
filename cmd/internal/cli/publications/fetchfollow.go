package publications

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/umbel-filters/umbel/cmd/internal/cli"
	"github.com/umbel-filters/umbel/internal/event"
	"github.com/umbel-filters/umbel/share"
)

// follow writes versions as they appear, until ctx ends. It warns when the version in the file has expired.
// If the file can't be written, it tries again later; an error of the first write ends it, and so does a head that the
// key did not sign before there is a version.
func (f *fetcher) follow(ctx context.Context, o share.SubscriberOptions, period time.Duration) (err error) {
	changed := make(chan struct{}, 1)
	o.Changed = func(*share.View) {
		select {
		case changed <- struct{}{}:
		default:
		}
	}
	o.Log = slog.New(unsigned{o.Log.Handler(), f})
	if f.s, err = share.NewSubscriber(ctx, o); err != nil {
		return err
	}
	defer f.s.Close()
	ctx, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- f.s.Run(ctx, period) }()
	defer func() { stop(); <-ended }()
	t := time.NewTicker(time.Second)
	defer t.Stop()
	warned := false
	for {
		switch v := f.s.View(); {
		case v == nil:
			if err := f.s.Counters().Err; errors.Is(err, share.ErrSignature) {
				return cli.WithCode(cli.ExitRefused, err)
			}
		case v.Exact():
			same := f.written != nil && f.written.Head().ID == v.Head().ID
			if h := v.Head(); warned && same {
				f.log.Info("version is valid again", event.SubscriptionExact, "file", f.output, "version", h.Version, "expires", h.Expires().UTC())
			}
			warned = false
			if same || time.Now().Before(f.retryAt) {
				break
			}
			if err := f.put(); err != nil && f.written == nil {
				return err
			} else if err != nil {
				f.postpone(err)
			} else {
				f.delay = 0
				f.unwritten.Succeeded(f.log).Info("file is written again", event.WriteRecovered, "file", f.output)
			}
		case !warned:
			warned = true
			h := v.Head()
			f.log.Warn("version has expired", event.SubscriptionStale, "file", f.output, "version", h.Version, "expires", h.Expires().UTC())
		}
		select {
		case <-ctx.Done():
			if f.written == nil {
				return cli.Interrupted(ctx, f.output+" was not written")
			}
			return nil
		case <-changed:
		case <-t.C:
		}
	}
}

// unsigned omits the messages about heads that the key did not sign and that end the verb: nothing is tried again.
type unsigned struct {
	slog.Handler
	f *fetcher
}

// Handle implements slog.Handler.
func (h unsigned) Handle(ctx context.Context, r slog.Record) error {
	refused := false
	r.Attrs(func(a slog.Attr) bool {
		err, _ := a.Value.Any().(error)
		refused = errors.Is(err, share.ErrSignature)
		return !refused
	})
	if refused && h.f.s != nil && h.f.s.View() == nil {
		return nil
	}
	return h.Handler.Handle(ctx, r)
}

// WithAttrs implements slog.Handler.
func (h unsigned) WithAttrs(attrs []slog.Attr) slog.Handler {
	return unsigned{h.Handler.WithAttrs(attrs), h.f}
}

// maxPutDelay bounds the time between two attempts to write the file.
const maxPutDelay = time.Minute

// postpone notes that the file can't be written, and sets the time of the next attempt.
func (f *fetcher) postpone(err error) {
	f.delay = min(max(2*f.delay, time.Second), maxPutDelay)
	f.retryAt = time.Now().Add(f.delay)
	f.unwritten.FailedBy(f.log, err).Warn("file cannot be written", event.WriteFailed, "file", f.output, "error", err, "delay", f.delay)
}

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
func (s *subscriber) follow(ctx context.Context, o share.SubscriberOptions, period time.Duration) (err error) {
	changed := make(chan struct{}, 1)
	o.Changed = func(*share.View) {
		select {
		case changed <- struct{}{}:
		default:
		}
	}
	o.Log = slog.New(unsigned{o.Log.Handler(), s})
	if s.s, err = share.NewSubscriber(ctx, o); err != nil {
		return err
	}
	defer s.s.Close()
	ctx, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- s.s.Run(ctx, period) }()
	defer func() { stop(); <-ended }()
	t := time.NewTicker(time.Second)
	defer t.Stop()
	warned := false
	for {
		switch v := s.s.View(); {
		case v == nil:
			if err := s.s.Counters().Err; errors.Is(err, share.ErrSignature) {
				return cli.WithCode(cli.ExitRefused, err)
			}
		case v.Exact():
			same := s.written != nil && s.written.Head().ID == v.Head().ID
			if h := v.Head(); warned && same {
				s.log.Info("version is valid again", event.SubscriptionExact, "file", s.output, "version", h.Version, "expires", h.Expires().UTC())
			}
			warned = false
			if same || time.Now().Before(s.retryAt) {
				break
			}
			if err := s.put(); err != nil && s.written == nil {
				return err
			} else if err != nil {
				s.postpone(err)
			} else {
				s.delay = 0
				s.unwritten.Succeeded(s.log).Info("file is written again", event.WriteRecovered, "file", s.output)
			}
		case !warned:
			warned = true
			h := v.Head()
			s.log.Warn("version has expired", event.SubscriptionStale, "file", s.output, "version", h.Version, "expires", h.Expires().UTC())
		}
		select {
		case <-ctx.Done():
			if s.written == nil {
				return cli.Interrupted(ctx, s.output+" was not written")
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
	s *subscriber
}

// Handle implements slog.Handler.
func (h unsigned) Handle(ctx context.Context, r slog.Record) error {
	refused := false
	r.Attrs(func(a slog.Attr) bool {
		err, _ := a.Value.Any().(error)
		refused = errors.Is(err, share.ErrSignature)
		return !refused
	})
	if refused && h.s.s != nil && h.s.s.View() == nil {
		return nil
	}
	return h.Handler.Handle(ctx, r)
}

// WithAttrs implements slog.Handler.
func (h unsigned) WithAttrs(attrs []slog.Attr) slog.Handler {
	return unsigned{h.Handler.WithAttrs(attrs), h.s}
}

// maxPutDelay bounds the time between two attempts to write the file.
const maxPutDelay = time.Minute

// postpone notes that the file can't be written, and sets the time of the next attempt.
func (s *subscriber) postpone(err error) {
	s.delay = min(max(2*s.delay, time.Second), maxPutDelay)
	s.retryAt = time.Now().Add(s.delay)
	s.unwritten.FailedBy(s.log, err).Warn("file cannot be written", event.WriteFailed, "file", s.output, "error", err, "delay", s.delay)
}

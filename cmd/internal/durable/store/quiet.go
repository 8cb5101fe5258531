package store

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/umbel-filters/umbel/internal/faultlog"
)

// While a disk stays full, the store tries again and again to leave it, and each attempt logs the same. Within an
// episode each message is logged once, and then at most once per faultlog.Period.

// quiet is a handler that limits the messages of a store during its episodes.
type quiet struct {
	slog.Handler
	episode *episode
	said    *said
}

// said is what was logged last, by the text of the message.
type said struct {
	mu   sync.Mutex
	last map[string]saying
}

// saying is when a message was logged last, and how many were omitted since.
type saying struct {
	at      time.Time
	began   int64 // of the episode
	omitted uint64
}

// newQuiet returns a logger with the handler quiet.
func newQuiet(log *slog.Logger, e *episode) *slog.Logger {
	return slog.New(quiet{log.Handler(), e, &said{last: map[string]saying{}}})
}

// Handle implements slog.Handler. A message that is logged has the number of those that were omitted before it.
func (q quiet) Handle(ctx context.Context, r slog.Record) error {
	omitted, ok := q.said.allow(r.Message, q.episode)
	if !ok {
		return nil
	}
	if omitted > 0 {
		r = r.Clone()
		r.AddAttrs(slog.Uint64("omitted", omitted))
	}
	return q.Handler.Handle(ctx, r)
}

// allow reports whether a message is to be logged now, and how many were omitted before it.
func (s *said) allow(message string, e *episode) (omitted uint64, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now, began := time.Now(), e.began.Load()
	u := s.last[message]
	if e.open.Load() && u.began == began && now.Sub(u.at) < faultlog.Period {
		u.omitted++
		s.last[message] = u
		return 0, false
	}
	omitted = u.omitted
	s.last[message] = saying{at: now, began: began}
	return omitted, true
}

// WithAttrs implements slog.Handler.
func (q quiet) WithAttrs(attrs []slog.Attr) slog.Handler {
	return quiet{q.Handler.WithAttrs(attrs), q.episode, q.said}
}

// WithGroup implements slog.Handler.
func (q quiet) WithGroup(name string) slog.Handler {
	return quiet{q.Handler.WithGroup(name), q.episode, q.said}
}

// Package loglimit limits the log messages that clients can cause, so that a client cannot fill the log.
package loglimit

import (
	"log/slog"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"
)

// Limit limits messages. It is safe for concurrent use.
type Limit struct {
	rate    *rate.Limiter
	omitted atomic.Uint64
}

// New returns a limit of one message per period, and of burst messages at once.
func New(period time.Duration, burst int) *Limit {
	return &Limit{rate: rate.NewLimiter(rate.Every(period), burst)}
}

// Clients returns the limit of a kind of message that all clients cause together: 10 per second, 100 at once.
func Clients() *Limit { return New(time.Second/10, 100) }

// Allow reports whether a message may be logged now, and the number of messages that were omitted before it.
// The message stands for others, which a limit before this one has omitted. If it may not be logged, they
// and itself are added to a later result.
func (l *Limit) Allow(others uint64) (omitted uint64, ok bool) {
	if !l.rate.Allow() {
		l.omitted.Add(others + 1)
		return 0, false
	}
	return others + l.omitted.Swap(0), true
}

// Rest returns the number of messages that were omitted after the last one, and forgets them. It is for the end of a
// program.
func (l *Limit) Rest() (omitted uint64) { return l.omitted.Swap(0) }

// Idle reports whether the limit has omitted nothing that it would report, and allows as many messages at once
// as a new one.
func (l *Limit) Idle() bool {
	return l.omitted.Load() == 0 && l.rate.Tokens() >= float64(l.rate.Burst())
}

// Logger returns the logger for one message: log, with the number of omitted messages as the attribute
// "omitted", or a logger that discards the message.
func (l *Limit) Logger(log *slog.Logger) *slog.Logger {
	switch omitted, ok := l.Allow(0); {
	case !ok:
		return slog.New(slog.DiscardHandler)
	case omitted > 0:
		return log.With("omitted", omitted)
	}
	return log
}

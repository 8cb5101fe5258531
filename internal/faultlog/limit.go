package faultlog

import (
	"log/slog"
	"sync"
	"time"
)

// Limit limits messages that others can cause, such as clients, so that they cannot fill a log: one message per period, and
// a burst of messages at once. It is safe for concurrent use.
type Limit struct {
	period time.Duration
	burst  int

	mu      sync.Mutex
	free    time.Time // from when on a burst is possible
	omitted uint64
}

// NewLimit returns a limit of one message per period, and of burst messages at once.
func NewLimit(period time.Duration, burst int) *Limit { return &Limit{period: period, burst: burst} }

// Clients returns the limit of a kind of message that all clients cause together: 10 per second, 100 at once.
func Clients() *Limit { return NewLimit(time.Second/10, 100) }

// Allow reports whether a message may be logged now, and the number of messages that were omitted before it. The message
// represents others more, which another limit has omitted: they are part of that number, and if the message is omitted
// as well, of a later one.
func (l *Limit) Allow(others uint64) (omitted uint64, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	if l.free.Before(now) {
		l.free = now
	}
	if next := l.free.Add(l.period); next.Sub(now) <= time.Duration(l.burst)*l.period {
		l.free = next
		omitted, l.omitted = others+l.omitted, 0
		return omitted, true
	}
	l.omitted += others + 1
	return 0, false
}

// Rest returns the number of messages that were omitted after the last one, and forgets them. It is for the end of a
// program.
func (l *Limit) Rest() (omitted uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	omitted, l.omitted = l.omitted, 0
	return omitted
}

// Idle reports whether the limit has omitted nothing that it would report, and allows a burst of messages.
func (l *Limit) Idle() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.omitted == 0 && !l.free.After(time.Now())
}

// Logger returns the logger for one message: log with the attribute "omitted", or one that discards the message.
func (l *Limit) Logger(log *slog.Logger) *slog.Logger {
	n, ok := l.Allow(0)
	if !ok {
		return discard
	}
	return withOmitted(log, n)
}

// Package faultlog limits the log messages about faults that last, such as a full disk or a server that does not
// answer. Each request or attempt meets such a fault again, but its messages are: one when it begins, then at most one
// per minute with the number of those that were omitted, and one when it is over.
package faultlog

import (
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Period is the time between two messages while a fault lasts.
const Period = time.Minute

// burst is the number of faults in a short time that each have a message when they begin.
const burst = 3

// Fault is a fault that may begin, last and end many times. The zero value is none. If it begins and ends more often
// than once per Period, three in a row are logged, and the others are counted as omitted unless they last. It is
// safe for concurrent use.
type Fault struct {
	// Settle is the time without a failure after which a success ends the fault, so that answers that arrive in another
	// order do not. It must not be changed after the first failure.
	Settle time.Duration

	lasts atomic.Bool

	mu        sync.Mutex
	began     time.Time
	failed    time.Time // last
	logged    time.Time // last
	free      time.Time // from when on a burst of messages is possible
	announced bool      // a message states that the fault lasts
	cause     string    // of the last message
	omitted   uint64
}

// Fail notes a failure. It reports whether to log it, and how many were omitted before it.
func (f *Fault) Fail() (omitted uint64, ok bool) { return f.FailBy("") }

// FailBy is Fail for faults of several causes. A failure by another cause than that of the last message is logged like
// the beginning of a fault. Texts that differ in their digits only, such as sizes and times, are the same cause.
func (f *Fault) FailBy(cause string) (omitted uint64, ok bool) {
	cause = withoutDigits(cause)
	f.mu.Lock()
	defer f.mu.Unlock()
	now := time.Now()
	f.failed = now
	if !f.lasts.Load() {
		f.lasts.Store(true)
		f.began, f.announced = now, false
	}
	known := f.announced && cause == f.cause
	if known && now.Sub(f.logged) < Period || !known && f.free.Sub(now) > (burst-1)*Period {
		f.omitted++
		return 0, false
	}
	if f.free.Before(now) {
		f.free = now
	}
	f.logged, f.free, f.announced, f.cause = now, f.free.Add(Period), true, cause
	omitted, f.omitted = f.omitted, 0
	return omitted, true
}

// withoutDigits returns a text without its decimal digits.
func withoutDigits(s string) string {
	return strings.Map(func(r rune) rune {
		if '0' <= r && r <= '9' {
			return -1
		}
		return r
	}, s)
}

// Succeed notes a success. If it ends a fault with a message in the log, it reports how long the fault
// lasted, and how many failures were omitted after the last message. While there is no fault, it takes a few
// nanoseconds.
func (f *Fault) Succeed() (lasted time.Duration, omitted uint64, over bool) {
	if !f.lasts.Load() {
		return 0, 0, false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	now := time.Now()
	if !f.lasts.Load() || now.Sub(f.failed) < f.Settle {
		return 0, 0, false
	}
	f.lasts.Store(false)
	if !f.announced {
		return 0, 0, false
	}
	omitted, f.omitted = f.omitted, 0
	return now.Sub(f.began), omitted, true
}

// Rest returns the number of failures that were omitted after the last message, and forgets them. It is for the end of a
// program, which may come before that of the fault.
func (f *Fault) Rest() (omitted uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	omitted, f.omitted = f.omitted, 0
	return omitted
}

// Lasts reports whether there has been a failure since the last end.
func (f *Fault) Lasts() bool { return f.lasts.Load() }

// Since returns when the fault that lasts began, and false if there is none.
func (f *Fault) Since() (began time.Time, lasts bool) {
	if !f.lasts.Load() {
		return time.Time{}, false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.began, f.lasts.Load()
}

// discard is the logger of messages that are omitted.
var discard = slog.New(slog.DiscardHandler)

// Failed notes a failure and returns the logger for its message: log with the attribute "omitted", or one that
// discards the message.
func (f *Fault) Failed(log *slog.Logger) *slog.Logger {
	n, ok := f.Fail()
	if !ok {
		return discard
	}
	return withOmitted(log, n)
}

// FailedBy is Failed for faults of several causes: see FailBy.
func (f *Fault) FailedBy(log *slog.Logger, cause error) *slog.Logger {
	n, ok := f.FailBy(cause.Error())
	if !ok {
		return discard
	}
	return withOmitted(log, n)
}

// Succeeded notes a success and returns the logger for the message that the fault is over: log with the attributes
// "lasted" and "omitted", or one that discards the message.
func (f *Fault) Succeeded(log *slog.Logger) *slog.Logger {
	lasted, n, over := f.Succeed()
	if !over {
		return discard
	}
	return withOmitted(log.With("lasted", lasted.Round(time.Millisecond)), n)
}

// withOmitted returns a logger with the number of omitted messages, if any.
func withOmitted(log *slog.Logger, n uint64) *slog.Logger {
	if n == 0 {
		return log
	}
	return log.With("omitted", n)
}

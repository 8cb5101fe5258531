package oplog

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
)

// serverLog writes what the server says to a log, in which it is one of many: what it
// notices of itself is for who debugs.
type serverLog struct {
	log *slog.Logger

	mu   sync.Mutex
	bad  error       // what it said last that was an error
	tell func(error) // of what couldn't be written, if it isn't nil
}

func (l *serverLog) say(level slog.Level, format string, v []any) {
	if l.log != nil && l.log.Enabled(context.Background(), level) {
		l.log.Log(context.Background(), level, fmt.Sprintf(format, v...), "from", "jetstream")
	}
}

func (l *serverLog) why() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.bad == nil {
		return errors.New("no reason given")
	}
	return l.bad
}

// unwritten is part of what the server says when it couldn't write. Should that change, it
// is found by patience.
var unwritten = []string{"Critical write error", "failed to store a msg", "will be DISABLED"}

// watch has tell called from now on when the server couldn't write.
func (l *serverLog) watch(tell func(error)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.tell = tell
}

// serverError is an error as the server says it, and the one it speaks of.
type serverError struct {
	text  string
	cause error
}

func (e *serverError) Error() string { return "JetStream: " + e.text }
func (e *serverError) Unwrap() error { return e.cause }

func (l *serverLog) Noticef(format string, v ...any) { l.say(slog.LevelDebug, format, v) }
func (l *serverLog) Warnf(format string, v ...any)   { l.say(slog.LevelWarn, format, v) }
func (l *serverLog) Debugf(format string, v ...any)  { l.say(slog.LevelDebug, format, v) }
func (l *serverLog) Tracef(format string, v ...any)  { l.say(slog.LevelDebug, format, v) }

func (l *serverLog) Errorf(format string, v ...any) {
	bad := &serverError{text: fmt.Sprintf(format, v...)}
	for _, a := range v {
		if err, ok := a.(error); ok {
			bad.cause = err
		}
	}
	l.mu.Lock()
	l.bad = bad
	tell := l.tell
	l.mu.Unlock()
	if tell != nil && slices.ContainsFunc(unwritten, func(s string) bool { return strings.Contains(bad.text, s) }) {
		tell(bad)
	}
	l.say(slog.LevelError, format, v)
}

// Fatalf is called before the server stops itself; the process goes on.
func (l *serverLog) Fatalf(format string, v ...any) { l.Errorf(format, v...) }

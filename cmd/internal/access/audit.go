package access

import (
	"context"
	"errors"
	"log/slog"
)

// Audit records what administrators did, and attempts that were refused, as records of a log
// with the fields user, from, action, target and outcome. Without a log it records nothing.
type Audit struct{ Log *slog.Logger }

// Record records one act: from is the client's address, target what it was done to. Callers
// give no secrets: no password, no token, no key of a filter. err is nil, or why it wasn't done.
func (a Audit) Record(user *User, from, action, target string, err error) {
	if a.Log == nil {
		return
	}
	name := ""
	if user != nil {
		name = user.Name
	}
	level, outcome := slog.LevelInfo, "done"
	switch {
	case Refused(err):
		level, outcome = slog.LevelWarn, "refused"
	case errors.Is(err, context.Canceled):
		outcome = "given up"
	case err != nil:
		level, outcome = slog.LevelError, "failed"
	}
	attrs := []slog.Attr{
		slog.String("user", name), slog.String("from", from),
		slog.String("action", action), slog.String("target", target), slog.String("outcome", outcome),
	}
	if err != nil {
		attrs = append(attrs, slog.String("error", err.Error()))
	}
	a.Log.LogAttrs(context.Background(), level, "audit", attrs...)
}

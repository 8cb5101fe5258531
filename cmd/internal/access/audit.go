package access

import (
	"context"
	"log/slog"
	"sync/atomic"

	"golang.org/x/time/rate"
)

// Audit logs actions of administrators and denials, with the fields user, from, action, target
// and outcome. Its zero value logs nothing; if it was not made by NewAudit it has no rate limit.
type Audit struct {
	Log      *slog.Logger
	refusals *rate.Limiter
	omitted  *atomic.Uint64
}

// Limits of logged denials, so that a client cannot fill the log: per second, and at once.
const (
	refusalRate  = 10
	refusalBurst = 100
)

// NewAudit returns an Audit that writes to a log.
func NewAudit(log *slog.Logger) Audit {
	return Audit{log, rate.NewLimiter(refusalRate, refusalBurst), new(atomic.Uint64)}
}

// Record logs an action. from is the client's address, target the object. Callers must not pass
// passwords, tokens or keys. err is nil or the reason of the failure. Denials above the rate
// limit are only counted; the next logged denial contains their number.
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
	case err != nil:
		level, outcome = slog.LevelError, "failed"
	}
	attrs := []slog.Attr{
		slog.String("user", name), slog.String("client", from),
		slog.String("action", action), slog.String("target", target), slog.String("outcome", outcome),
	}
	if err != nil {
		attrs = append(attrs, slog.String("error", err.Error()))
	}
	if level == slog.LevelWarn && a.refusals != nil {
		if !a.refusals.Allow() {
			a.omitted.Add(1)
			return
		}
		if n := a.omitted.Swap(0); n > 0 {
			attrs = append(attrs, slog.Uint64("omitted", n))
		}
	}
	a.Log.LogAttrs(context.Background(), level, "audit", attrs...)
}

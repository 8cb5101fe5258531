package access

import (
	"context"
	"log/slog"
	"sync/atomic"

	"golang.org/x/time/rate"
)

// Audit records what administrators did, and attempts that were refused, as records of a log
// with the fields user, from, action, target and outcome. Its zero value records nothing; one
// that NewAudit didn't make records all refusals.
type Audit struct {
	Log      *slog.Logger
	refusals *rate.Limiter
	omitted  *atomic.Uint64
}

// Who is refused again and again must not fill the log: so many records a second, and at once.
const (
	refusalRate  = 10
	refusalBurst = 100
)

// NewAudit returns an Audit that writes to a log.
func NewAudit(log *slog.Logger) Audit {
	return Audit{log, rate.NewLimiter(refusalRate, refusalBurst), new(atomic.Uint64)}
}

// Record records one act: from is the client's address, target what it was done to. Callers
// give no secrets: no password, no token, no key of a filter. err is nil, or why it wasn't done.
// Of refusals that come too fast only the number is recorded, with the next that is.
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
		slog.String("user", name), slog.String("from", from),
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

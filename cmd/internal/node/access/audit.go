package access

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"net"
	"sync"
	"time"

	"github.com/umbel-filters/umbel/internal/event"
	"github.com/umbel-filters/umbel/internal/faultlog"
)

// Audit logs actions of administrators and refusals, with the fields user, client, action, target
// and outcome. It is safe for concurrent use; the nil *Audit logs nothing.
type Audit struct {
	log *slog.Logger
	all *faultlog.Limit // of refusals and failures

	mu     sync.Mutex
	limits map[refusal]*faultlog.Limit
	swept  time.Time // when limits without a use were deleted
}

// refusal is a refusal or a failure. Equal ones have one limit.
type refusal struct {
	user, host, action string
	cause              error
}

const (
	// repeatPeriod and repeatBurst are the limit of equal refusals: a program with an old password
	// tries it again and again.
	repeatPeriod = time.Minute
	repeatBurst  = 5
	// maxRefusals is the number of different refusals that have limits of their own.
	maxRefusals = 1 << 10
	// maxWord is the number of bytes of a word that are logged: clients choose names.
	maxWord = 128
)

// NewAudit returns an Audit that writes to a log.
func NewAudit(log *slog.Logger) *Audit {
	return &Audit{log: log, all: faultlog.Clients(), limits: map[refusal]*faultlog.Limit{}}
}

// Record logs an action of a user. client is the client's address, target the object. Callers must not pass
// passwords, tokens or keys. err is nil or the reason of the failure. Failures and refusals above a limit
// are only counted; the next one that is logged contains their number.
func (a *Audit) Record(user, client, action, target string, err error) {
	if a == nil {
		return
	}
	level, outcome, omitted := slog.LevelInfo, "done", uint64(0)
	if err != nil {
		var ok bool
		if omitted, ok = a.allow(user, client, action, err); !ok {
			return
		}
		level, outcome = slog.LevelWarn, "failed"
	}
	if refused(err) {
		outcome = "refused"
	}
	attrs := []slog.Attr{
		slog.String("user", clip(user)), slog.String("client", client),
		slog.String("action", action), slog.String("target", clip(target)), slog.String("outcome", outcome),
	}
	if err != nil {
		attrs = append(attrs, slog.String("error", err.Error()))
	}
	if omitted > 0 {
		attrs = append(attrs, slog.Uint64("omitted", omitted))
	}
	a.log.LogAttrs(context.Background(), level, "audit", append(attrs, event.Audit)...)
}

// allow reports whether a refusal or failure is logged, and the number of omitted ones before it.
func (a *Audit) allow(user, client, action string, err error) (omitted uint64, ok bool) {
	if own := a.limit(user, client, action, err); own != nil {
		if omitted, ok = own.Allow(0); !ok {
			return 0, false
		}
	}
	return a.all.Allow(omitted)
}

// limit returns the limit of refusals like this one, nil if too many different ones are limited already.
func (a *Audit) limit(user, client, action string, err error) *faultlog.Limit {
	host, _, bad := net.SplitHostPort(client)
	if bad != nil {
		host = client
	}
	key := refusal{clip(user), host, action, nil}
	for _, cause := range refusals {
		if errors.Is(err, cause) {
			key.cause = cause
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if now := time.Now(); len(a.limits) >= maxRefusals && now.Sub(a.swept) >= time.Second {
		a.swept = now
		maps.DeleteFunc(a.limits, func(_ refusal, l *faultlog.Limit) bool { return l.Idle() })
	}
	if a.limits[key] == nil && len(a.limits) < maxRefusals {
		a.limits[key] = faultlog.NewLimit(repeatPeriod, repeatBurst)
	}
	return a.limits[key]
}

// clip shortens a word that a client has chosen.
func clip(word string) string {
	if len(word) > maxWord {
		return word[:maxWord] + "..."
	}
	return word
}

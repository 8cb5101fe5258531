package node

import (
	"log/slog"
	"sync"
	"time"

	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/http/api"
	"github.com/umbel-filters/umbel/cmd/internal/redis/command"
	"github.com/umbel-filters/umbel/cmd/internal/report"
	"github.com/umbel-filters/umbel/internal/event"
	"github.com/umbel-filters/umbel/internal/faultlog"
)

const (
	// refusalsEvery is the time between looks at the refusals.
	refusalsEvery = time.Second
	// refusalsCalm is the time without a refusal after which refusals are over.
	refusalsCalm = 5 * time.Second
)

// refusals logs that one limit refuses changes because filters may not grow: when that begins, once a minute while it
// lasts, and when it is over. Clients cause very many refusals, so it looks at their counter. One goroutine calls look.
type refusals struct {
	of     *engine.Refusals
	reason string // the limit
	fault  faultlog.Fault

	began, last time.Time
	reported    uint64 // of the total, by messages that refusals are over
	before      uint64 // of the total, before those that last

	mu  sync.Mutex
	now *api.Growth // for the status, nil while nothing is refused
}

func newRefusals(of *engine.Refusals, reason string) *refusals {
	return &refusals{of: of, reason: reason, fault: faultlog.Fault{Settle: refusalsCalm}}
}

// growth has the refusals of each limit.
type growth [2]*refusals

func newGrowth(e *engine.Engine) growth {
	memory, disk := e.Refusals()
	return growth{newRefusals(memory, "memory"), newRefusals(disk, "disk")}
}

// look logs, as refusals does, what the limits refused since its last call.
func (g growth) look(log *slog.Logger) {
	for _, r := range g {
		r.look(log)
	}
}

// status returns what the limits refuse now, as of the last look. It is safe for concurrent use.
func (g growth) status() (refused []api.Growth) {
	for _, r := range g {
		if now := r.status(); now != nil {
			refused = append(refused, *now)
		}
	}
	return refused
}

func (r *refusals) status() *api.Growth {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.now
}

// set replaces what status returns.
func (r *refusals) set(now *api.Growth) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.now = now
}

// look logs what has changed since its last call.
func (r *refusals) look(log *slog.Logger) {
	first, some := r.of.Next()
	refused := r.of.Total() - r.reported
	if some {
		r.last = time.Now()
		if !r.fault.Lasts() {
			r.began = r.last
		}
		if _, ok := r.fault.Fail(); ok {
			log.Warn("filters may not grow; refusing changes that need it", event.GrowthRefused, "reason", r.reason,
				"filter", command.Clip([]byte(first.Filter)), "error", first.Err, "refused", refused)
		}
		r.set(&api.Growth{
			Reason: r.reason, Since: r.began.UTC().Truncate(time.Millisecond), Filter: string(command.Clip([]byte(first.Filter))),
			Error: report.Text(first.Err), Needed: first.Needed(), Refused: r.of.Total() - r.before,
		})
		return
	}
	if _, _, over := r.fault.Succeed(); over {
		log.Info("no more changes are refused because filters may not grow", event.GrowthRecovered, "reason", r.reason,
			"refused", refused, "took", r.last.Sub(r.began))
		r.reported += refused
	}
	if !r.fault.Lasts() {
		r.before = r.of.Total()
		r.set(nil)
	}
}

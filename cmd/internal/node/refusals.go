package node

import (
	"log/slog"
	"time"

	"github.com/umbel-filters/umbel/cmd/internal/command"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/internal/lasting"
)

const (
	// refusalsEvery is the time between looks at the refusals.
	refusalsEvery = time.Second
	// refusalsCalm is the time without a refusal after which refusals are over.
	refusalsCalm = 5 * time.Second
)

// refusals logs that one limit refuses changes because filters may not grow: when that begins, once a minute while it
// lasts, and when it is over. Clients cause very many refusals, so it looks at their counter. It is used by one goroutine.
type refusals struct {
	of     *engine.Refusals
	reason string // the limit
	fault  lasting.Fault

	began, last time.Time
	reported    uint64 // of the total, by messages that refusals are over
}

func newRefusals(of *engine.Refusals, reason string) *refusals {
	return &refusals{of: of, reason: reason, fault: lasting.Fault{Settle: refusalsCalm}}
}

// logRefusals returns a function that logs, as refusals does, what the limits of memory and disk refused since its
// last call.
func logRefusals(log *slog.Logger, e *engine.Engine) func() {
	memory, disk := e.Refusals()
	byMemory, byDisk := newRefusals(memory, "memory"), newRefusals(disk, "disk")
	return func() {
		byMemory.look(log)
		byDisk.look(log)
	}
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
			log.Warn("filters may not grow; refusing changes that need it", "reason", r.reason,
				"filter", command.Clip([]byte(first.Filter)), "error", first.Err, "refused", refused)
		}
		return
	}
	if _, _, over := r.fault.Succeed(); over {
		log.Info("no more changes are refused because filters may not grow", "reason", r.reason, "refused", refused, "took", r.last.Sub(r.began))
		r.reported += refused
	}
}

package node

import (
	"fmt"
	"time"

	"github.com/umbel-filters/umbel/cmd/internal/redis/builtin"
	"github.com/umbel-filters/umbel/internal/event"
)

// process implements builtin.Node.
type process struct{ *Node }

// Save makes a snapshot.
func (p process) Save(background bool) error {
	if !background {
		return p.store.Snapshot(p.working)
	}
	if p.store.Status().Snapshotting {
		return fmt.Errorf("background save already in progress")
	}
	p.tasks.Go(func() {
		if err := p.store.Snapshot(p.working); err != nil {
			p.log.Error("snapshot failed", event.SnapshotFailed, "error", err)
		}
	})
	return nil
}

// LastSave returns the time of the last snapshot, or of the start if there was none.
func (p process) LastSave() time.Time {
	if t := p.store.Status().LastSnapshot; !t.IsZero() {
		return t
	}
	return p.began
}

// Sync waits until all changes are durable.
func (p process) Sync() error { return p.store.Sync(p.working) }

// Shutdown requests shutdown.
func (p process) Shutdown() { p.ask.Do(func() { close(p.asked) }) }

func (p process) Config() builtin.Config { return settings(p) }

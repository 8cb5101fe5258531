package node

import (
	"time"

	"github.com/umbel-filters/umbel/cmd/internal/api"
)

// status returns the state of the node for umbel status.
func (n *Node) status() api.Status {
	s := n.store.Status()
	used, limit := n.engine.Memory()
	status := api.Status{
		Version: Version(), Uptime: time.Since(n.began).Round(time.Millisecond).Seconds(),
		Filters: n.engine.Len(), Bytes: used, MaxBytes: limit, Clients: n.clients(), ClientBytes: n.budget.Used(),
		Durability: n.config.Durability, DiskBytes: s.LogBytes, PendingBytes: s.Pending, LagSeconds: s.Lag.Seconds(),
		Snapshotting: s.Snapshotting,
	}
	if err := n.Writable(); err != nil {
		status.Problem = err.Error()
	}
	if !s.LastSnapshot.IsZero() {
		at := s.LastSnapshot.UTC().Truncate(time.Millisecond)
		status.LastSnapshot = &at
	}
	if s.LastSnapshotErr != nil {
		status.SnapshotFailed = s.LastSnapshotErr.Error()
	}
	return status
}

package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Latencies are the times that the disk takes. They are made before the rest of the metrics, because
// the store needs them. It is safe for concurrent use.
type Latencies struct{ commit, sync prometheus.Histogram }

// NewLatencies returns histograms for Options.
func NewLatencies() *Latencies {
	histogram := func(name, help string) prometheus.Histogram {
		return prometheus.NewHistogram(prometheus.HistogramOpts{Name: name, Help: help, Buckets: seconds})
	}
	return &Latencies{
		commit: histogram("umbel_log_commit_duration_seconds", "Time from the first change of a batch until the batch is on the disk; at most this long a client of durability always waits."),
		sync:   histogram("umbel_log_sync_duration_seconds", "Duration of a sync of the log."),
	}
}

// Commit counts a batch that was written.
func (l *Latencies) Commit(took time.Duration) { l.commit.Observe(took.Seconds()) }

// Sync counts a sync of the log.
func (l *Latencies) Sync(took time.Duration) { l.sync.Observe(took.Seconds()) }

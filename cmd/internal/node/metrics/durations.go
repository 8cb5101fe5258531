package metrics

import (
	"sync/atomic"
	"time"

	"github.com/umbel-filters/umbel/cmd/internal/redis/resp"
	"github.com/umbel-filters/umbel/cmd/internal/service/status"
)

// durations counts durations in the buckets of resp.Usage. It is safe for concurrent use.
type durations struct {
	nanos   atomic.Uint64
	buckets [resp.Buckets]atomic.Uint64
}

func (d *durations) add(took time.Duration) {
	took = max(took, 0)
	d.nanos.Add(uint64(took))
	d.buckets[resp.Bucket(took)].Add(1)
}

// read returns the durations that were added.
func (d *durations) read() status.Durations {
	all := status.Durations{Least: resp.LeastBound, Total: time.Duration(d.nanos.Load()), Buckets: make([]uint64, len(d.buckets))}
	for i := range d.buckets {
		all.Buckets[i] = d.buckets[i].Load()
	}
	return all
}

// Latencies are the times that the disk takes. They are made before the rest of the metrics, because
// the store needs them. The zero Latencies is ready. It is safe for concurrent use.
type Latencies struct{ commit, sync durations }

// Commit counts a batch that was written.
func (l *Latencies) Commit(took time.Duration) { l.commit.add(took) }

// Sync counts a sync of the log.
func (l *Latencies) Sync(took time.Duration) { l.sync.add(took) }

func (l *Latencies) metrics() []status.Metric {
	return []status.Metric{
		status.Histogram("umbel_log_commit_duration_seconds", "Time from the first change of a batch until the batch is on "+
			"the disk; at most this long a client of durability always waits.", l.commit.read()),
		status.Histogram("umbel_log_sync_duration_seconds", "Duration of a sync of the log.", l.sync.read()),
	}
}

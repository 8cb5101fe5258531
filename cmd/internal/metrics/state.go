package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// state collects what engine, store and server know at any time.
type state struct{ o Options }

// gauge describes a number of the whole node.
func gauge(name, help string) *prometheus.Desc { return prometheus.NewDesc(name, help, nil, nil) }

var (
	memoryUsed      = gauge("bloom_total_memory_bytes", "Memory that all filters take.")
	filtersNow      = gauge("bloom_num_objects", "Filters.")
	memoryLimit     = gauge("umbel_memory_limit_bytes", "Memory that filters may take; 0 is no limit.")
	clientsNow      = gauge("umbel_connected_clients", "Clients that are connected and speak RESP.")
	logPending      = gauge("umbel_log_pending_bytes", "Changes that wait to be written to the log.")
	logLag          = gauge("umbel_log_lag_seconds", "Age of the oldest change that isn't on the disk.")
	logBytes        = gauge("umbel_log_bytes", "What the log takes on the disk.")
	logCommits      = gauge("umbel_log_commits_total", "Groups of changes that were written to the log.")
	logCommitBytes  = gauge("umbel_log_commit_bytes_total", "Bytes of the groups that were written to the log.")
	logHealthy      = gauge("umbel_log_healthy", "1 if changes can be kept, 0 if they are refused.")
	snapshotAge     = gauge("umbel_snapshot_age_seconds", "Time since the last snapshot ended; absent before the first.")
	snapshotTook    = gauge("umbel_snapshot_duration_seconds", "How long the last snapshot took.")
	snapshotRunning = gauge("umbel_snapshot_running", "1 while a snapshot is made.")
	snapshotHealthy = gauge("umbel_snapshot_healthy", "0 if the last snapshot failed.")
)

func (s state) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		memoryUsed, filtersNow, memoryLimit, clientsNow, logPending, logLag, logBytes, logCommits, logCommitBytes, logHealthy,
		snapshotAge, snapshotTook, snapshotRunning, snapshotHealthy,
	} {
		ch <- d
	}
}

func (s state) Collect(ch chan<- prometheus.Metric) {
	tell := func(d *prometheus.Desc, kind prometheus.ValueType, v float64) {
		ch <- prometheus.MustNewConstMetric(d, kind, v)
	}
	now := func(d *prometheus.Desc, v float64) { tell(d, prometheus.GaugeValue, v) }
	used, limit := s.o.Engine.Memory()
	now(memoryUsed, float64(used))
	now(memoryLimit, float64(limit))
	now(filtersNow, float64(s.o.Engine.Len()))
	now(clientsNow, float64(s.o.Clients()))
	log := s.o.Status()
	now(logPending, float64(log.Pending))
	now(logLag, log.Lag.Seconds())
	now(logBytes, float64(log.LogBytes))
	tell(logCommits, prometheus.CounterValue, float64(log.Commits))
	tell(logCommitBytes, prometheus.CounterValue, float64(log.CommitBytes))
	now(logHealthy, one(log.Err == nil))
	if !log.LastSnapshot.IsZero() {
		now(snapshotAge, time.Since(log.LastSnapshot).Seconds())
	}
	now(snapshotTook, log.LastSnapshotTook.Seconds())
	now(snapshotRunning, one(log.Snapshotting))
	now(snapshotHealthy, one(log.LastSnapshotErr == nil))
}

func one(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

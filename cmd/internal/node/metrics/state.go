package metrics

import (
	"math"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/umbel-filters/umbel/cmd/internal/durable/store"
)

// state collects the current numbers of engine, store and server.
type state struct{ o Options }

// gauge describes a metric of the whole node.
func gauge(name, help string) *prometheus.Desc { return prometheus.NewDesc(name, help, nil, nil) }

func labelled(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(name, help, labels, nil)
}

var (
	memoryUsed      = gauge("bloom_total_memory_bytes", "Memory used by all filters.")
	filtersNow      = gauge("bloom_num_objects", "Number of filters.")
	incomplete      = gauge("umbel_incomplete_filters", "Filters of which data was lost: every query returns true until they are created again.")
	faulty          = gauge("umbel_faulty_filters", "Filters that could not be read because of a fault in umbel; the log has the details.")
	faults          = gauge("umbel_filter_faults_total", "Reads of filters that failed because of a fault in umbel.")
	namesMissing    = gauge("umbel_names_missing", "1 if names of filters may be missing after a loss of data, until it is acknowledged.")
	memoryLimit     = gauge("umbel_memory_limit_bytes", "Memory limit of all filters; 0 means no limit.")
	clientsNow      = gauge("umbel_connected_clients", "Connected Redis clients.")
	logPending      = gauge("umbel_log_pending_bytes", "Changes waiting to be written to the log.")
	logLag          = gauge("umbel_log_lag_seconds", "Age of the oldest change that is not on the disk.")
	logBytes        = gauge("umbel_log_bytes", "Size of log, snapshots and reserve on the disk.")
	diskLeft        = gauge("umbel_disk_left_bytes", "Bytes that max-disk and the file system leave.")
	diskMissing     = gauge("umbel_disk_missing_bytes", "Bytes that must be freed before changes are accepted.")
	snapshotNeed    = gauge("umbel_snapshot_need_bytes", "Bytes that the next snapshot may write.")
	logCommits      = gauge("umbel_log_commits_total", "Batches of changes written to the log.")
	logCommitBytes  = gauge("umbel_log_commit_bytes_total", "Bytes of the batches written to the log.")
	refusedChanges  = labelled("umbel_refused_changes_total", "Changes that were refused because they could not be made durable (log), or because filters may not grow (disk, memory).", "reason")
	logHealthy      = gauge("umbel_log_healthy", "1 if changes are accepted, 0 if they are refused.")
	connections     = labelled("umbel_connections_total", "Accepted connections.", "protocol")
	rejected        = labelled("umbel_rejected_connections_total", "Connections above max-clients.", "protocol")
	tlsFailures     = labelled("umbel_tls_failures_total", "TLS handshakes that failed, for example because the client does not use TLS.", "protocol")
	errorReplies    = gauge("umbel_error_replies_total", "Error replies to Redis clients.")
	readBytes       = gauge("umbel_read_bytes_total", "Bytes received from Redis clients.")
	writtenBytes    = gauge("umbel_written_bytes_total", "Bytes sent to Redis clients.")
	failedLogins    = gauge("umbel_failed_logins_total", "Logins with a wrong name, password or token, and logins that were refused after too many.")
	snapshotAge     = gauge("umbel_snapshot_age_seconds", "Time since the last snapshot ended; absent before the first.")
	snapshotTook    = gauge("umbel_snapshot_duration_seconds", "Duration of the last snapshot.")
	snapshotRunning = gauge("umbel_snapshot_running", "1 while a snapshot is running.")
	snapshotHealthy = gauge("umbel_snapshot_healthy", "0 if the last snapshot failed.")
)

func (s state) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		memoryUsed, filtersNow, incomplete, faulty, faults, namesMissing, memoryLimit, clientsNow, logPending, logLag, logBytes, diskLeft, diskMissing, snapshotNeed, logCommits, logCommitBytes, refusedChanges, logHealthy,
		snapshotAge, snapshotTook, snapshotRunning, snapshotHealthy,
		connections, rejected, tlsFailures, errorReplies, readBytes, writtenBytes, failedLogins,
	} {
		ch <- d
	}
}

func (s state) Collect(ch chan<- prometheus.Metric) {
	emit := func(d *prometheus.Desc, kind prometheus.ValueType, v float64) {
		ch <- prometheus.MustNewConstMetric(d, kind, v)
	}
	now := func(d *prometheus.Desc, v float64) { emit(d, prometheus.GaugeValue, v) }
	used, limit := s.o.Engine.Memory()
	now(memoryUsed, float64(used))
	now(memoryLimit, float64(limit))
	now(filtersNow, float64(s.o.Engine.Len()))
	now(incomplete, float64(s.o.Engine.LostLen()))
	failed, filters := s.o.Engine.Faults()
	now(faulty, float64(filters))
	emit(faults, prometheus.CounterValue, float64(failed))
	now(namesMissing, boolValue(s.o.Engine.MissingNames() != nil))
	now(clientsNow, float64(s.o.Clients()))
	log := s.o.Status()
	s.collectTotals(ch, log)
	now(logPending, float64(log.Pending))
	now(logLag, log.Lag.Seconds())
	now(logBytes, float64(log.LogBytes))
	if log.Left != math.MaxInt64 {
		now(diskLeft, float64(log.Left))
	}
	now(diskMissing, float64(log.Missing))
	now(snapshotNeed, float64(log.Needed))
	emit(logCommits, prometheus.CounterValue, float64(log.Commits))
	emit(logCommitBytes, prometheus.CounterValue, float64(log.CommitBytes))
	now(logHealthy, boolValue(log.Err == nil))
	if !log.LastSnapshot.IsZero() {
		now(snapshotAge, time.Since(log.LastSnapshot).Seconds())
	}
	now(snapshotTook, log.LastSnapshotTook.Seconds())
	now(snapshotRunning, boolValue(log.Snapshotting))
	now(snapshotHealthy, boolValue(log.LastSnapshotErr == nil))
}

func (s state) collectTotals(ch chan<- prometheus.Metric, log store.Status) {
	emit := func(d *prometheus.Desc, v uint64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(v), labels...)
	}
	memory, disk := s.o.Engine.Refusals()
	emit(refusedChanges, log.Refused, "log")
	emit(refusedChanges, disk.Total(), "disk")
	emit(refusedChanges, memory.Total(), "memory")
	t := s.o.Totals()
	emit(connections, t.Connections, "resp")
	emit(connections, t.HTTPConnections, "http")
	emit(rejected, t.Rejected, "resp")
	emit(rejected, t.HTTPRejected, "http")
	emit(tlsFailures, t.Handshakes, "resp")
	emit(tlsFailures, t.HTTPHandshakes, "http")
	emit(errorReplies, t.Errors)
	emit(readBytes, t.Read)
	emit(writtenBytes, t.Written)
	emit(failedLogins, t.FailedLogins)
}

func boolValue(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

package metrics

import (
	"math"
	"time"

	"github.com/umbel-filters/umbel/cmd/internal/service/status"
)

// state returns the current numbers of engine, store and server.
func state(o Options) []status.Metric {
	e, log, t := o.Engine, o.Status(), o.Totals()
	used, limit := e.Memory()
	faults, filters := e.Faults()
	memory, disk := e.Refusals()
	all := []status.Metric{
		status.Gauge("bloom_total_memory_bytes", "Memory used by all filters.", used),
		status.Gauge("umbel_memory_limit_bytes", "Memory limit of all filters; 0 means no limit.", limit),
		status.Gauge("bloom_num_objects", "Number of filters.", e.Len()),
		status.Gauge("umbel_incomplete_filters", "Filters of which data was lost: every query returns true until they are created again.", e.LostLen()),
		status.Gauge("umbel_faulty_filters", "Filters that could not be read because of a fault in umbel; the log has the details.", filters),
		status.Counter("umbel_filter_faults_total", "Reads of filters that failed because of a fault in umbel.", faults),
		status.If("umbel_names_missing", "1 if names of filters may be missing after a loss of data, until it is acknowledged.", e.MissingNames() != nil),
		status.Gauge("umbel_connected_clients", "Connected Redis clients.", o.Clients()),
		status.Gauge("umbel_log_pending_bytes", "Changes waiting to be written to the log.", log.Pending),
		status.Gauge("umbel_log_lag_seconds", "Age of the oldest change that is not on the disk.", log.Lag.Seconds()),
		status.Gauge("umbel_log_bytes", "Size of log, snapshots and reserve on the disk.", log.LogBytes),
		status.Gauge("umbel_disk_missing_bytes", "Bytes that must be freed before changes are accepted.", log.Missing),
		status.Gauge("umbel_snapshot_need_bytes", "Bytes that the next snapshot may write.", log.Needed),
		status.Counter("umbel_log_commits_total", "Batches of changes written to the log.", log.Commits),
		status.Counter("umbel_log_commit_bytes_total", "Bytes of the batches written to the log.", log.CommitBytes),
		status.If("umbel_log_healthy", "1 if changes are accepted, 0 if they are refused.", log.Err == nil),
		status.Counter("umbel_refused_changes_total",
			"Changes that were refused because they could not be made durable (log), or because filters may not grow (disk, memory).", log.Refused, "reason", "log"),
		status.Counter("umbel_refused_changes_total",
			"Changes that were refused because they could not be made durable (log), or because filters may not grow (disk, memory).", disk.Total(), "reason", "disk"),
		status.Counter("umbel_refused_changes_total",
			"Changes that were refused because they could not be made durable (log), or because filters may not grow (disk, "+
				"memory).", memory.Total(), "reason", "memory"),
		status.Counter("umbel_connections_total", "Accepted connections.", t.Connections, "protocol", "resp"),
		status.Counter("umbel_connections_total", "Accepted connections.", t.HTTPConnections, "protocol", "http"),
		status.Counter("umbel_rejected_connections_total", "Connections above max-clients.", t.Rejected, "protocol", "resp"),
		status.Counter("umbel_rejected_connections_total", "Connections above max-clients.", t.HTTPRejected, "protocol", "http"),
		status.Counter("umbel_tls_failures_total",
			"TLS handshakes that failed, for example because the client does not use TLS.", t.Handshakes, "protocol", "resp"),
		status.Counter("umbel_tls_failures_total",
			"TLS handshakes that failed, for example because the client does not use TLS.", t.HTTPHandshakes, "protocol", "http"),
		status.Counter("umbel_error_replies_total", "Error replies to Redis clients.", t.Errors),
		status.Counter("umbel_read_bytes_total", "Bytes received from Redis clients.", t.Read),
		status.Counter("umbel_written_bytes_total", "Bytes sent to Redis clients.", t.Written),
		status.Counter("umbel_failed_logins_total",
			"Logins with a wrong name, password or token, and logins that were refused after too many.", t.FailedLogins),
		status.Gauge("umbel_snapshot_duration_seconds", "Duration of the last snapshot.", log.LastSnapshotTook.Seconds()),
		status.If("umbel_snapshot_running", "1 while a snapshot is running.", log.Snapshotting),
		status.If("umbel_snapshot_healthy", "0 if the last snapshot failed.", log.LastSnapshotErr == nil),
	}
	if log.Left != math.MaxInt64 {
		all = append(all, status.Gauge("umbel_disk_left_bytes", "Bytes that max-disk and the file system leave.", log.Left))
	}
	if !log.LastSnapshot.IsZero() {
		all = append(all, status.Gauge("umbel_snapshot_age_seconds",
			"Time since the last snapshot ended; absent before the first.", time.Since(log.LastSnapshot).Seconds()))
	}
	return all
}

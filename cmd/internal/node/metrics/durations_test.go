package metrics

import (
	"testing"
	"time"

	"github.com/umbel-filters/umbel/cmd/internal/service/status"
)

// Requests are counted by route and status, and their times by route.
func TestRequests(t *testing.T) {
	var r requests
	for _, one := range []struct {
		route string
		code  int
		took  time.Duration
	}{
		{"GET /", 200, time.Second}, {"GET /", 200, 2 * time.Second}, {"GET /", 404, 500 * time.Millisecond}, {"", 400, 16 * time.Microsecond},
	} {
		r.add(one.route, one.code, one.took)
	}
	compare(t, r.metrics, `
# HELP umbel_http_requests_total HTTP requests answered.
# TYPE umbel_http_requests_total counter
umbel_http_requests_total{route="",code="400"} 1
umbel_http_requests_total{route="GET /",code="200"} 2
umbel_http_requests_total{route="GET /",code="404"} 1
`, "umbel_http_requests_total")
	if n := len(r.metrics()); n != 3+2 {
		t.Errorf("%d metrics, want 5", n)
	}
}

// Bounds belong to the bucket below them, and durations below zero count as zero.
func TestDurations(t *testing.T) {
	var l Latencies
	for _, took := range []time.Duration{-1, 16 * time.Microsecond, 17 * time.Microsecond, time.Hour} {
		l.Sync(took)
	}
	l.Commit(time.Millisecond)
	compare(t, func() []status.Metric { return l.metrics() }, `
# HELP umbel_log_sync_duration_seconds Duration of a sync of the log.
# TYPE umbel_log_sync_duration_seconds histogram
umbel_log_sync_duration_seconds_bucket{le="1.6e-05"} 2
umbel_log_sync_duration_seconds_bucket{le="6.4e-05"} 3
umbel_log_sync_duration_seconds_bucket{le="0.000256"} 3
umbel_log_sync_duration_seconds_bucket{le="0.001024"} 3
umbel_log_sync_duration_seconds_bucket{le="0.004096"} 3
umbel_log_sync_duration_seconds_bucket{le="0.016384"} 3
umbel_log_sync_duration_seconds_bucket{le="0.065536"} 3
umbel_log_sync_duration_seconds_bucket{le="0.262144"} 3
umbel_log_sync_duration_seconds_bucket{le="1.048576"} 3
umbel_log_sync_duration_seconds_bucket{le="4.194304"} 3
umbel_log_sync_duration_seconds_bucket{le="16.777216"} 3
umbel_log_sync_duration_seconds_bucket{le="+Inf"} 4
umbel_log_sync_duration_seconds_sum 3600.000033
umbel_log_sync_duration_seconds_count 4
`, "umbel_log_sync_duration_seconds")
}

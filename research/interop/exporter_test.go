package interop

import (
	"io"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"testing"

	"github.com/umbel-filters/umbel/internal/await"
	"github.com/umbel-filters/umbel/internal/freeport"
)

// TestRedisExporter runs Debian's prometheus-redis-exporter and looks for the metrics of the usual
// dashboards.
func TestRedisExporter(t *testing.T) {
	exporter := find(t, "prometheus-redis-exporter")
	address, err := freeport.Addr()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), exporter, "-redis.addr", "redis://"+node, "-web.listen-address", address)
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // killed
	}()
	page := ""
	await.True(t, "the exporter answers", func() bool {
		answer, err := http.Get("http://" + address + "/metrics")
		if err != nil {
			return false
		}
		defer answer.Body.Close()
		b, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		page = string(b)
		return true
	})
	values := map[string]string{}
	for _, m := range regexp.MustCompile(`(?m)^(redis_[a-z_]+)(?:\{[^}]*\})? (\S+)$`).FindAllStringSubmatch(page, -1) {
		values[m[1]] = m[2]
	}
	if values["redis_up"] != "1" {
		t.Fatalf("redis_up is %q: %s", values["redis_up"], page)
	}
	for _, name := range []string{
		"redis_commands_processed_total", "redis_connections_received_total", "redis_connected_clients", "redis_rejected_connections_total",
		"redis_keyspace_hits_total", "redis_keyspace_misses_total", "redis_net_input_bytes_total", "redis_net_output_bytes_total",
		"redis_memory_used_bytes", "redis_memory_used_rss_bytes", "redis_memory_used_peak_bytes", "redis_memory_max_bytes",
		"redis_cpu_sys_seconds_total", "redis_cpu_user_seconds_total", "redis_uptime_in_seconds", "redis_loading_dump_file",
		"redis_rdb_last_bgsave_status", "redis_aof_enabled", "redis_expired_keys_total", "redis_evicted_keys_total", "redis_instance_info",
	} {
		if _, found := values[name]; !found {
			t.Errorf("the exporter has no %s", name)
		}
	}
	t.Logf("%d metrics", len(values))
}

package node

import (
	"fmt"
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/umbel-filters/umbel/cmd/internal/durable/store"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/http/api"
	"github.com/umbel-filters/umbel/cmd/internal/redis/builtin"
)

// Versions of Redis and RedisBloom that are reported, because some clients check them.
const (
	redisVersion = "8.4.0"
	bloomVersion = 80800
)

// usage is what the process has taken from the system.
type usage struct {
	resident, peak uint64        // bytes of memory; 0: unknown
	user, system   time.Duration // time of the processors
}

// Info returns the process' sections of INFO, with the names that redis-cli --stat and the exporters
// for Prometheus read.
func (p process) Info() []builtin.Section {
	port := "0"
	if a := p.RESP(); a != nil {
		port = a.String()[strings.LastIndexByte(a.String(), ':')+1:]
	}
	up, use, status := time.Since(p.began), usageNow(), p.store.Status()
	_, faulty := p.engine.Faults()
	sections := []builtin.Section{
		{Name: "Server", Fields: [][2]string{
			{"redis_version", redisVersion},
			{"redis_mode", p.mode()},
			{"umbel_version", version()},
			{"os", runtime.GOOS + " " + runtime.GOARCH},
			{"arch_bits", strconv.Itoa(strconv.IntSize)},
			{"process_id", strconv.Itoa(os.Getpid())},
			{"tcp_port", port},
			{"uptime_in_seconds", whole(up.Seconds())},
			{"uptime_in_days", whole(up.Hours() / 24)},
			{"config_file", ""},
		}},
		{Name: "Memory", Fields: p.memoryFields(use)},
		{Name: "Persistence", Fields: [][2]string{
			{"loading", "0"},
			{"async_loading", "0"},
			{"rdb_changes_since_last_save", "0"}, // changes are in the log
			{"rdb_bgsave_in_progress", flag(status.Snapshotting)},
			{"rdb_last_save_time", fmt.Sprint(p.LastSave().Unix())},
			{"rdb_last_bgsave_status", okOrErr(status.LastSnapshotErr)},
			{"rdb_last_bgsave_time_sec", lastTime(status)},
			{"rdb_current_bgsave_time_sec", currentTime(status)},
			{"aof_enabled", "1"},
			{"aof_rewrite_in_progress", flag(status.Snapshotting)},
			{"aof_rewrite_scheduled", "0"},
			{"aof_last_rewrite_time_sec", lastTime(status)},
			{"aof_current_rewrite_time_sec", currentTime(status)},
			{"aof_last_bgrewrite_status", okOrErr(status.LastSnapshotErr)},
			{"aof_last_write_status", okOrErr(status.Err)},
			{"aof_current_size", fmt.Sprint(status.LogBytes)},
			{"aof_base_size", fmt.Sprint(status.LogBytes)},
			{"aof_buffer_length", fmt.Sprint(status.Pending)},
			{"aof_pending_bio_fsync", "0"},
			{"aof_delayed_fsync", "0"},
			{"umbel_log_lag_milliseconds", fmt.Sprint(status.Lag.Milliseconds())},
			{"umbel_durability", p.config.Durability},
			{"umbel_incomplete_filters", fmt.Sprint(p.engine.LostLen())},
			{"umbel_faulty_filters", fmt.Sprint(faulty)},
			{"umbel_names_missing", flag(p.engine.MissingNames() != nil)},
		}},
		{Name: "Stats", Fields: p.statsFields()},
		p.Replication(),
		{Name: "CPU", Fields: [][2]string{
			{"used_cpu_sys", seconds(use.system)},
			{"used_cpu_user", seconds(use.user)},
			{"used_cpu_sys_children", "0.000000"},
			{"used_cpu_user_children", "0.000000"},
		}},
		{Name: "Modules", Fields: [][2]string{{"module", fmt.Sprintf("name=bf,ver=%d,api=1,filters=0,usedby=[],using=[],options=[]", bloomVersion)}}},
		{Name: "Cluster", Fields: [][2]string{{"cluster_enabled", flag(p.place != nil)}}},
	}
	if p.following != nil {
		sections = append(sections, p.subscriptionsSection())
	}
	return sections
}

func (p process) memoryFields(use usage) [][2]string {
	used, limit := p.engine.Memory()
	var mem runtime.MemStats
	runtime.ReadMemStats(&mem)
	if use.resident == 0 {
		use.resident = mem.Sys - mem.HeapReleased
	}
	use.peak = max(use.peak, use.resident)
	return [][2]string{
		{"used_memory", fmt.Sprint(mem.HeapAlloc)},
		{"used_memory_human", human(mem.HeapAlloc)},
		{"used_memory_rss", fmt.Sprint(use.resident)},
		{"used_memory_rss_human", human(use.resident)},
		{"used_memory_peak", fmt.Sprint(use.peak)},
		{"used_memory_peak_human", human(use.peak)},
		{"used_memory_dataset", fmt.Sprint(used)},
		{"used_memory_overhead", fmt.Sprint(mem.HeapAlloc - min(used, mem.HeapAlloc))},
		{"used_memory_lua", "0"},
		{"maxmemory", fmt.Sprint(limit)},
		{"maxmemory_human", human(limit)},
		{"maxmemory_policy", "noeviction"},
		{"mem_clients_normal", fmt.Sprint(p.budget.Used())},
		{"mem_fragmentation_ratio", fmt.Sprintf("%.2f", float64(use.resident)/float64(max(mem.HeapAlloc, 1)))},
		{"mem_allocator", "go"},
	}
}

// statsFields returns the totals since the start. Hits and misses are those of queried keys, in the
// filters that exist now.
func (p process) statsFields() [][2]string {
	t := p.totals()
	var queried, found uint64
	overfull := 0
	for cursor := uint64(0); ; {
		cursor = p.engine.List(cursor, 1024, func(f *engine.Filter) bool {
			c := f.Counts()
			queried, found = queried+c.Queried, found+c.Found
			if f.Overfull() {
				overfull++
			}
			return true
		})
		if cursor == 0 {
			break
		}
	}
	return [][2]string{
		{"total_connections_received", fmt.Sprint(t.Connections)},
		{"total_commands_processed", fmt.Sprint(p.monitor.Calls(p.resp))},
		{"total_net_input_bytes", fmt.Sprint(t.Read)},
		{"total_net_output_bytes", fmt.Sprint(t.Written)},
		{"rejected_connections", fmt.Sprint(t.Rejected)},
		{"total_error_replies", fmt.Sprint(t.Errors)},
		{"acl_access_denied_auth", fmt.Sprint(t.FailedLogins)},
		{"keyspace_hits", fmt.Sprint(found)},
		{"keyspace_misses", fmt.Sprint(queried - min(found, queried))},
		{"expired_keys", fmt.Sprint(p.expired.Load())},
		{"evicted_keys", "0"},
		{"sync_full", "0"},
		{"sync_partial_ok", "0"},
		{"sync_partial_err", "0"},
		{"pubsub_channels", "0"},
		{"pubsub_patterns", "0"},
		{"latest_fork_usec", "0"},
		{"migrate_cached_sockets", "0"},
		{"slave_expires_tracked_keys", "0"},
		{"umbel_overfull_filters", fmt.Sprint(overfull)},
	}
}

func seconds(d time.Duration) string { return strconv.FormatFloat(d.Seconds(), 'f', 6, 64) }

func whole(f float64) string { return strconv.FormatInt(int64(f), 10) }

// lastTime returns the duration of the last snapshot of this process in seconds, -1 before the first.
func lastTime(s store.Status) string {
	if s.LastSnapshotTook == 0 {
		return "-1"
	}
	return whole(s.LastSnapshotTook.Seconds())
}

// currentTime returns the duration of the running snapshot until now in seconds, -1 if there is none.
func currentTime(s store.Status) string {
	if !s.Snapshotting {
		return "-1"
	}
	return whole(time.Since(s.SnapshotBegan).Seconds())
}

// human formats a size as Redis does: 512B, 1.50M.
func human(n uint64) string {
	if n < 1<<10 {
		return fmt.Sprintf("%dB", n)
	}
	size, unit := float64(n)/(1<<10), 0
	for ; size >= 1<<10; unit++ {
		size /= 1 << 10
	}
	return fmt.Sprintf("%.2f%c", size, "KMGTPE"[unit])
}

func flag(b bool) string {
	if b {
		return "1"
	}
	return "0"
}

func okOrErr(err error) string {
	if err != nil {
		return "err"
	}
	return "ok"
}

// version returns the module version, or the commit that the program was built from.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			return s.Value
		}
	}
	return "devel"
}

// status returns the state of the node for umbel node status.
func (n *Node) status() api.Status {
	s := n.store.Status()
	used, limit := n.engine.Memory()
	_, faulty := n.engine.Faults()
	status := api.Status{
		Version: version(), Uptime: time.Since(n.began).Round(time.Millisecond).Seconds(),
		Filters: n.engine.Len(), Incomplete: n.engine.LostLen(), Faulty: faulty, Bytes: used, MaxBytes: limit, Clients: n.clients(), ClientBytes: n.budget.Used(),
		Durability: n.config.Durability, DiskBytes: s.LogBytes + n.shared.Used(), MaxDisk: s.MaxBytes, SnapshotNeed: s.Needed,
		MissingBytes: s.Missing, NeededMaxDisk: s.NeededMax, PendingBytes: s.Pending, LagSeconds: s.Lag.Seconds(),
		Snapshotting: s.Snapshotting, Growth: n.growth.status(), Publications: n.publications.List(), Subscriptions: n.following.List(), Group: n.groupStatus(),
	}
	if m := n.engine.MissingNames(); m != nil {
		status.Missing = &api.Missing{Since: m.Time(), Batches: m.Batches}
	}
	if s.Left != math.MaxInt64 {
		status.LeftBytes = &s.Left
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

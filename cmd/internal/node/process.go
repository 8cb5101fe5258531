package node

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/umbel-filters/umbel/cmd/internal/keyspace"
	"github.com/umbel-filters/umbel/cmd/internal/quantity"
)

// process implements keyspace.Node.
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
			p.log.Error("snapshot failed", "error", err)
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

func (p process) Config() keyspace.Config { return settings(p) }

// Versions of Redis and RedisBloom that are reported, because some clients check them.
const (
	redisVersion = "8.4.0"
	bloomVersion = 80800
)

// Info returns the process' sections of INFO.
func (p process) Info() []keyspace.Section {
	used, limit := p.engine.Memory()
	status := p.store.Status()
	var mem runtime.MemStats
	runtime.ReadMemStats(&mem)
	up := time.Since(p.began)
	port := "0"
	if a := p.RESP(); a != nil {
		port = a.String()[strings.LastIndexByte(a.String(), ':')+1:]
	}
	return []keyspace.Section{
		{Name: "Server", Fields: [][2]string{
			{"redis_version", redisVersion},
			{"redis_mode", "standalone"},
			{"umbel_version", Version()},
			{"os", runtime.GOOS + " " + runtime.GOARCH},
			{"arch_bits", strconv.Itoa(strconv.IntSize)},
			{"process_id", strconv.Itoa(os.Getpid())},
			{"tcp_port", port},
			{"uptime_in_seconds", whole(up.Seconds())},
			{"uptime_in_days", whole(up.Hours() / 24)},
			{"config_file", ""},
		}},
		{Name: "Memory", Fields: [][2]string{
			{"used_memory", fmt.Sprint(mem.HeapAlloc)},
			{"used_memory_human", human(mem.HeapAlloc)},
			{"used_memory_dataset", fmt.Sprint(used)},
			{"maxmemory", fmt.Sprint(limit)},
			{"maxmemory_human", human(limit)},
			{"maxmemory_policy", "noeviction"},
			{"mem_allocator", "go"},
		}},
		{Name: "Persistence", Fields: [][2]string{
			{"loading", "0"},
			{"rdb_bgsave_in_progress", flag(status.Snapshotting)},
			{"rdb_last_save_time", fmt.Sprint(p.LastSave().Unix())},
			{"rdb_last_bgsave_status", okOrErr(status.LastSnapshotErr)},
			{"rdb_last_bgsave_time_sec", whole(status.LastSnapshotTook.Seconds())},
			{"aof_enabled", "1"},
			{"aof_rewrite_in_progress", flag(status.Snapshotting)},
			{"aof_last_write_status", okOrErr(status.Err)},
			{"aof_current_size", fmt.Sprint(status.LogBytes)},
			{"aof_buffer_length", fmt.Sprint(status.Pending)},
			{"umbel_log_lag_milliseconds", fmt.Sprint(status.Lag.Milliseconds())},
			{"umbel_durability", p.config.Durability},
		}},
		{Name: "Replication", Fields: [][2]string{{"role", "master"}, {"connected_slaves", "0"}}},
		{Name: "Cluster", Fields: [][2]string{{"cluster_enabled", "0"}}},
	}
}

func whole(f float64) string { return strconv.FormatInt(int64(f), 10) }

// human formats a size as Redis does: 1.50M.
func human(n uint64) string {
	return strings.NewReplacer(" ", "", "iB", "").Replace(quantity.Size(n).String())
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

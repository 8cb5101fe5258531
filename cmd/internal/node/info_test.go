package node

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/umbel-filters/umbel/cmd/internal/testing/resptest"
	"github.com/umbel-filters/umbel/internal/await"
)

// infoFields returns the fields of INFO.
func infoFields(t *testing.T, c *resptest.Client) map[string]string {
	t.Helper()
	fields := map[string]string{}
	for line := range strings.Lines(resptest.Bulk(t, c.Line("INFO"))) {
		if name, value, ok := strings.Cut(strings.TrimRight(line, "\r\n"), ":"); ok {
			fields[name] = value
		}
	}
	return fields
}

// INFO has the totals that redis-cli --stat and exporters read.
func TestInfoTotals(t *testing.T) {
	c := testConfig(t)
	c.MaxClients = 1
	n := started(t, c)
	r := dial(t, n, nil)
	r.Want("BF.ADD f a", ":1")
	r.Want("BF.EXISTS f a", ":1")
	r.Want("BF.EXISTS f b", ":0")
	r.Want("NOSUCH", "-ERR unknown command")
	if got := dial(t, n, nil).Reply(); !strings.HasPrefix(got, "-ERR max") {
		t.Fatalf("a second client: %q", got)
	}
	r.Want("BF.ADD gone a", ":1")
	r.Want("PEXPIRE gone 1000", ":1") // a time that has passed when the command is executed deletes, and is not counted
	await.True(t, "the filter has expired", func() bool { return n.expired.Load() > 0 })
	got := infoFields(t, r)
	for name, want := range map[string]uint64{
		"total_connections_received": 1, "rejected_connections": 1, "total_commands_processed": 5, "expired_keys": 1, "total_error_replies": 1,
		"keyspace_hits": 1, "keyspace_misses": 1, "connected_clients": 1, "acl_access_denied_auth": 0,
	} {
		if got[name] != fmt.Sprint(want) {
			t.Errorf("%s is %q, want %d", name, got[name], want)
		}
	}
	for _, name := range []string{"used_memory", "used_memory_rss", "used_memory_peak", "total_net_input_bytes", "total_net_output_bytes"} {
		if v, err := strconv.ParseUint(got[name], 10, 64); err != nil || v == 0 {
			t.Errorf("%s is %q", name, got[name])
		}
	}
	for _, name := range []string{"used_cpu_sys", "used_cpu_user"} {
		if _, err := strconv.ParseFloat(got[name], 64); err != nil {
			t.Errorf("%s is %q", name, got[name])
		}
	}
	if !strings.Contains(r.Line("HELLO"), fmt.Sprintf(`$7:"version", $%d:%q`, len(got["redis_version"]), got["redis_version"])) {
		t.Errorf("HELLO and INFO (%s) report different versions", got["redis_version"])
	}
}

// An acknowledged change has been timed until it was on the disk.
func TestLatencies(t *testing.T) {
	n := started(t, testConfig(t))
	dial(t, n, nil).Want("BF.ADD f a", ":1")
	_, page := get(t, n, "/metrics")
	for _, name := range []string{"umbel_log_commit_duration_seconds_count", "umbel_log_sync_duration_seconds_count"} {
		_, value, found := strings.Cut(page, "\n"+name+" ")
		value, _, _ = strings.Cut(value, "\n")
		if count, err := strconv.ParseFloat(value, 64); !found || err != nil || count < 1 {
			t.Errorf("%s is %q, want 1 or more", name, value)
		}
	}
}

// INFO has the sections of Redis in their order, and the values that Redis has before and after a snapshot.
func TestInfoLikeRedis(t *testing.T) {
	n := started(t, testConfig(t))
	r := dial(t, n, nil)
	r.Want("BF.ADD f a", ":1")
	var sections []string
	for line := range strings.Lines(resptest.Bulk(t, r.Line("INFO ALL"))) {
		if name, ok := strings.CutPrefix(strings.TrimSpace(line), "# "); ok {
			sections = append(sections, name)
		}
	}
	if got := strings.Join(sections, " "); got != "Server Clients Memory Persistence Stats Replication CPU Modules Commandstats Errorstats Cluster Keyspace" {
		t.Errorf("sections: %s", got)
	}
	names := []string{"rdb_last_bgsave_time_sec", "rdb_current_bgsave_time_sec", "aof_last_rewrite_time_sec", "aof_current_rewrite_time_sec"}
	before := infoFields(t, r)
	for _, name := range names {
		if before[name] != "-1" {
			t.Errorf("%s is %q before the first snapshot, want -1", name, before[name])
		}
	}
	if !strings.HasPrefix(before["module"], "name=bf,ver=") {
		t.Errorf("module is %q", before["module"])
	}
	r.Want("SAVE", "+OK")
	after := infoFields(t, r)
	for i, name := range names {
		if current := i%2 == 1; (after[name] == "-1") != current {
			t.Errorf("%s is %q after a snapshot", name, after[name])
		}
	}
}

func TestHuman(t *testing.T) {
	for n, want := range map[uint64]string{0: "0B", 1023: "1023B", 1024: "1.00K", 1536: "1.50K", 21184512: "20.20M", 17560190976: "16.35G", 1 << 63: "8.00E"} {
		if got := human(n); got != want {
			t.Errorf("%d is %q, want %q", n, got, want)
		}
	}
}

// INFO errorstats counts error replies by their first word, until CONFIG RESETSTAT.
func TestErrorStats(t *testing.T) {
	n := started(t, testConfig(t))
	r := dial(t, n, nil)
	r.Want("BF.ADD", "-ERR wrong number of arguments for 'bf.add' command")
	r.Want("BF.RESERVE f x 10", "-ERR bad error rate")
	r.Want("UM.MAKE b bloom KEYS 100 RATE 1%", "+OK")
	r.Want("BF.INFO b", "-WRONGTYPE Operation against a key holding the wrong kind of value")
	r.Want("BF.SCANDUMP b x", "-WRONGTYPE Operation against a key holding the wrong kind of value")
	info := infoFields(t, r)
	if got := [2]string{info["errorstat_ERR"], info["errorstat_WRONGTYPE"]}; got != [2]string{"count=2", "count=2"} {
		t.Errorf("errorstat_ERR %q, errorstat_WRONGTYPE %q; want 2 of each", got[0], got[1])
	}
	r.Want("CONFIG RESETSTAT", "+OK")
	if info := infoFields(t, r); info["errorstat_ERR"] != "" {
		t.Errorf("after CONFIG RESETSTAT: errorstat_ERR %q", info["errorstat_ERR"])
	}
}

package builtin

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/node/access"
	"github.com/umbel-filters/umbel/cmd/internal/redis/command"
	"github.com/umbel-filters/umbel/cmd/internal/redis/resp"
	"github.com/umbel-filters/umbel/cmd/internal/testing/resptest"
)

func bulk(s string) string { return fmt.Sprintf("$%d:%q", len(s), s) }

func TestNode(t *testing.T) {
	p := start(t, nil)
	p.Expect(
		"SAVE", "+OK",
		"BGSAVE", "+Background saving started",
		"BGSAVE SCHEDULE", "+Background saving started",
		"BGREWRITEAOF", "+Background append only file rewriting started",
		"LASTSAVE", ":1234567890",
		"WAITAOF 1 0 0", "*2[:1, :0]",
		"WAITAOF 2 0 0", "-ERR value is out of range, value must between 0 and 1",
		"WAITAOF 1 -1 0", "-ERR value is out of range, must be positive",
		"WAITAOF 1 0 -1", "-ERR timeout is negative",
		"DEBUG SLEEP 0", "-ERR DEBUG command not allowed.",
		"MODULE LIST", `*1[*8[$4:"name", $2:"bf", $3:"ver", :80800, $4:"path", $0:"", $4:"args", *0[]]]`,
		"ACL WHOAMI", bulk("default"),
	)
	if want := []string{"save", "save in the background", "save in the background", "save in the background", "sync"}; !slices.Equal(p.node.asked, want) {
		t.Errorf("the node was asked to %q, want %q", p.node.asked, want)
	}
	p.node.broken = errors.New("disk full")
	p.Expect("SAVE", "-ERR disk full", "BGSAVE", "-ERR disk full", "WAITAOF 1 0 0", "*2[:0, :0]")
	if got := p.Line("TIME"); !strings.HasPrefix(got, "*2[$10:") {
		t.Error(got)
	}
}

// SHUTDOWN has no reply but the end of the connection.
func TestShutdown(t *testing.T) {
	p := start(t, nil)
	p.Send("SHUTDOWN", "NOSAVE")
	if rest := p.Rest(); rest != "" {
		t.Errorf("%q, want the end", rest)
	}
	p.node.mu.Lock()
	defer p.node.mu.Unlock()
	if !slices.Contains(p.node.asked, "shutdown") {
		t.Error("the node wasn't asked to shut down")
	}
}

func TestInfo(t *testing.T) {
	p := start(t, nil)
	p.add("bloom", "a", "b")
	p.add("redisbloom", "c")
	p.Line("EXPIRE a 100")
	p.Line("EXISTS a")
	info := func(words ...string) string { return resptest.Bulk(t, p.Do(append([]string{"INFO"}, words...)...)) }
	plain := info()
	for _, line := range []string{"# Server\r\nredis_version:8.0.0\r\n\r\n", "loading:0\r\n", "connected_clients:1\r\n", "maxclients:10000\r\n", "role:master\r\n", "cluster_enabled:0\r\n", "db0:keys=3,expires=1,avg_ttl=9"} {
		if !strings.Contains(plain, line) {
			t.Errorf("%q isn't in %q", line, plain)
		}
	}
	if strings.Count(plain, "# Persistence") != 1 || strings.Contains(plain, "# Commandstats") || strings.Contains(plain, "# bf") {
		t.Error(plain)
	}
	if got := info("nonsense"); got != "" {
		t.Error(got)
	}
	if got := info("SERVER"); got != "# Server\r\nredis_version:8.0.0\r\n" {
		t.Error(got)
	}
	if got := info("all"); !strings.Contains(got, "cmdstat_exists:calls=1,usec=") || strings.Contains(got, "# bf") {
		t.Error(got)
	}
	p.Line("CONFIG RESETSTAT")
	if got := info("commandstats"); strings.Contains(got, "cmdstat_exists") {
		t.Error(got)
	}
	if got := info("bf"); !strings.Contains(got, "bf_bloom_num_objects:1\r\nbf_bloom_num_filters_across_objects:1\r\nbf_bloom_num_items_across_objects:0\r\nbf_bloom_capacity_across_objects:100\r\n") {
		t.Error(got)
	}
	p.Line("FLUSHALL")
	if got := info("bf", "keyspace"); !strings.Contains(got, "bf_bloom_total_memory_bytes:0\r\n") || strings.Contains(got, "db0") {
		t.Error(got)
	}
	p.Line("HELLO 3")
	if got := p.Line("INFO server"); !strings.HasPrefix(got, "=") {
		t.Error(got)
	}
}

func TestConfig(t *testing.T) {
	p := start(t, nil)
	p.Expect(
		"CONFIG GET save", `*2[$4:"save", $0:""]`,
		"CONFIG GET MAX* save", `*6[$10:"maxclients", $5:"10000", $9:"maxmemory", $1:"0", $4:"save", $0:""]`,
		"CONFIG SET maxmemory 100 slowlog-max-len 7", "+OK",
		"CONFIG GET maxmemory slow*len", `*4[$9:"maxmemory", $3:"100", $15:"slowlog-max-len", $1:"7"]`,
		"CONFIG SET slowlog-max-len 8 maxmemory bad", "-ERR CONFIG SET failed (possibly related to argument 'maxmemory') - argument must be a memory value",
		"CONFIG GET slowlog-max-len", `*2[$15:"slowlog-max-len", $1:"7"]`,
		"CONFIG SET max* 1", "-ERR Unknown option or number of arguments for CONFIG SET - 'max*'",
	)
}

func TestSlowLogAndLatency(t *testing.T) {
	p := start(t, nil)
	p.Expect("CONFIG SET slowlog-log-slower-than 0 slowlog-max-len 2", "+OK", "SLOWLOG RESET", "+OK")
	p.Do("EXISTS", strings.Repeat("x", 200))
	p.Do("EXISTS", "a", "b")
	p.Expect("CONFIG SET slowlog-log-slower-than -1", "+OK", "SLOWLOG LEN", ":2")
	got := p.Line("SLOWLOG GET -1")
	if !strings.Contains(got, `$6:"EXISTS", $1:"a", $1:"b"`) && !strings.Contains(got, "slowlog-log-slower-than") {
		t.Error(got)
	}
	p.Expect("SLOWLOG GET 0", "*0[]", "SLOWLOG RESET", "+OK", "SLOWLOG GET", "*0[]")
}

func TestShown(t *testing.T) {
	cmd := &resp.Command{Name: "exists"}
	long := make([][]byte, 100)
	for i := range long {
		long[i] = []byte(fmt.Sprint(i))
	}
	long[1] = []byte(strings.Repeat("x", 130))
	got := slowlogArgs(cmd, long)
	if len(got) != 32 || got[1] != strings.Repeat("x", 128)+"... (2 more bytes)" || got[31] != "... (69 more arguments)" {
		t.Errorf("%q", got)
	}
	if got := slowlogArgs(&resp.Command{Name: "auth"}, [][]byte{[]byte("AUTH"), []byte("secret")}); slices.Contains(got, "secret") {
		t.Error("a password is shown")
	}
}

// Delays are kept by event, the worst of each second.
func TestEvents(t *testing.T) {
	m := NewMonitor()
	fast, slow := &resp.Command{Name: "exists", Flags: []string{"fast"}}, &resp.Command{Name: "keys"}
	m.slower.Store(-1)
	m.Observe(nil, slow, 1, time.Second)
	if len(m.events) != 0 {
		t.Error("delays are kept without having been asked for")
	}
	m.threshold.Store(5)
	m.Observe(nil, slow, 1, 4*time.Millisecond)
	m.Observe(nil, slow, 1, 9*time.Millisecond)
	m.Observe(nil, slow, 1, 7*time.Millisecond)
	m.Observe(nil, fast, 10, 6*time.Millisecond)
	if e := m.events["command"]; e.worst != 9 || len(e.samples) > 2 {
		t.Errorf("%+v", e)
	}
	if e := m.events["fast-command"]; e.worst != 6 {
		t.Errorf("%+v", e)
	}
}

func BenchmarkObserve(b *testing.B) {
	m, cmd := NewMonitor(), &resp.Command{Name: "bf.add"}
	b.ReportAllocs()
	for b.Loop() {
		m.Observe(nil, cmd, 64, 10*time.Microsecond)
	}
}

func TestMemoryAndCopy(t *testing.T) {
	p := start(t, nil)
	p.add("redisbloom", "r")
	p.add("bloom", "b")
	for _, name := range []string{"r", "b"} {
		f := p.engine.Get([]byte(name))
		if got := memoryOf(f); got < f.Bytes() {
			t.Errorf("%d bytes for a filter of %d", got, f.Bytes())
		}
	}
	in, ok := bloomInfo(p.engine.Get([]byte("r")))
	if used := p.Line("MEMORY USAGE r"); !ok || used < fmt.Sprintf(":%d", in.Size) && len(used) <= len(fmt.Sprint(in.Size))+1 {
		t.Errorf("MEMORY USAGE %s, and BF.INFO %d", used, in.Size)
	}
	p.Expect(
		"COPY r s", "-ERR not supported for this module key",
		"COPY b c", ":1",
		"DUMP r", bulk("payload"),
		"RESTORE x 0 payload", "-ERR DUMP payload version or checksum are wrong",
		"TYPE r", "+MBbloom--",
	)
	if got := p.Line("MEMORY STATS"); !strings.Contains(got, `$10:"keys.count", :3`) {
		t.Error(got)
	}
	for _, line := range []string{"MEMORY DOCTOR", "LATENCY DOCTOR"} {
		if got := p.Line(line); !strings.HasPrefix(got, "$") {
			t.Error(got)
		}
	}
	for _, line := range []string{"MEMORY HELP", "OBJECT HELP", "CONFIG HELP", "SLOWLOG HELP", "LATENCY HELP", "MODULE HELP", "ACL HELP"} {
		if got := p.Line(line); !strings.HasSuffix(got, "+HELP, +    Prints this help.]") {
			t.Error(got)
		}
	}
}

// A user sees what he may read and replaces what he may remove.
func TestRights(t *testing.T) {
	nobody := &access.User{Name: "nobody"}
	p := start(t, func(o *resp.Options) { o.Default = func(*resp.Conn) any { return nobody } })
	p.add("bloom", "a", "b")
	dump := resptest.Bulk(t, p.Line("DUMP a"))
	p.Expect(
		"ACL WHOAMI", bulk("nobody"),
		"KEYS *", "*0[]",
		"SCAN 0 COUNT 100", `*2[$1:"0", *0[]]`,
		"RANDOMKEY", "$-1",
		"COPY a c", "-"+command.NeedsRight(access.Add, []byte("c")),
	)
	if got := p.Do("RESTORE", "b", "0", dump, "REPLACE"); got != "-"+command.NeedsRight(access.Remove, []byte("b")) {
		t.Error(got)
	}
}

func TestCategories(t *testing.T) {
	p := start(t, nil)
	if got := p.Line("ACL CAT keyspace"); !strings.Contains(got, bulk("del")) || !strings.Contains(got, bulk("object|encoding")) || strings.Contains(got, bulk("save")) {
		t.Error(got)
	}
	if got := p.Line("ACL CAT"); !strings.Contains(got, bulk("dangerous")) {
		t.Error(got)
	}
}

// RESTORE within EXEC makes filters of at most 1 MiB in all: larger ones would wait for room in the journal with
// the locks of the transaction's keys.
func TestRestoreInTransactions(t *testing.T) {
	p := start(t, nil)
	for name, bytes := range map[string]uint64{"large": 1<<20 + 64<<10, "half": 600 << 10} {
		if _, _, err := p.engine.Create(name, "bloom", umbel.Goal{Bytes: bytes, FPRate: .01}, nil); err != nil {
			t.Fatal(err)
		}
	}
	large, half := resptest.Bulk(t, p.Line("DUMP large")), resptest.Bulk(t, p.Line("DUMP half"))
	p.Expect("MULTI", "+OK")
	for _, call := range [][2]string{{"a", large}, {"b", half}, {"c", half}} {
		if got := p.Do("RESTORE", call[0], "0", call[1]); got != "+QUEUED" {
			t.Fatal(got)
		}
	}
	got := p.Line("EXEC")
	p.Expect("EXISTS a", ":0", "EXISTS b", ":1", "EXISTS c", ":0")
	if !strings.HasPrefix(got, "*3[-") || !strings.Contains(got, ", +OK, -") {
		t.Errorf("EXEC replies %s", got)
	}
	if got := p.Do("RESTORE", "a", "0", large); got != "+OK" {
		t.Errorf("outside of a transaction: %s", got)
	}
}

package node

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/umbel-filters/umbel/cmd/internal/durable/disk"
	"github.com/umbel-filters/umbel/cmd/internal/durable/store"
	"github.com/umbel-filters/umbel/cmd/internal/group/logdir"
	"github.com/umbel-filters/umbel/cmd/internal/group/sharedlog"
	"github.com/umbel-filters/umbel/cmd/internal/testing/resptest"
	"github.com/umbel-filters/umbel/internal/await"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// testConfig returns settings for a node with a directory and ports of its own.
func testConfig(t *testing.T) Config {
	c := DefaultConfig()
	c.Data, c.RESP, c.HTTP = filepath.Join(t.TempDir(), "data"), "127.0.0.1:0", "127.0.0.1:0"
	c.MaxMemory = Memory{Bytes: 256 << 20}
	c.ShutdownTimeout = 30 * time.Second
	return c
}

// overBoth runs a test with event loops for Redis clients, and with a goroutine for each.
func overBoth(t *testing.T, test func(t *testing.T, loops int)) {
	t.Run("loops", func(t *testing.T) { test(t, 2) })
	t.Run("goroutines", func(t *testing.T) { test(t, -1) })
}

// started starts a node, which ends with the test.
func started(t *testing.T, c Config) *Node {
	t.Helper()
	return startedWith(t, c, slog.New(slog.DiscardHandler))
}

func startedWith(t *testing.T, c Config, log *slog.Logger) *Node {
	t.Helper()
	n, err := Start(t.Context(), c, log, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stopped(t, n) })
	return n
}

func stopped(t *testing.T, n *Node) {
	t.Helper()
	if err := n.Shutdown(context.Background()); err != nil {
		t.Errorf("shutdown: %v", err)
	}
}

// dial connects to a node and speaks RESP2.
func dial(t *testing.T, n *Node, config *tls.Config) *resptest.Client {
	t.Helper()
	c, err := net.Dial("tcp", n.RESP().String())
	if err != nil {
		t.Fatal(err)
	}
	if config != nil {
		c = tls.Client(c, config)
	}
	return resptest.On(t, c)
}

// get sends a request to a node over HTTP.
func get(t *testing.T, n *Node, path string) (int, string) {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: time.Minute}
	r, err := client.Get("http://" + n.HTTP().String() + path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return r.StatusCode, string(b)
}

// What was acknowledged is there after a restart, over RESP and HTTP, at each durability.
func TestRestart(t *testing.T) { overBoth(t, checkRestart) }

func checkRestart(t *testing.T, loops int) {
	for _, durability := range []string{"always", "everysec", "none"} {
		t.Run(durability, func(t *testing.T) {
			c := testConfig(t)
			c.loops = loops
			c.Durability = durability
			n := started(t, c)
			r := dial(t, n, nil)
			r.Want("BF.ADD k a", ":1")
			r.Want("BF.MADD k a b", "*2[:0, :1]")
			r.Want("UM.MAKE u counting KEYS 1000 RATE 1%", "+OK")
			r.Want("UM.ADD u x y", "*2[:1, :1]")
			stopped(t, n)

			n = started(t, c)
			if n.found.Filters != 2 {
				t.Errorf("%d filters are found, want 2", n.found.Filters)
			}
			r = dial(t, n, nil)
			r.Want("BF.MEXISTS k a b c", "*3[:1, :1, :0]")
			r.Want("BF.ADD k a", ":0")
			r.Want("BF.CARD k", ":2")
			r.Want("UM.HAS u x z", "*2[:1, :0]")
			if status, body := get(t, n, "/v1/filters/k"); status != http.StatusOK || !strings.Contains(body, "redisbloom") {
				t.Errorf("over HTTP: %d %s", status, body)
			}
		})
	}
}

// A data directory that lost its snapshots is not taken for an empty one.
func TestLostSnapshots(t *testing.T) {
	c := testConfig(t)
	c.Durability = "none"
	n := started(t, c)
	dial(t, n, nil).Want("BF.ADD k a", ":1")
	stopped(t, n)
	if err := os.RemoveAll(snapshotsDir(c.Data)); err != nil {
		t.Fatal(err)
	}
	if _, err := Start(t.Context(), c, slog.New(slog.DiscardHandler), nil); !errors.Is(err, store.ErrLost) {
		t.Errorf("error %v, want %v", err, store.ErrLost)
	}
	if _, _, err := Check(t.Context(), c, slog.New(slog.DiscardHandler)); !errors.Is(err, store.ErrLost) {
		t.Errorf("check: error %v, want %v", err, store.ErrLost)
	}
	c.AcceptLoss = true
	if found, _, err := Check(t.Context(), c, slog.New(slog.DiscardHandler)); err != nil || found.Filters != 0 {
		t.Errorf("check with the loss accepted: %+v, %v", found, err)
	}
	if _, err := os.Stat(snapshotsDir(c.Data)); err == nil {
		t.Error("the check made a directory")
	}
	stopped(t, started(t, c))
}

// Two nodes on one directory, or one address, are refused; and a refused one leaves nothing.
func TestRefused(t *testing.T) {
	c := testConfig(t)
	n := started(t, c)
	if _, err := Start(t.Context(), c, slog.New(slog.DiscardHandler), nil); !errors.Is(err, disk.ErrLocked) {
		t.Errorf("the same directory: %v", err)
	}
	other := testConfig(t)
	other.HTTP = n.HTTP().String()
	_, err := Start(t.Context(), other, slog.New(slog.DiscardHandler), nil)
	if err == nil || !strings.Contains(err.Error(), other.HTTP+" is in use") || !strings.Contains(err.Error(), "--http") {
		t.Errorf("the same address: %v", err)
	}
	beyond := testConfig(t)
	beyond.RESP = "0.0.0.0:0"
	if _, err = Start(t.Context(), beyond, slog.New(slog.DiscardHandler), nil); err == nil || !strings.Contains(err.Error(), "insecure") {
		t.Errorf("open to all: %v", err)
	}
	if _, err := os.Stat(beyond.Data); err == nil {
		t.Error("a refused node made a directory")
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if n, err := Start(cancelled, testConfig(t), slog.New(slog.DiscardHandler), nil); err == nil {
		stopped(t, n)
	}
	dial(t, n, nil).Want("PING", "+PONG")
}

func TestUsers(t *testing.T) { overBoth(t, checkUsers) }

func checkUsers(t *testing.T, loops int) {
	c := testConfig(t)
	c.loops = loops
	c.Users = filepath.Join(t.TempDir(), "users.yaml")
	file := `users:
  - name: shop
    passwords: ["PASSWORD"]
    rules: [{rights: [read, add], names: ["shop:*"]}]
  - name: root
    passwords: ["PASSWORD"]
    rules: [{rights: [admin]}]
`
	writeFile(t, c.Users, strings.ReplaceAll(file, "PASSWORD", cheapHash(t, "secret")))
	var log safeBuffer
	n := startedWith(t, c, slog.New(slog.NewJSONHandler(&log, nil)))
	r := dial(t, n, nil)
	r.Want("BF.ADD shop:1 a", "-NOAUTH")
	r.Want("AUTH shop wrong", "-WRONGPASS invalid username-password pair or user is disabled.")
	r.Want("AUTH nobody secret", "-WRONGPASS")
	r.Want("AUTH shop secret", "+OK")
	r.Want("ACL WHOAMI", `$4:"shop"`)
	r.Want("BF.ADD shop:1 a", ":1")
	r.Want("BF.ADD other a", "-NOPERM this user has no permissions to access one of the keys used as arguments")
	r.Want("DEL shop:1", "-NOPERM")
	r.Want("FLUSHALL", "-NOPERM this user has no permissions to run the 'flushall' command")
	root := dial(t, n, nil)
	root.Want("AUTH root secret", "+OK")
	root.Want("CONFIG GET save", `*2[$4:"save", $0:""]`)
	root.Want("CONFIG SET nonsense 1", "-ERR")
	root.Want("SLOWLOG LEN", ":")
	root.Want("CLIENT LIST", "$")
	r.Want("UM.IMPORT shop:1 x REPLACE", "-NOPERM")
	root.Want("BF.EXISTS shop:1 a", "-NOPERM")
	if status, _ := get(t, n, "/v1/filters/shop:1"); status != http.StatusUnauthorized {
		t.Errorf("over HTTP nobody gets %d", status)
	}
	if status, _ := get(t, n, "/healthz"); status != http.StatusOK {
		t.Errorf("/healthz: %d", status)
	}

	// Rights change for those who are there.
	writeFile(t, c.Users, "users: [{name: root, rules: [{rights: [admin]}]}]")
	if err := n.Reload(c); err != nil {
		t.Fatal(err)
	}
	r.Want("BF.EXISTS shop:1 a", "-NOPERM")
	root.Want("FLUSHALL", "+OK")

	for _, part := range []string{`"msg":"audit","user":"shop"`, `"action":"login"`, `"action":"flushall"`, `"outcome":"refused"`, `"outcome":"done"`,
		`"action":"config|set","target":"nonsense","outcome":"failed"`, `"action":"um.import","target":"shop:1","outcome":"refused"`} {
		if !strings.Contains(log.String(), part) {
			t.Errorf("the log lacks %s", part)
		}
	}
	for _, part := range []string{"secret", "config|get", "slowlog", "client|list"} {
		if strings.Contains(log.String(), part) {
			t.Errorf("the log has %s", part)
		}
	}
}

// INFO reports the state of the node; CONFIG returns the settings, and changes some.
func TestSettings(t *testing.T) {
	n := started(t, testConfig(t))
	r := dial(t, n, nil)
	r.Want("CONFIG GET appendonly", `*2[$10:"appendonly", $3:"yes"]`)
	r.Want("CONFIG GET durability", `*2[$10:"durability", $6:"always"]`)
	r.Want("CONFIG GET maxmemory", `*2[$9:"maxmemory", $9:"268435456"]`)
	r.Want("CONFIG GET bf-initial-size", `*2[$15:"bf-initial-size", $3:"100"]`)
	r.Want("CONFIG SET maxmemory 1MiB", "+OK")
	r.Want("CONFIG GET max-memory", `*2[$10:"max-memory", $8:"1.00 MiB"]`)
	r.Want("BF.RESERVE big 0.001 10000000", "-")
	r.Want("CONFIG SET bf-initial-size 1000", "+OK")
	r.Want("CONFIG SET loglevel debug", "+OK")
	r.Want("CONFIG SET durability none", "-ERR CONFIG SET failed")
	r.Want("BF.ADD k a", ":1")
	r.Want("BF.INFO k CAPACITY", "*1[:1000]")
	info := r.Line("INFO")
	for _, part := range []string{"redis_version:", "loading:0", "role:master", "maxmemory:1048576", "umbel_durability:always"} {
		if !strings.Contains(info, part) {
			t.Errorf("INFO lacks %s", part)
		}
	}
	r.Want("SAVE", "+OK")
	if got := r.Line("LASTSAVE"); got == ":0" {
		t.Error("there was no save")
	}
}

// Filters that have expired are deleted without a query.
func TestSweep(t *testing.T) {
	n := started(t, testConfig(t))
	r := dial(t, n, nil)
	r.Want("BF.ADD k a", ":1")
	r.Want("PEXPIRE k 1", ":1")
	await.True(t, "the filter is deleted", func() bool { return n.engine.Len() == 0 })
}

// The metrics of the dashboard exist.
func TestMetrics(t *testing.T) {
	c := testConfig(t)
	c.Metrics = "127.0.0.1:0"
	n := started(t, c)
	r := dial(t, n, nil)
	r.Want("BF.ADD k a", ":1")
	r.Want("UM.MAKE planned bloom KEYS 100", "+OK")
	r.Want("SAVE", "+OK")
	get(t, n, "/v1/filters")
	if status, _ := get(t, n, "/metrics"); status == http.StatusOK {
		t.Errorf("metrics are at the other address too: %d", status)
	}
	n.listeners.http = n.listeners.metrics
	// The first survey may have come before the filter.
	working, cancel := context.WithCancel(n.working)
	defer cancel()
	go n.metrics.Survey(working)
	var page string
	await.True(t, "the metrics contain both filters", func() bool {
		_, page = get(t, n, "/metrics")
		return strings.Contains(page, `umbel_filter_items{filter="k",kind="redisbloom"} 1`) &&
			strings.Contains(page, `umbel_filter_items{filter="planned",kind="bloom"} 0`)
	})
	cancel()
	for name := range dashboardMetrics(t) {
		if !strings.HasPrefix(name, "umbel_group_") && !strings.Contains(page, "\n"+name) {
			t.Errorf("the dashboard asks for %s", name)
		}
	}
	for _, line := range []string{`umbel_commands_total{command="bf.add"} 1`, "bloom_num_objects 2", "umbel_log_healthy 1", "bloom_capacity_across_objects 100"} {
		if !strings.Contains(page, "\n"+line+"\n") {
			t.Errorf("no %s", line)
		}
	}
}

// A member of a group has the other metrics of the dashboard.
func TestMetricsOfGroup(t *testing.T) {
	c := testConfig(t)
	c.Log, c.Logs = "file://"+t.TempDir(), sharedlog.Openers{"file": logdir.Open}
	_, page := get(t, started(t, c), "/metrics")
	checked := 0
	for name := range dashboardMetrics(t) {
		if !strings.HasPrefix(name, "umbel_group_") {
			continue
		}
		if checked++; !strings.Contains(page, "\n"+name) {
			t.Errorf("the dashboard asks for %s", name)
		}
	}
	if checked == 0 {
		t.Error("the dashboard has no metrics of groups")
	}
}

// While a node ends it says so, and answers what has come in.
func TestDrain(t *testing.T) { overBoth(t, checkDrain) }

func checkDrain(t *testing.T, loops int) {
	c := testConfig(t)
	c.loops = loops
	c.DrainDelay = time.Hour
	n := started(t, c)
	r := dial(t, n, nil)
	r.Want("BF.ADD k a", ":1")
	if status, _ := get(t, n, "/readyz"); status != http.StatusOK {
		t.Errorf("/readyz: %d", status)
	}
	ctx, hurry := context.WithCancel(t.Context())
	defer hurry()
	done := make(chan error, 1)
	go func() { done <- n.Shutdown(ctx) }()
	await.True(t, "the node is not ready", func() bool { return n.Ready() != nil })
	if status, _ := get(t, n, "/readyz"); status != http.StatusServiceUnavailable {
		t.Errorf("/readyz of a node that ends: %d", status)
	}
	r.Want("BF.EXISTS k a", ":1")
	hurry()
	if err := <-done; err != nil {
		t.Errorf("shutdown: %v", err)
	}
	if _, err := net.Dial("tcp", n.RESP().String()); err == nil {
		t.Error("a node that has ended takes clients")
	}
}

// A snapshot at the end leaves nothing of the log to read at the next start.
func TestSnapshotAtShutdown(t *testing.T) {
	c := testConfig(t)
	c.DrainDelay = 10 * time.Millisecond
	c.SnapshotAtShutdown = true
	n := started(t, c)
	dial(t, n, nil).Want("BF.ADD k a", ":1")
	stopped(t, n)
	n = started(t, c)
	if n.found.Batches != 0 || n.found.Filters != 1 {
		t.Errorf("the snapshot wasn't made: %+v", n.found)
	}
}

// A backup holds what a node holds, is verified, and becomes a directory.
func TestBackup(t *testing.T) {
	c := testConfig(t)
	n := started(t, c)
	dial(t, n, nil).Want("BF.MADD k a b", "*2[:1, :1]")
	var online, offline bytes.Buffer
	if err := n.store.Backup(t.Context(), &online); err != nil {
		t.Fatal(err)
	}
	stopped(t, n)
	log := slog.New(slog.DiscardHandler)
	if err := Backup(t.Context(), c, log, &offline); err != nil {
		t.Fatal(err)
	}
	if found, _, err := Check(t.Context(), c, log); err != nil || found.Filters != 1 {
		t.Errorf("check: %+v, %v", found, err)
	}
	for name, backup := range map[string][]byte{"online": online.Bytes(), "offline": offline.Bytes()} {
		t.Run(name, func(t *testing.T) {
			if found, err := VerifyFile(t.Context(), bytes.NewReader(backup)); err != nil || found.Filters != 1 {
				t.Fatalf("verify: %+v, %v", found, err)
			}
			c := testConfig(t)
			if _, err := RestoreDir(t.Context(), c.Data, log, bytes.NewReader(backup[:len(backup)/2])); err == nil {
				t.Error("half of a backup is restored")
			}
			if _, err := RestoreDir(t.Context(), c.Data, log, bytes.NewReader(backup)); err != nil {
				t.Fatal(err)
			}
			if _, err := RestoreDir(t.Context(), c.Data, log, bytes.NewReader(backup)); err == nil {
				t.Error("a backup is restored over filters")
			}
			dial(t, started(t, c), nil).Want("BF.MEXISTS k a b c", "*3[:1, :1, :0]")
		})
	}
	none := testConfig(t)
	if _, _, err := Check(t.Context(), none, log); err == nil {
		t.Error("a directory that isn't there is checked")
	}
}

// safeBuffer is a buffer for many.
type safeBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *safeBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *safeBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

package node

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/umbel-filters/umbel/cmd/internal/oplog"
	"github.com/umbel-filters/umbel/cmd/internal/resp"
	"github.com/umbel-filters/umbel/cmd/internal/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// testConfig returns settings for a node with a directory and ports of its own.
func testConfig(t *testing.T) Config {
	c := DefaultConfig()
	c.Data, c.RESP, c.HTTP = filepath.Join(t.TempDir(), "data"), "127.0.0.1:0", "127.0.0.1:0"
	c.MaxMemory = Memory{Bytes: 256 << 20}
	c.ShutdownTimeout = 5 * time.Second
	return c
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

// client speaks RESP2 with a node.
type client struct {
	t *testing.T
	c net.Conn
	r *bufio.Reader
}

func dial(t *testing.T, n *Node, config *tls.Config) *client {
	t.Helper()
	return dialTLS(t, n.RESP().String(), config)
}

func dialAddress(t *testing.T, address string) *client {
	t.Helper()
	return dialTLS(t, address, nil)
}

func dialTLS(t *testing.T, address string, config *tls.Config) *client {
	t.Helper()
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	if config != nil {
		c = tls.Client(c, config)
	}
	t.Cleanup(func() { c.Close() })
	_ = c.SetDeadline(time.Now().Add(20 * time.Second))
	return &client{t, c, bufio.NewReader(c)}
}

// call sends a command and returns its reply: "+OK", ":1", "$text", or elements in brackets.
func (c *client) call(command string) string {
	c.t.Helper()
	return c.words(strings.Fields(command)...)
}

// words is call for a command whose words may have spaces.
func (c *client) words(words ...string) string {
	c.t.Helper()
	c.send(words...)
	s, err := c.reply()
	if err != nil {
		c.t.Fatalf("%s: %v", words[0], err)
	}
	return s
}

// send sends a command.
func (c *client) send(words ...string) {
	c.t.Helper()
	var call [][]byte
	for _, w := range words {
		call = append(call, []byte(w))
	}
	if _, err := c.c.Write(resp.Append(nil, call...)); err != nil {
		c.t.Fatalf("%s: %v", words[0], err)
	}
}

func (c *client) reply() (string, error) {
	line, err := c.r.ReadString('\n')
	if err != nil {
		return "", err
	}
	line = strings.TrimRight(line, "\r\n")
	n, _ := strconv.Atoi(line[1:])
	switch line[0] {
	case '$':
		if n < 0 {
			return "$-1", nil
		}
		b := make([]byte, n+2)
		_, err := io.ReadFull(c.r, b)
		return "$" + string(b[:n]), err
	case '*':
		var elements []string
		for range n {
			e, err := c.reply()
			if err != nil {
				return "", err
			}
			elements = append(elements, e)
		}
		return fmt.Sprint(elements), nil
	}
	return line, nil
}

// want calls and compares how the reply begins.
func (c *client) want(command, reply string) {
	c.t.Helper()
	if got := c.call(command); !strings.HasPrefix(got, reply) {
		c.t.Errorf("%s: %q, want %q", command, got, reply)
	}
}

// get asks a node over HTTP.
func get(t *testing.T, n *Node, path string) (int, string) {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 10 * time.Second}
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

// What was acknowledged is there after a restart, over RESP and HTTP, whatever the durability.
func TestRestart(t *testing.T) {
	for _, durability := range []string{"always", "everysec", "none"} {
		t.Run(durability, func(t *testing.T) {
			c := testConfig(t)
			c.Durability = durability
			n := started(t, c)
			r := dial(t, n, nil)
			r.want("BF.ADD k a", ":1")
			r.want("BF.MADD k a b", "[:0 :1]")
			r.want("UM.MAKE u counting KEYS 1000 RATE 1%", "+OK")
			r.want("UM.ADD u x y", "[:1 :1]")
			stopped(t, n)

			n = started(t, c)
			if n.found.Filters != 2 {
				t.Errorf("%d filters are found, want 2", n.found.Filters)
			}
			r = dial(t, n, nil)
			r.want("BF.MEXISTS k a b c", "[:1 :1 :0]")
			r.want("BF.ADD k a", ":0")
			r.want("BF.CARD k", ":2")
			r.want("UM.HAS u x z", "[:1 :0]")
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
	dial(t, n, nil).want("BF.ADD k a", ":1")
	stopped(t, n)
	if err := os.RemoveAll(snapshotsDir(c.Data)); err != nil {
		t.Fatal(err)
	}
	if _, err := Start(t.Context(), c, slog.New(slog.DiscardHandler), nil); !errors.Is(err, store.ErrLost) {
		t.Errorf("error %v, want %v", err, store.ErrLost)
	}
	if _, err := Check(t.Context(), c, slog.New(slog.DiscardHandler)); !errors.Is(err, store.ErrLost) {
		t.Errorf("check: error %v, want %v", err, store.ErrLost)
	}
	c.AcceptLoss = true
	if found, err := Check(t.Context(), c, slog.New(slog.DiscardHandler)); err != nil || found.Filters != 0 {
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
	if _, err := Start(t.Context(), c, slog.New(slog.DiscardHandler), nil); !errors.Is(err, oplog.ErrLocked) {
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
	dial(t, n, nil).want("PING", "+PONG")
}

func TestUsers(t *testing.T) {
	c := testConfig(t)
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
	r.want("BF.ADD shop:1 a", "-NOAUTH")
	r.want("AUTH shop wrong", "-WRONGPASS invalid username-password pair or user is disabled.")
	r.want("AUTH nobody secret", "-WRONGPASS")
	r.want("AUTH shop secret", "+OK")
	r.want("ACL WHOAMI", "$shop")
	r.want("BF.ADD shop:1 a", ":1")
	r.want("BF.ADD other a", "-NOPERM this user has no permissions to access one of the keys used as arguments")
	r.want("DEL shop:1", "-NOPERM")
	r.want("FLUSHALL", "-NOPERM this user has no permissions to run the 'flushall' command")
	root := dial(t, n, nil)
	root.want("AUTH root secret", "+OK")
	root.want("CONFIG GET save", "[$save $]")
	root.want("CONFIG SET nonsense 1", "-ERR")
	r.want("UM.IMPORT shop:1 x REPLACE", "-NOPERM")
	root.want("BF.EXISTS shop:1 a", "-NOPERM")
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
	r.want("BF.EXISTS shop:1 a", "-NOPERM")
	root.want("FLUSHALL", "+OK")

	for _, part := range []string{`"msg":"audit","user":"shop"`, `"action":"login"`, `"action":"flushall"`, `"outcome":"refused"`, `"outcome":"done"`,
		`"action":"config|set","target":"nonsense","outcome":"failed"`, `"action":"um.import","target":"shop:1","outcome":"refused"`} {
		if !strings.Contains(log.String(), part) {
			t.Errorf("the log lacks %s", part)
		}
	}
	if strings.Contains(log.String(), "secret") {
		t.Error("the log has a password")
	}
}

// CONFIG and INFO tell how the node is, and change what can be changed.
func TestSettings(t *testing.T) {
	n := started(t, testConfig(t))
	r := dial(t, n, nil)
	r.want("CONFIG GET appendonly", "[$appendonly $yes]")
	r.want("CONFIG GET durability", "[$durability $always]")
	r.want("CONFIG GET maxmemory", "[$maxmemory $268435456]")
	r.want("CONFIG GET bf-initial-size", "[$bf-initial-size $100]")
	r.want("CONFIG SET maxmemory 1MiB", "+OK")
	r.want("CONFIG GET max-memory", "[$max-memory $1.00 MiB]")
	r.want("BF.RESERVE big 0.001 10000000", "-")
	r.want("CONFIG SET bf-initial-size 1000", "+OK")
	r.want("CONFIG SET loglevel debug", "+OK")
	r.want("CONFIG SET durability none", "-ERR CONFIG SET failed")
	r.want("BF.ADD k a", ":1")
	r.want("BF.INFO k CAPACITY", "[:1000]")
	info := r.call("INFO")
	for _, part := range []string{"redis_version:", "loading:0", "role:master", "maxmemory:1048576", "umbel_durability:always"} {
		if !strings.Contains(info, part) {
			t.Errorf("INFO lacks %s", part)
		}
	}
	r.want("SAVE", "+OK")
	if got := r.call("LASTSAVE"); got == ":0" {
		t.Error("there was no save")
	}
}

// What is over is forgotten though nobody asks.
func TestSweep(t *testing.T) {
	n := started(t, testConfig(t))
	r := dial(t, n, nil)
	r.want("BF.ADD k a", ":1")
	r.want("PEXPIRE k 1", ":1")
	for n.engine.Len() > 0 {
		time.Sleep(10 * time.Millisecond)
	}
}

// The dashboard asks for metrics that there are.
func TestMetrics(t *testing.T) {
	c := testConfig(t)
	c.Metrics = "127.0.0.1:0"
	n := started(t, c)
	r := dial(t, n, nil)
	r.want("BF.ADD k a", ":1")
	r.want("SAVE", "+OK")
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
	for !strings.Contains(page, `umbel_filter_items{filter="k",kind="redisbloom"} 1`) {
		time.Sleep(10 * time.Millisecond)
		_, page = get(t, n, "/metrics")
	}
	cancel()
	for name := range dashboardMetrics(t) {
		if !strings.Contains(page, "\n"+name) {
			t.Errorf("the dashboard asks for %s", name)
		}
	}
	for _, line := range []string{`umbel_commands_total{command="bf.add"} 1`, "bloom_num_objects 1", "umbel_log_healthy 1", "bloom_capacity_across_objects 100"} {
		if !strings.Contains(page, "\n"+line+"\n") {
			t.Errorf("no %s", line)
		}
	}
}

// While a node ends it says so, and answers what has come in.
func TestDrain(t *testing.T) {
	c := testConfig(t)
	c.DrainDelay = 300 * time.Millisecond
	c.SnapshotAtShutdown = true
	n := started(t, c)
	r := dial(t, n, nil)
	r.want("BF.ADD k a", ":1")
	if status, _ := get(t, n, "/readyz"); status != http.StatusOK {
		t.Errorf("/readyz: %d", status)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		stopped(t, n)
	}()
	for n.Ready() == nil {
		time.Sleep(time.Millisecond)
	}
	if status, _ := get(t, n, "/readyz"); status != http.StatusServiceUnavailable {
		t.Errorf("/readyz of a node that ends: %d", status)
	}
	r.want("BF.EXISTS k a", ":1")
	<-done
	if _, err := net.Dial("tcp", n.RESP().String()); err == nil {
		t.Error("a node that has ended takes clients")
	}
	n = started(t, c)
	if n.found.Batches != 0 || n.found.Filters != 1 {
		t.Errorf("the snapshot wasn't made: %+v", n.found)
	}
}

// A backup holds what a node holds, is verified, and becomes a directory.
func TestBackup(t *testing.T) {
	c := testConfig(t)
	n := started(t, c)
	dial(t, n, nil).want("BF.MADD k a b", "[:1 :1]")
	var online, offline bytes.Buffer
	if err := n.store.Backup(t.Context(), &online); err != nil {
		t.Fatal(err)
	}
	stopped(t, n)
	log := slog.New(slog.DiscardHandler)
	if err := Backup(t.Context(), c, log, &offline); err != nil {
		t.Fatal(err)
	}
	if found, err := Check(t.Context(), c, log); err != nil || found.Filters != 1 {
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
			dial(t, started(t, c), nil).want("BF.MEXISTS k a b c", "[:1 :1 :0]")
		})
	}
	none := testConfig(t)
	if _, err := Check(t.Context(), none, log); err == nil {
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

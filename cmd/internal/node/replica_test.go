package node

import (
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/http/api"
	"github.com/umbel-filters/umbel/cmd/internal/publish/replica"
	"github.com/umbel-filters/umbel/cmd/internal/redis/command"
	"github.com/umbel-filters/umbel/cmd/internal/redis/resp"
	"github.com/umbel-filters/umbel/cmd/internal/testing/resptest"
	"github.com/umbel-filters/umbel/filter/foreign/redisbloom"
	"github.com/umbel-filters/umbel/internal/await"
	"github.com/umbel-filters/umbel/share"
)

// published is a publication in memory.
type published struct {
	t         *testing.T
	store     *share.Memory
	key       share.Key
	publisher *share.Publisher
	filter    *redisbloom.Filter
}

func newPublished(t *testing.T, name string, valid time.Duration) *published {
	t.Helper()
	key, _, err := share.NewKey(name)
	if err != nil {
		t.Fatal(err)
	}
	p := &published{t: t, store: new(share.Memory), key: key}
	if p.publisher, err = share.NewPublisher(t.Context(), share.PublisherOptions{Store: p.store, Key: key, Valid: valid}); err != nil {
		t.Fatal(err)
	}
	if p.filter, err = redisbloom.New(10_000, 0.0001); err != nil {
		t.Fatal(err)
	}
	return p
}

func (p *published) publish(keys ...string) {
	p.t.Helper()
	umbel.AddKeys(p.filter, keys)
	if _, err := p.publisher.Publish(p.t.Context(), p.filter.State()); err != nil {
		p.t.Fatal(err)
	}
}

// replicaConfig returns settings of a replica with a directory and ports of its own.
func replicaConfig(t *testing.T, stale string, all ...*published) Config {
	t.Helper()
	c := Config{Replica: true}
	c.flags(pflag.NewFlagSet("", pflag.ContinueOnError))
	c.RESP, c.HTTP, c.Cache, c.Stale = "127.0.0.1:0", "127.0.0.1:0", filepath.Join(t.TempDir(), "cache"), stale
	c.MaxMemory = Memory{Bytes: 256 << 20}
	for _, p := range all {
		name := filepath.Base(p.key.Verifier.Name())
		c.Following = append(c.Following, replica.Publication{Spec: replica.Spec{Filter: name, Source: "memory"}, Reader: p.store, Verifier: p.key.Verifier})
	}
	return c
}

// readyAgain waits until the replica has what was published.
func readyAgain(t *testing.T, n *Node, all ...*published) {
	t.Helper()
	await.True(t, "the replica has the last versions", func() bool {
		list := n.following.List()
		return !slices.ContainsFunc(all, func(p *published) bool {
			i := slices.IndexFunc(list, func(s api.Subscription) bool { return s.Name == p.key.Verifier.Name() })
			return list[i].Version != p.publisher.Head().Version || list[i].State != "exact"
		})
	})
}

// A replica serves publications over RESP, a Unix socket and HTTP, and has them after a restart without their
// sources.
func TestReplica(t *testing.T) {
	words, users := newPublished(t, "example.org/words", time.Hour), newPublished(t, "example.org/users", time.Hour)
	words.publish("zebra")
	users.publish("alice")
	c := replicaConfig(t, "error", words, users)
	c.Unix = filepath.Join(t.TempDir(), "socket")
	n := started(t, c)
	readyAgain(t, n, words, users)
	unix, err := net.Dial("unix", c.Unix)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range []*resptest.Client{dial(t, n, nil), resptest.On(t, unix)} {
		r.Want("PING", "+PONG")
		r.Want("BF.EXISTS words zebra", ":1")
		r.Want("BF.EXISTS animals zebra", "-ERR no such filter: this replica follows other names")
		r.Want("BF.MEXISTS animals zebra gnu", "-ERR no such filter: this replica follows other names")
		r.Want("BF.MEXISTS users alice zebra", "*2[:1, :0]")
		r.Want("BF.INFO words ITEMS", "*1[:1]")
		r.Want("BF.CARD users", ":1")
		r.Want("UM.HAS words zebra yak", "*2[:1, :0]")
		r.Want("UM.COUNT words zebra", "-ERR")
		r.Want("TYPE words", "+MBbloom--")
		r.Want("DBSIZE", ":2")
		r.Want("BF.ADD words yak", "-READONLY ")
		r.Want("MULTI", "+OK")
		r.Want("BF.EXISTS words zebra", "+QUEUED")
		r.Want("DEL words", "-READONLY ")
		r.Want("EXEC", "-EXECABORT ")
		r.Want("SAVE", "-ERR a replica has no data directory")
		r.Want("UM.PUBLISH words", "-ERR no publication")
		r.Want("WAITAOF 1 0 0", "*2[:1, :0]")
	}
	words.publish("yak")
	readyAgain(t, n, words)
	r := dial(t, n, nil)
	r.Want("BF.MEXISTS words zebra yak gnu", "*3[:1, :1, :0]")
	if got := resptest.Bulk(t, r.Do("INFO", "subscriptions")); !strings.Contains(got, `subscription0:filter="words",state=exact,version=2,`) {
		t.Errorf("INFO: %s", got)
	}
	for path, want := range map[string]string{
		"/readyz":           "ready",
		"/v1/status":        `"subscriptions":[{"filter":"words"`,
		"/v1/subscriptions": `"version":2`,
		"/v1/filters/words": `"kind":"redisbloom"`,
		"/metrics":          "\numbel_subscription_exact{filter=\"words\"} 1\n",
	} {
		if status, body := get(t, n, path); status != http.StatusOK || !strings.Contains(body, want) {
			t.Errorf("%s: %d %s, want %s", path, status, body, want)
		}
	}
	stopped(t, n)
	if _, err := os.Stat(c.Unix); err == nil {
		t.Error("the socket remains after a shutdown")
	}
	for i := range c.Following {
		c.Following[i].Reader = new(share.Memory) // without a publication
	}
	again := started(t, c)
	r = dial(t, again, nil)
	r.Want("BF.MEXISTS words zebra yak gnu", "*3[:1, :1, :0]")
	if err := again.Ready(); err != nil {
		t.Errorf("after a restart: %v", err)
	}
}

// Before the first version, and after a head has expired, clients get what the setting selects.
func TestReplicaStale(t *testing.T) {
	for stale, want := range map[string]struct{ none, expired, many string }{
		"error": {"-STALE ", "-STALE ", "-STALE "}, "maybe": {":1", ":1", "*1[:1]"}, "last": {"-STALE ", ":0", "*1[:0]"},
	} {
		p := newPublished(t, "example.org/words", time.Second)
		n := started(t, replicaConfig(t, stale, p))
		r := dial(t, n, nil)
		r.Want("BF.EXISTS words zebra", want.none)
		if status, _ := get(t, n, "/readyz"); status != http.StatusServiceUnavailable {
			t.Errorf("%s: ready without a version: %d", stale, status)
		}
		p.publish("zebra")
		await.True(t, "the version is stale", func() bool { return n.following.List()[0].State == "stale" })
		r.Want("BF.EXISTS words gnu", want.expired)
		r.Want("BF.MEXISTS words gnu", want.many)
	}
}

// Every command that may change something is refused.
func TestReplicaRefusesCommands(t *testing.T) {
	p := newPublished(t, "example.org/words", time.Hour)
	p.publish("zebra")
	n := started(t, replicaConfig(t, "error", p))
	readyAgain(t, n, p)
	r, refused := dial(t, n, nil), 0
	n.resp.Commands(func(cmd *resp.Command) {
		if !slices.Contains(cmd.Flags, "write") {
			return
		}
		words := strings.Split(cmd.Name, "|")
		for least := max(cmd.Arity, -cmd.Arity); len(words) < least; {
			words = append(words, "words")
		}
		if got := r.Do(words...); got != "-"+command.ReadOnly {
			t.Errorf("%s: %s", words, got)
		}
		refused++
	})
	if refused < 20 {
		t.Errorf("%d commands were tried, want 20 or more", refused)
	}
	r.Want("BF.EXISTS words zebra", ":1")
}

// A socket that a killed process left is replaced; one that is in use, and other files, are not.
func TestUnixSocket(t *testing.T) {
	path := filepath.Join(t.TempDir(), "socket")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := listenUnix(path); err == nil || !strings.Contains(err.Error(), "in use") {
		t.Errorf("a socket in use: %v", err)
	}
	l.(*net.UnixListener).SetUnlinkOnClose(false)
	l.Close()
	if l, err = listenUnix(path); err != nil {
		t.Fatal(err)
	}
	l.Close()
	writeFile(t, path, "precious")
	if _, err := listenUnix(path); err == nil || !strings.Contains(err.Error(), "not a socket") {
		t.Errorf("a file: %v", err)
	}
}

// A node with a data directory serves a Unix socket too.
func TestNodeUnixSocket(t *testing.T) {
	c := testConfig(t)
	c.Unix, c.RESP, c.HTTP = filepath.Join(t.TempDir(), "socket"), off, off
	started(t, c)
	conn, err := net.Dial("unix", c.Unix)
	if err != nil {
		t.Fatal(err)
	}
	resptest.On(t, conn).Want("BF.ADD words zebra", ":1")
}

// What is wrong with the settings of a replica is reported.
func TestReplicaConfig(t *testing.T) {
	good := replicaConfig(t, "error", newPublished(t, "example.org/words", time.Hour))
	if err := good.Validate(); err != nil {
		t.Fatal(err)
	}
	for want, change := range map[string]func(*Config){
		"set subscriptions":          func(c *Config) { c.Following = nil },
		"cache is empty":             func(c *Config) { c.Cache = "" },
		"set stale (--stale)":        func(c *Config) { c.Stale = "" },
		"every is -1s":               func(c *Config) { c.Every = -time.Second },
		"resp and http are both off": func(c *Config) { c.RESP, c.HTTP = off, off },
		"has no TLS":                 func(c *Config) { c.RESP = ":6380" },
	} {
		c := good
		change(&c)
		if err := c.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	fs := pflag.NewFlagSet("", pflag.ContinueOnError)
	ReplicaFlags(fs)
	environ := func() []string { return []string{"UMBEL_DATA=/data", "UMBEL_STALE=last", "UMBEL_RESP=127.0.0.1:7"} }
	if c, _, err := load(Config{Replica: true}, fs, environ); err != nil || c.Stale != "last" || c.RESP != "127.0.0.1:7" {
		t.Errorf("an environment for nodes and replicas: %+v, %v", c, err)
	}
	environ = func() []string { return []string{"UMBEL_STALLE=last"} }
	if _, _, err := load(Config{Replica: true}, fs, environ); err == nil || !strings.Contains(err.Error(), "did you mean stale") {
		t.Errorf("a misspelt variable: %v", err)
	}
}

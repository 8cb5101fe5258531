package builtin

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/node/glob"
	"github.com/umbel-filters/umbel/cmd/internal/redis/command"
	"github.com/umbel-filters/umbel/cmd/internal/redis/resp"
	"github.com/umbel-filters/umbel/cmd/internal/testing/resptest"
	"github.com/umbel-filters/umbel/filter"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// place is a server of the package's commands, and a client of it.
type place struct {
	*resptest.Client
	t      *testing.T
	engine *engine.Engine
	node   *fakeNode
	addr   string
}

// start makes a server that says of all filters that they are strings, so that it
// can be held against Redis.
func start(t *testing.T, change func(*resp.Options)) *place {
	t.Helper()
	e := engine.New(engine.Options{Kinds: filter.All, Now: func() int64 { return time.Now().UnixMilli() }})
	n := &fakeNode{settings: map[string]string{"save": "", "appendonly": "yes", "maxmemory": "0", "maxclients": "10000"}}
	m := NewMonitor()
	o := resp.Options{Commands: Commands(e, n, strings_{}, m), Observe: m.Observe, Default: command.Everyone()}
	if change != nil {
		change(&o)
	}
	s := resp.NewServer(o)
	addr := resptest.Serve(t, s)
	return &place{resptest.Dial(t, addr), t, e, n, addr}
}

// add makes filters.
func (p *place) add(kind string, names ...string) {
	p.t.Helper()
	for _, name := range names {
		if _, _, err := p.engine.Create(name, kind, umbel.Goal{Keys: 100, FPRate: 0.01}, nil); err != nil {
			p.t.Fatal(err)
		}
	}
}

// strings_ says that filters are strings, and leaves payloads to the package; but of
// kind redisbloom it has its own.
type strings_ struct{}

func (strings_) Type(f *engine.Filter) string {
	if f.Kind() == "redisbloom" {
		return "MBbloom--"
	}
	return "string"
}

func (strings_) Dump(f *engine.Filter) ([]byte, error) {
	if f.Kind() == "redisbloom" {
		return []byte("payload"), nil
	}
	return nil, errors.ErrUnsupported
}

func (strings_) Restore(string, []byte, uint64, bool, int64) (*engine.Filter, engine.Position, error) {
	return nil, 0, errors.New("DUMP payload version or checksum are wrong")
}

// fakeNode records the calls.
type fakeNode struct {
	mu       sync.Mutex
	asked    []string
	broken   error
	settings map[string]string
	saving   func() // what takes its time
	leader   string // host:port that is followed, "" for none
}

func (n *fakeNode) ask(what string) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.asked = append(n.asked, what)
	return n.broken
}

func (n *fakeNode) Save(background bool) error {
	if background {
		return n.ask("save in the background")
	}
	if n.saving != nil {
		n.saving()
	}
	return n.ask("save")
}

func (n *fakeNode) LastSave() time.Time { return time.Unix(1234567890, 0) }
func (n *fakeNode) Sync() error         { return n.ask("sync") }
func (n *fakeNode) Shutdown()           { _ = n.ask("shutdown") }
func (n *fakeNode) Config() Config      { return n }

func (n *fakeNode) Info() []Section {
	return []Section{{"Server", [][2]string{{"redis_version", "8.0.0"}}}, {"Persistence", [][2]string{{"loading", "0"}, {"async_loading", "0"}}},
		n.Replication(), {"Cluster", [][2]string{{"cluster_enabled", "0"}}}}
}

func (n *fakeNode) Replication() Section {
	if n.leader == "" {
		return Section{"Replication", [][2]string{{"role", "master"}, {"connected_slaves", "0"}}}
	}
	host, port, _ := strings.Cut(n.leader, ":")
	return Section{"Replication", [][2]string{{"role", "slave"}, {"master_host", host}, {"master_port", port}, {"master_link_status", "up"}, {"slave_repl_offset", "7"}}}
}

func (n *fakeNode) Get(pattern string) (found [][2]string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, name := range []string{"appendonly", "maxclients", "maxmemory", "save"} {
		if glob.Match(pattern, name) {
			found = append(found, [2]string{name, n.settings[name]})
		}
	}
	return found
}

func (n *fakeNode) Set(name, value string) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if strings.HasPrefix(value, "bad") {
		return errors.New("argument must be a memory value")
	}
	n.settings[name] = value
	return nil
}

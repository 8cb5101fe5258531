//go:build unix

package lognats_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/umbel-filters/umbel/cmd/cloud/lognats"
	"github.com/umbel-filters/umbel/cmd/internal/group/sharedlog"
	"github.com/umbel-filters/umbel/cmd/internal/group/sharedlog/mediumtest"
	"github.com/umbel-filters/umbel/internal/await"
	"github.com/umbel-filters/umbel/internal/freeport"
)

// serverOptions is the environment variable with the options of a server that a process of this test runs, as JSON.
const serverOptions = "UMBEL_TEST_NATS"

func TestMain(m *testing.M) {
	if text := os.Getenv(serverOptions); text != "" {
		fmt.Fprintln(os.Stderr, serve(text))
		os.Exit(1)
	}
	mediumtest.Main(lognats.Open)
	os.Exit(m.Run())
}

// node is a server of a cluster.
type node struct {
	Name, Store       string
	Port, ClusterPort int
	Routes            string
}

// serve runs a server until its process ends.
func serve(text string) error {
	var n node
	if err := json.Unmarshal([]byte(text), &n); err != nil {
		return err
	}
	s, err := server.NewServer(&server.Options{
		ServerName: n.Name, Host: "127.0.0.1", Port: n.Port, StoreDir: n.Store, JetStream: true, NoSigs: true, NoLog: true, SyncAlways: true,
		JetStreamMaxMemory: 64 << 20, JetStreamMaxStore: 4 << 30,
		Cluster: server.ClusterOpts{Name: "test", Host: "127.0.0.1", Port: n.ClusterPort}, Routes: server.RoutesFromStr(n.Routes),
	})
	if err != nil {
		return err
	}
	s.Start()
	s.WaitForShutdown()
	return fmt.Errorf("the server ended")
}

// cluster are three servers in processes of their own.
type cluster struct {
	nodes     []node
	processes []*exec.Cmd
}

func (c *cluster) start(t *testing.T, i int) {
	t.Helper()
	text, err := json.Marshal(c.nodes[i])
	if err != nil {
		t.Fatal(err)
	}
	c.processes[i] = exec.Command(os.Args[0])
	c.processes[i].Env = append(os.Environ(), serverOptions+"="+string(text))
	if err := c.processes[i].Start(); err != nil {
		t.Fatal(err)
	}
}

func (c *cluster) kill(i int) {
	c.processes[i].Process.Kill()
	c.processes[i].Wait()
}

// newCluster starts a cluster, and returns the URL of a log in it.
func newCluster(t *testing.T) (*cluster, string) {
	t.Helper()
	first, err := freeport.Ports(6)
	if err != nil {
		t.Fatal(err)
	}
	c := &cluster{processes: make([]*exec.Cmd, 3)}
	var hosts, routes []string
	for i := range 3 {
		hosts = append(hosts, fmt.Sprintf("127.0.0.1:%d", first+i))
		routes = append(routes, fmt.Sprintf("nats://127.0.0.1:%d", first+3+i))
		c.nodes = append(c.nodes, node{Name: fmt.Sprintf("n%d", i), Store: t.TempDir(), Port: first + i, ClusterPort: first + 3 + i})
	}
	for i := range 3 {
		c.nodes[i].Routes = strings.Join(routes, ",")
		c.start(t, i)
		t.Cleanup(func() { c.kill(i) })
	}
	url := "nats://" + strings.Join(hosts, ",")
	await.True(t, "the servers have a leader", func() bool {
		nc, err := nats.Connect(url)
		if err != nil {
			return false
		}
		defer nc.Close()
		m, err := lognats.New(t.Context(), nc, "READY", 3)
		return err == nil && m.Put(t.Context(), "log/1", nil) == nil
	})
	return c, url + "/GROUP?replicas=3"
}

// Three processes share a log in a stream of three servers, and are killed and stopped; the servers are killed, too.
// UMBEL_LONG=1: for ten minutes.
func TestKill(t *testing.T) {
	d := 20 * time.Second
	switch {
	case os.Getenv("UMBEL_LONG") != "":
		d = 10 * time.Minute
	case testing.Short():
		t.Skip("runs six processes for 20 seconds")
	}
	c, url := newCluster(t)
	mediumtest.Kill(t, lognats.Open, url, d, func() {
		i := rand.IntN(3)
		c.kill(i)
		time.Sleep(time.Second)
		c.start(t, i)
		time.Sleep(3 * time.Second) // until it has what the others have
	})
}

// A stream with three replicas is a medium.
func TestReplicated(t *testing.T) {
	if testing.Short() {
		t.Skip("runs three processes")
	}
	_, url := newCluster(t)
	nc, err := nats.Connect(strings.TrimSuffix(url, "/GROUP?replicas=3"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	streams := 0
	mediumtest.Run(t, func(t *testing.T) sharedlog.Medium {
		streams++
		m, err := lognats.New(t.Context(), nc, fmt.Sprintf("GROUP%d", streams), 3)
		if err != nil {
			t.Fatal(err)
		}
		return m
	})
}

package nats_test

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/internal/freeport"
	"github.com/umbel-filters/umbel/share"
	sharenats "github.com/umbel-filters/umbel/share/nats"
	"github.com/umbel-filters/umbel/share/sharetest"
)

// clusterTime bounds what a test waits for after a process was killed.
const clusterTime = 60 * time.Second

// freePort returns a port of the loopback interface for a program.
func freePort(t testing.TB) int {
	t.Helper()
	addr, err := freeport.Addr()
	if err != nil {
		t.Fatal(err)
	}
	_, port, err := net.SplitHostPort(addr)
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.Atoi(port)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// process is a server in a process of its own.
type process struct {
	node
	command *exec.Cmd
}

// run starts the process, which ends with the test.
func (p *process) run(t testing.TB) {
	t.Helper()
	text, err := json.Marshal(p.node)
	if err != nil {
		t.Fatal(err)
	}
	p.command = exec.Command(os.Args[0])
	p.command.Env = append(os.Environ(), processOptions+"="+string(text))
	p.command.Stderr = os.Stderr
	if err := p.command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.kill)
}

// kill ends the process at once.
func (p *process) kill() {
	p.command.Process.Kill()
	p.command.Wait()
}

// newCluster starts three processes and returns them by name, and their URLs.
func newCluster(t testing.TB) (map[string]*process, string) {
	t.Helper()
	var urls, routes []string
	all := make(map[string]*process)
	for i := range 3 {
		p := &process{node: node{Name: fmt.Sprintf("n%d", i), Store: t.TempDir(), Port: freePort(t), ClusterPort: freePort(t)}}
		all[p.Name] = p
		urls = append(urls, fmt.Sprintf("nats://127.0.0.1:%d", p.Port))
		routes = append(routes, fmt.Sprintf("nats://127.0.0.1:%d", p.ClusterPort))
	}
	for _, p := range all {
		p.Routes = routes
		p.run(t)
	}
	for end := time.Now().Add(clusterTime); ; time.Sleep(50 * time.Millisecond) {
		c, err := net.Dial("tcp", strings.TrimPrefix(urls[0], "nats://"))
		if err == nil {
			c.Close()
			return all, strings.Join(urls, ",")
		}
		if time.Now().After(end) {
			t.Fatal("the servers do not start")
		}
	}
}

// leader returns the name of the leader of the stream.
func leader(t testing.TB, js jetstream.JetStream) string {
	t.Helper()
	for end := time.Now().Add(clusterTime); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		s, err := js.Stream(t.Context(), options.Stream)
		if err == nil && s.CachedInfo().Cluster != nil && s.CachedInfo().Cluster.Leader != "" {
			return s.CachedInfo().Cluster.Leader
		}
	}
	t.Fatal("the stream has no leader")
	return ""
}

// publish publishes a filter, again after an error, as a program would. Something else than the
// publisher never writes, so no error is a fork.
func publish(t testing.TB, p *share.Publisher, f umbel.Filter) {
	t.Helper()
	for end := time.Now().Add(clusterTime); ; {
		_, err := p.Publish(t.Context(), f.State())
		if err == nil {
			return
		}
		if time.Now().After(end) {
			t.Fatal(err)
		}
		t.Logf("publish again: %v", err)
	}
}

// A cluster of three processes loses its leader twice. Every version arrives.
func TestCluster(t *testing.T) {
	if testing.Short() {
		t.Skip("runs three processes for about 20 seconds")
	}
	all, urls := newCluster(t)
	_, publisher := connect(t, urls)
	_, js := connect(t, urls)
	o := options
	o.Replicas = 3
	var store *sharenats.Store
	for end := time.Now().Add(clusterTime); store == nil; time.Sleep(100 * time.Millisecond) {
		var err error
		if store, err = sharenats.Create(t.Context(), publisher, o); err != nil && time.Now().After(end) {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { store.Close() })
	p, verifier := sharetest.Publisher(t, store)
	f := sharetest.Set(t, 1<<20, 0, 10_000)
	publish(t, p, f)
	s := sharetest.Subscriber(t, open(t, js), verifier)
	sharetest.Run(t, s, time.Second)
	sharetest.Arrives(t, s, f)
	key := uint64(1e9)
	// publishMore publishes versions and returns the longest time until one arrived.
	publishMore := func(versions int) (worst time.Duration) {
		for range versions {
			for range 10 {
				f.Add(f.Hasher().HashUint64(key))
				key++
			}
			begin := time.Now()
			publish(t, p, f)
			sharetest.Arrives(t, s, f)
			worst = max(worst, time.Since(begin))
		}
		return worst
	}
	t.Logf("before: at most %v", publishMore(20))
	for range 2 {
		name := leader(t, js)
		killed := all[name]
		killed.kill()
		t.Logf("without %s: at most %v", name, publishMore(20))
		late := sharetest.Subscriber(t, open(t, js), verifier)
		if err := late.Update(t.Context()); err != nil {
			t.Error(err)
		}
		sharetest.Arrives(t, late, f)
		killed.run(t)
		t.Logf("after the restart: at most %v", publishMore(20))
		waitCurrent(t, js)
	}
}

// waitCurrent waits until all replicas of the stream are current.
func waitCurrent(t testing.TB, js jetstream.JetStream) {
	t.Helper()
	for end := time.Now().Add(clusterTime); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		s, err := js.Stream(t.Context(), options.Stream)
		if err != nil || s.CachedInfo().Cluster == nil || len(s.CachedInfo().Cluster.Replicas) < 2 {
			continue
		}
		r := s.CachedInfo().Cluster.Replicas
		if r[0].Current && r[1].Current && !r[0].Offline && !r[1].Offline {
			return
		}
	}
	t.Fatal("the replicas do not become current")
}

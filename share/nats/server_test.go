package nats_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/umbel-filters/umbel/share"
	sharenats "github.com/umbel-filters/umbel/share/nats"
)

// processOptions is the environment variable with the options of a server that a process of this test
// runs, as JSON.
const processOptions = "UMBEL_TEST_NATS"

func TestMain(m *testing.M) {
	if text := os.Getenv(processOptions); text != "" {
		fmt.Fprintln(os.Stderr, serve(text))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// serve runs a server until its process ends.
func serve(text string) error {
	var n node
	if err := json.Unmarshal([]byte(text), &n); err != nil {
		return err
	}
	s, err := server.NewServer(n.options())
	if err != nil {
		return err
	}
	s.Start()
	s.WaitForShutdown()
	return fmt.Errorf("the server ended")
}

// node is a server.
type node struct {
	Name, Store string
	Port        int
	ClusterPort int
	Routes      []string
	MaxPayload  int32
}

func (n node) options() *server.Options {
	o := &server.Options{
		ServerName: n.Name, Host: "127.0.0.1", Port: n.Port, StoreDir: n.Store, JetStream: true, NoSigs: true, NoLog: true,
		JetStreamMaxMemory: 64 << 20, JetStreamMaxStore: 1 << 30, MaxPayload: n.MaxPayload,
	}
	if n.ClusterPort != 0 {
		o.Cluster = server.ClusterOpts{Name: "test", Host: "127.0.0.1", Port: n.ClusterPort}
		o.Routes = server.RoutesFromStr(strings.Join(n.Routes, ","))
	}
	return o
}

// start runs a server in this process until the test ends or stop is called.
func start(t testing.TB, n node) *server.Server { return startOptions(t, n.options()) }

func startOptions(t testing.TB, o *server.Options) *server.Server {
	t.Helper()
	s, err := server.NewServer(o)
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() { stop(s) })
	if !s.ReadyForConnections(time.Minute) {
		t.Fatal("the server does not start")
	}
	return s
}

func stop(s *server.Server) {
	s.Shutdown()
	s.WaitForShutdown()
}

// connect returns a connection to servers.
func connect(t testing.TB, url string, o ...nats.Option) (*nats.Conn, jetstream.JetStream) {
	t.Helper()
	o = append(o, nats.Timeout(time.Minute), nats.MaxReconnects(-1), nats.ReconnectWait(20*time.Millisecond), nats.ReconnectJitter(0, 0), nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}))
	nc, err := nats.Connect(url, o...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	return nc, js
}

var options = sharenats.Options{Stream: "PUBLICATIONS", Subject: "share.set"}

// create returns the store of a publication.
func create(t testing.TB, js jetstream.JetStream, o sharenats.Options) *sharenats.Store {
	t.Helper()
	s, err := sharenats.Create(t.Context(), js, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// open returns the source of a publication.
func open(t testing.TB, js jetstream.JetStream) *sharenats.Source {
	t.Helper()
	s, err := sharenats.Open(js, options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// both returns the store and a source of a new server, with a connection each.
func both(t testing.TB, n node) (share.Store, share.Source) {
	n.Store, n.Port = t.TempDir(), -1
	url := start(t, n).ClientURL()
	_, publisher := connect(t, url)
	_, subscriber := connect(t, url)
	return create(t, publisher, options), open(t, subscriber)
}

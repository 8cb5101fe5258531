package nats_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter"
	"github.com/umbel-filters/umbel/share"
	"github.com/umbel-filters/umbel/share/sharetest"
	"golang.org/x/mod/sumdb/note"
)

// pair is a publisher and a subscriber that runs.
type pair struct {
	n        node
	server   *server.Server
	store    share.Store
	signer   note.Signer
	verifier note.Verifier
	p        *share.Publisher
	s        *share.Subscriber
	f        umbel.Filter
	key      uint64
}

func newPair(t testing.TB) *pair {
	x := &pair{n: node{Store: t.TempDir(), Port: freePort(t)}, key: 1e9}
	x.server = start(t, x.n)
	x.signer, x.verifier = sharetest.Keys(t, "example.org/set")
	x.open(t)
	x.f = sharetest.Set(t, 1<<18, 0, 1000)
	x.publish(t)
	_, js := connect(t, x.server.ClientURL())
	x.s = sharetest.Subscriber(t, open(t, js), x.verifier)
	sharetest.Run(t, x.s, time.Hour)
	sharetest.Arrives(t, x.s, x.f)
	return x
}

// open makes the publisher.
func (x *pair) open(t testing.TB) {
	t.Helper()
	_, js := connect(t, x.server.ClientURL())
	x.store = create(t, js, options)
	var err error
	if x.p, err = share.NewPublisher(t.Context(), share.PublisherOptions{Store: x.store, Key: share.Key{Signer: x.signer, Verifier: x.verifier}}); err != nil {
		t.Fatal(err)
	}
}

func (x *pair) add() {
	x.f.Add(x.f.Hasher().HashUint64(x.key))
	x.key++
}

func (x *pair) publish(t testing.TB) {
	t.Helper()
	x.add()
	sharetest.Publish(t, x.p, x.f)
}

// A version that is published while the server is down arrives when it is back.
func TestRestart(t *testing.T) {
	x := newPair(t)
	for range 3 {
		stop(x.server)
		x.add()
		published := make(chan error)
		go func() {
			_, err := x.p.Publish(t.Context(), x.f.State())
			published <- err
		}()
		time.Sleep(100 * time.Millisecond)
		x.server = start(t, x.n)
		if err := <-published; err != nil {
			t.Fatal(err)
		}
		sharetest.Arrives(t, x.s, x.f)
	}
}

// If the server lost everything, a new publisher begins a new stream. Its messages have smaller
// numbers, and arrive.
func TestRestartWithoutState(t *testing.T) {
	x := newPair(t)
	for range 30 {
		x.publish(t)
	}
	sharetest.Arrives(t, x.s, x.f)
	stop(x.server)
	// Versions that follow within a millisecond have times ahead of the clock. A publisher that knows nothing of them
	// would sign an earlier time, which a subscriber refuses.
	time.Sleep(time.Until(x.s.View().Head().Time.Add(time.Millisecond)))
	x.n.Store = t.TempDir()
	x.server = start(t, x.n)
	x.add()
	x.open(t)
	for range 3 {
		x.publish(t)
		sharetest.Arrives(t, x.s, x.f)
	}
}

// If the server's state is set back, its publisher notices. A new one continues, and the versions
// arrive.
func TestRestartWithOldState(t *testing.T) {
	x := newPair(t)
	stop(x.server)
	old := t.TempDir()
	if err := os.CopyFS(old, os.DirFS(x.n.Store)); err != nil {
		t.Fatal(err)
	}
	x.server = start(t, x.n)
	for range 10 {
		x.publish(t)
	}
	sharetest.Arrives(t, x.s, x.f)
	stop(x.server)
	x.n.Store = old
	x.server = start(t, x.n)
	x.add()
	if _, err := x.p.Publish(t.Context(), x.f.State()); !errors.Is(err, share.ErrFork) {
		t.Fatalf("the publisher whose head is lost: %v, want ErrFork", err)
	}
	x.open(t)
	for range 3 {
		x.publish(t)
		sharetest.Arrives(t, x.s, x.f)
	}
}

// A subscriber that is busy receives later what it has missed, in few objects.
func TestBusySubscriber(t *testing.T) {
	x := newPair(t)
	_, js := connect(t, x.server.ClientURL())
	isBusy, proceed := make(chan bool, 1), make(chan bool)
	busy, err := share.NewSubscriber(t.Context(), share.SubscriberOptions{
		Source: open(t, js), Verifier: x.verifier, Kinds: filter.All, Stale: share.StaleError,
		Changed: func(v *share.View) {
			if v.Head().Version == 2 {
				isBusy <- true
				<-proceed
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(busy.Close)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- busy.Run(ctx, time.Hour) }()
	sharetest.Arrives(t, busy, x.f)
	x.publish(t)
	<-isBusy
	for range 100 {
		x.publish(t)
	}
	close(proceed)
	sharetest.Arrives(t, busy, x.f)
	cancel()
	<-ended
	if c := busy.Counters(); c.Versions > 5 || c.Objects > 12 {
		t.Errorf("%d versions by %d objects, want at most 5 and 12", c.Versions, c.Objects)
	}
}

// A client that reads nothing is disconnected, and delays no other.
func TestStuckClient(t *testing.T) {
	o := node{Store: t.TempDir(), Port: -1}.options()
	o.MaxPending, o.WriteDeadline = 1<<20, time.Hour // it is disconnected for the bytes that wait for it, not for their time
	s := startOptions(t, o)
	_, publisher := connect(t, s.ClientURL())
	_, subscriber := connect(t, s.ClientURL())
	store, source := create(t, publisher, options), open(t, subscriber)
	stuck, err := net.Dial("tcp", s.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer stuck.Close()
	if err := stuck.(*net.TCPConn).SetReadBuffer(4096); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(stuck, "CONNECT {}\r\nSUB %s.live.* 1\r\n", options.Subject)
	var last []byte
	worst := time.Duration(0)
	for i := 0; i < 2000 && s.NumSlowConsumers() == 0; i++ {
		delta, name := content(30_000, byte(i))
		u := upload(t, store, delta)
		if err := u.Commit(t.Context(), name); err != nil {
			t.Fatal(err)
		}
		record := fmt.Appendf(nil, "%d\ndelta 1 %d %s\n", i, len(delta), name)
		begin := time.Now()
		if err := store.PutRecord(t.Context(), share.HeadName, record); err != nil {
			t.Fatal(err)
		}
		for !bytes.Equal(last, record) {
			if last, err = source.WatchRecord(t.Context(), share.HeadName, last); err != nil {
				t.Fatal(err)
			}
		}
		worst = max(worst, time.Since(begin))
	}
	if n := s.NumSlowConsumers(); n != 1 {
		t.Errorf("%d clients were disconnected, want 1", n)
	}
	if worst > time.Minute {
		t.Errorf("a record took %v", worst)
	}
	t.Logf("a record took at most %v", worst)
}

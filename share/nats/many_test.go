package nats_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/umbel-filters/umbel/filter"
	"github.com/umbel-filters/umbel/share"
	"github.com/umbel-filters/umbel/share/sharetest"
)

// A thousand subscribers, with a connection each, get every version from one message and send no
// request. The test reports the time from the call of Publish until they answer from the version, all in
// one process.
func TestManySubscribers(t *testing.T) {
	subscribers, versions := 1000, 20
	if testing.Short() {
		subscribers = 100
	}
	s := start(t, node{Store: t.TempDir(), Port: -1})
	_, publisher := connect(t, s.ClientURL())
	p, verifier := sharetest.Publisher(t, create(t, publisher, options))
	f := sharetest.Set(t, 1<<16, 0, 1000)
	sharetest.Publish(t, p, f)

	type arrival struct {
		version uint64
		at      time.Time
	}
	arrived := make(chan arrival, subscribers)
	connections := make([]*nats.Conn, subscribers)
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	for i := range connections {
		nc, js := connect(t, s.ClientURL())
		connections[i] = nc
		sub, err := share.NewSubscriber(ctx, share.SubscriberOptions{
			Source: open(t, js), Verifier: verifier, Kinds: filter.All, Stale: share.StaleError,
			Changed: func(v *share.View) { arrived <- arrival{v.Head().Version, time.Now()} },
		})
		if err != nil {
			t.Fatal(err)
		}
		defer sub.Close()
		running.Go(func() { sub.Run(ctx, time.Hour) })
	}
	// wait returns how long after a time each subscriber had a version.
	wait := func(version uint64, begin time.Time) (took []time.Duration) {
		for range connections {
			select {
			case a := <-arrived:
				if a.version != version {
					t.Fatalf("version %d, want %d", a.version, version)
				}
				took = append(took, a.at.Sub(begin))
			case <-time.After(time.Minute):
				t.Fatalf("version %d arrived at %d of %d subscribers", version, len(took), subscribers)
			}
		}
		return took
	}
	key := uint64(1e9)
	publish := func() []time.Duration {
		for range 10 {
			f.Add(f.Hasher().HashUint64(key))
			key++
		}
		begin := time.Now()
		return wait(sharetest.Publish(t, p, f).Version, begin)
	}
	wait(1, time.Now())
	publish() // From then on all subscribers are subscribed.
	sent, received := traffic(connections)
	var all []time.Duration
	for range versions {
		all = append(all, publish()...)
	}
	nowSent, nowReceived := traffic(connections)
	slices.Sort(all)
	perVersion := (nowReceived - received) / uint64(len(all))
	t.Logf("%d subscribers, %d versions: p50 %v, p99 %v, %d bytes each", subscribers, versions, all[len(all)/2], all[len(all)*99/100], perVersion)
	if nowSent != sent {
		t.Errorf("%d requests, want none", nowSent-sent)
	}
	if perVersion > 1000 {
		t.Errorf("%d bytes for a version, want at most 1000", perVersion)
	}
}

// traffic returns the messages that connections sent, and the bytes that they received.
func traffic(connections []*nats.Conn) (sent, received uint64) {
	for _, nc := range connections {
		sent += nc.Stats().OutMsgs
		received += nc.Stats().InBytes
	}
	return sent, received
}

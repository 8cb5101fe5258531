package share_test

import (
	"context"
	"fmt"
	"log"
	"sync"
	"time"

	"github.com/umbel-filters/umbel/filter"
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/share"
)

// newExample returns a filter of some names and its publisher, and the public key for subscribers.
func newExample(ctx context.Context, store share.Store, publication string, names ...string) (*bloom.Filter, *share.Publisher, string) {
	_, private, err := share.NewKey(publication)
	if err != nil {
		log.Fatal(err)
	}
	key, err := share.ParseKey(private) // from a file
	if err != nil {
		log.Fatal(err)
	}
	public, err := share.PublicKey(private)
	if err != nil {
		log.Fatal(err)
	}
	p, err := share.NewPublisher(ctx, share.PublisherOptions{Store: store, Key: key, Kinds: filter.All, MaxShrink: 0.5})
	if err != nil {
		log.Fatal(err)
	}
	f, err := bloom.New(1000, 1e-6)
	if err != nil {
		log.Fatal(err)
	}
	for _, name := range names {
		f.AddString(name)
	}
	return f, p, public
}

// subscribe returns a subscriber that has the last version.
func subscribe(ctx context.Context, source share.Source, public string) *share.Subscriber {
	verifier, err := share.ParsePublicKey(public)
	if err != nil {
		log.Fatal(err)
	}
	s, err := share.NewSubscriber(ctx, share.SubscriberOptions{Source: source, Verifier: verifier, Kinds: filter.All, Stale: share.StaleMaybe})
	if err != nil {
		log.Fatal(err)
	}
	if err := s.Update(ctx); err != nil {
		log.Fatal(err)
	}
	return s
}

// A publisher publishes versions, and refuses one that has lost most keys.
func ExamplePublisher() {
	ctx := context.Background()
	f, p, _ := newExample(ctx, new(share.Memory), "example.org/names", "alice", "bob", "carol")
	h, err := p.Publish(ctx, f.State())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("version", h.Version, "is valid for", h.Valid)

	empty, err := bloom.New(1000, 1e-6)
	if err != nil {
		log.Fatal(err)
	}
	if _, err := p.Publish(ctx, empty.State()); err != nil {
		fmt.Println(err)
	}
	// Output:
	// version 1 is valid for 5m0s
	// the filter has about 0 keys, and the last version has 3, of which at most 50% may be lost; permit more with MaxShrink if that is intended
}

// Run publishes a filter to which goroutines add keys.
func ExamplePublisher_Run() {
	ctx, stop := context.WithCancel(context.Background())
	f, p, public := newExample(ctx, new(share.Memory), "example.org/names", "alice")
	var mu sync.Mutex // guards f
	wake := make(chan struct{}, 1)
	versions := make(chan uint64)
	done := make(chan error)
	go func() {
		done <- p.Run(ctx, share.Feed{
			Next: func(context.Context) (*share.Update, error) {
				mu.Lock()
				defer mu.Unlock()
				return &share.Update{State: f.State().Clone()}, nil
			},
			Period: time.Minute,
			Wake:   wake,
			Done: func(h *share.Head, err error) {
				if err == nil {
					versions <- h.Version
				}
			},
		})
	}()
	fmt.Println("version", <-versions)

	mu.Lock()
	f.AddString("bob")
	mu.Unlock()
	wake <- struct{}{} // instead of waiting for the end of the period
	fmt.Println("version", <-versions)
	stop()
	fmt.Println(<-done, "of", public[:len("example.org/names")])
	// Output:
	// version 1
	// version 2
	// context canceled of example.org/names
}

// A subscriber answers from its last version, and its view states whether that is exact.
func ExampleSubscriber() {
	ctx := context.Background()
	store := new(share.Memory)
	f, p, public := newExample(ctx, store, "example.org/names", "alice")
	if _, err := p.Publish(ctx, f.State()); err != nil {
		log.Fatal(err)
	}
	s := subscribe(ctx, store, public)
	for _, name := range []string{"alice", "bob"} {
		may, err := s.HasString(name)
		fmt.Println(name, may, err)
	}
	f.AddString("bob")
	if _, err := p.Publish(ctx, f.State()); err != nil {
		log.Fatal(err)
	}
	if err := s.Update(ctx); err != nil { // or in a goroutine: s.Run(ctx, time.Minute)
		log.Fatal(err)
	}
	v := s.View()
	has := v.Filter().Has(v.Filter().Hasher().HashString("bob"))
	fmt.Println("version", v.Head().Version, has, "exact:", v.Exact())
	s.Close()
	fmt.Println("closed, exact:", s.View().Exact())
	// Output:
	// alice true <nil>
	// bob false <nil>
	// version 2 true exact: true
	// closed, exact: false
}

// Peers answers which of several publications may have a key, those to be tried first at the beginning.
func ExamplePeers() {
	ctx := context.Background()
	var peers share.Peers
	for i, names := range [][]string{{"alice", "bob"}, {"bob", "carol"}, {"dave"}} {
		store := new(share.Memory)
		name := []string{"north", "south", "east"}[i]
		f, p, public := newExample(ctx, store, "example.org/"+name, names...)
		if _, err := p.Publish(ctx, f.State()); err != nil {
			log.Fatal(err)
		}
		peers.Set(share.Peer{Name: name, Subscriber: subscribe(ctx, store, public), Zone: 2 - i})
	}
	for _, key := range []string{"bob", "dave", "erin"} {
		var who []string
		for _, x := range peers.Who(nil, []byte(key)) {
			who = append(who, x.Name)
		}
		fmt.Println(key, who)
	}
	// Output:
	// bob [south north]
	// dave [east]
	// erin []
}

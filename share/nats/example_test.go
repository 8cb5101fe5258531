package nats_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/umbel-filters/umbel/filter"
	"github.com/umbel-filters/umbel/share"
	sharenats "github.com/umbel-filters/umbel/share/nats"
	"golang.org/x/mod/sumdb/note"
)

// A service checks tokens against a list of revoked ones that arrives over NATS.
func ExampleSource() {
	ctx := context.Background()
	nc, err := nats.Connect("nats://nats.example.org", nats.MaxReconnects(-1))
	if err != nil {
		log.Fatal(err)
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		log.Fatal(err)
	}
	source, err := sharenats.Open(js, sharenats.Options{Stream: "PUBLICATIONS", Subject: "share.revoked"})
	if err != nil {
		log.Fatal(err)
	}
	defer source.Close()
	verifier, err := note.NewVerifier("example.org/revoked+e13b4f5c+AVh9Vv2eNRyCUYkwZIDp5NbcxUpiVUbiRTHb9GNYpRUz")
	if err != nil {
		log.Fatal(err)
	}
	revoked, err := share.NewSubscriber(ctx, share.SubscriberOptions{
		Source: source, Verifier: verifier, Kinds: filter.All, Stale: share.StaleMaybe,
	})
	if err != nil {
		log.Fatal(err)
	}
	defer revoked.Close()
	go revoked.Run(ctx, time.Minute)
	if v := revoked.View(); v != nil {
		fmt.Println(revoked.Has(v.Filter().Hasher().HashString("token")))
	}
}

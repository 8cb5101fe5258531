package blob_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"log"

	"github.com/umbel-filters/umbel/filter"
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/share"
	shareblob "github.com/umbel-filters/umbel/share/blob"
	"gocloud.dev/blob"
	_ "gocloud.dev/blob/memblob" // or s3blob, gcsblob, azureblob
	"golang.org/x/mod/sumdb/note"
)

// A publisher writes a blocklist to a bucket, and a subscriber reads it.
func Example() {
	ctx := context.Background()
	// s3://BUCKET?region=REGION, gs://BUCKET or azblob://CONTAINER in a program.
	all, err := blob.OpenBucket(ctx, "mem://")
	if err != nil {
		log.Fatal(err)
	}
	bucket := blob.PrefixedBucket(all, "blocklist/")
	defer bucket.Close()
	private, public, err := note.GenerateKey(rand.Reader, "example.org/blocklist")
	if err != nil {
		log.Fatal(err)
	}
	signer, err := note.NewSigner(private)
	if err != nil {
		log.Fatal(err)
	}
	verifier, err := note.NewVerifier(public)
	if err != nil {
		log.Fatal(err)
	}

	store, err := shareblob.Create(ctx, bucket)
	if err != nil {
		log.Fatal(err)
	}
	publisher, err := share.NewPublisher(ctx, share.PublisherOptions{Store: store, Key: share.Key{Signer: signer, Verifier: verifier}})
	if err != nil {
		log.Fatal(err)
	}
	blocked, err := bloom.New(1000, 0.001)
	if err != nil {
		log.Fatal(err)
	}
	blocked.AddString("192.0.2.1")
	if _, err := publisher.Publish(ctx, blocked.State()); err != nil {
		log.Fatal(err)
	}

	subscriber, err := share.NewSubscriber(ctx, share.SubscriberOptions{
		Source: shareblob.Open(bucket), Verifier: verifier, Kinds: filter.All, Stale: share.StaleMaybe,
	})
	if err != nil {
		log.Fatal(err)
	}
	defer subscriber.Close()
	if err := subscriber.Update(ctx); err != nil {
		log.Fatal(err)
	}
	isBlocked, err := subscriber.Has(subscriber.View().Filter().Hasher().HashString("192.0.2.1"))
	fmt.Println(isBlocked, err)
	// Output: true <nil>
}

package main

import (
	"context"
	"io"

	"github.com/umbel-filters/umbel/filter"
	"github.com/umbel-filters/umbel/share"
)

// publication returns the method of package share. Its bytes include heads and indexes.
func publication(compact bool) func(old, now *set) (receipt, error) {
	return func(old, now *set) (receipt, error) {
		ctx := context.Background()
		key, _, err := share.NewKey("example.org/hosts")
		if err != nil {
			return receipt{}, err
		}
		store := &counter{Memory: new(share.Memory)}
		p, err := share.NewPublisher(ctx, share.PublisherOptions{Store: store.Memory, Key: key})
		if err != nil {
			return receipt{}, err
		}
		s, err := share.NewSubscriber(ctx, share.SubscriberOptions{
			Source: store, Verifier: key.Verifier, Kinds: filter.All, Stale: share.StaleLast, Compact: compact,
		})
		if err != nil {
			return receipt{}, err
		}
		defer s.Close()
		var sent [2]int
		for i, set := range []*set{old, now} {
			f, err := set.sparse()
			if err != nil {
				return receipt{}, err
			}
			if _, err := p.Publish(ctx, f.State()); err != nil {
				return receipt{}, err
			}
			store.bytes = 0
			if err := s.Update(ctx); err != nil {
				return receipt{}, err
			}
			sent[i] = store.bytes
		}
		f := s.View().Filter()
		has := func(key string) bool { return f.Has(digest(key)) }
		return receipt{sent[0], sent[1], int(f.State().Bytes()), has}, p.Close(ctx)
	}
}

// counter counts the bytes of the records and objects that are read from a store.
type counter struct {
	*share.Memory
	bytes int
}

func (c *counter) Record(ctx context.Context, name string) ([]byte, error) {
	b, err := c.Memory.Record(ctx, name)
	c.bytes += len(b)
	return b, err
}

func (c *counter) Object(ctx context.Context, name string, offset int64) (io.ReadCloser, error) {
	r, err := c.Memory.Object(ctx, name, offset)
	return &countedBody{r, c}, err
}

type countedBody struct {
	io.ReadCloser
	c *counter
}

func (r *countedBody) Read(p []byte) (int, error) {
	n, err := r.ReadCloser.Read(p)
	r.c.bytes += n
	return n, err
}

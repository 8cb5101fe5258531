package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/umbel-filters/umbel/filter"
	"github.com/umbel-filters/umbel/share"
	"golang.org/x/mod/sumdb/note"
)

// follower is a subscriber that records what it fetches.
type follower struct {
	source     *recorder
	verifier   note.Verifier
	record     string // whose head it follows
	subscriber *share.Subscriber
}

// recorder is a source that records the names of objects.
type recorder struct {
	share.Source
	names []string
}

func (r *recorder) Object(ctx context.Context, name string, offset int64) (io.ReadCloser, error) {
	r.names = append(r.names, name)
	return r.Source.Object(ctx, name, offset)
}

// follow returns a subscriber with a budget and a cache, which may be nil. It has the current version if
// update is true.
func follow(ctx context.Context, store share.Source, verifier note.Verifier, now func() time.Time, budget share.Budget,
	cache share.Store, update bool) (*follower, error) {
	f := &follower{source: &recorder{Source: store}, verifier: verifier, record: share.HeadName}
	var err error
	f.subscriber, err = share.NewSubscriber(ctx, share.SubscriberOptions{
		Source: f.source, Verifier: verifier, Kinds: filter.All, Stale: share.StaleError, Now: now, Budget: budget, Cache: cache,
	})
	if err == nil && update {
		err = f.subscriber.Update(ctx)
	}
	return f, err
}

// way updates the subscriber, and returns the cost and the names of the snapshots and deltas that it
// fetches.
func (f *follower) way(ctx context.Context) (string, error) {
	defer f.subscriber.Close()
	objects, err := contents(ctx, f.source.Source, f.record, f.verifier)
	if err != nil {
		return "", err
	}
	f.source.names = nil
	before := f.subscriber.Counters().Bytes
	if err := f.subscriber.Update(ctx); err != nil {
		return "", err
	}
	var way []string
	for _, name := range f.source.names {
		if isIndex := objects[name]; !isIndex {
			way = append(way, name)
		}
	}
	bytes := f.subscriber.Counters().Bytes - before
	return fmt.Sprintf("%d %s", bytes+uint64(256*len(way)), strings.Join(way, " ")), nil
}

package nats_test

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/umbel-filters/umbel/share"
	"github.com/umbel-filters/umbel/share/sharetest"
)

// BenchmarkPublishToUsable measures the time from the call of Publish until a subscriber answers.
func BenchmarkPublishToUsable(b *testing.B) {
	sharetest.PublishToUsable(b, func(b *testing.B) (share.Store, share.Source) { return both(b, node{}) })
}

// BenchmarkPutToWatch measures the time from the call of PutRecord until a thousand sources, with a
// connection each, return the record with an object of 2,000 bytes.
func BenchmarkPutToWatch(b *testing.B) {
	sources := 1000
	if testing.Short() {
		sources = 100
	}
	s := start(b, node{Store: b.TempDir(), Port: -1})
	_, publisher := connect(b, s.ClientURL())
	store := create(b, publisher, options)
	record := []byte("first")
	if err := store.PutRecord(b.Context(), share.HeadName, record); err != nil {
		b.Fatal(err)
	}
	arrived := make(chan time.Time, sources)
	ctx, cancel := context.WithCancel(b.Context())
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	for range sources {
		_, js := connect(b, s.ClientURL())
		source := open(b, js)
		running.Go(func() {
			for last := []byte(nil); ; {
				r, err := source.WatchRecord(ctx, share.HeadName, last)
				if ctx.Err() != nil {
					return
				}
				if err != nil {
					b.Error(err)
					return
				}
				if !bytes.Equal(r, last) {
					arrived <- time.Now()
				}
				last = r
			}
		})
	}
	var all []time.Duration
	wait := func(begin time.Time) {
		for range sources {
			all = append(all, (<-arrived).Sub(begin))
		}
	}
	wait(time.Now())
	all = nil
	for i := 0; b.Loop(); i++ {
		delta, name := content(2000, byte(i))
		u := upload(b, store, delta)
		if err := u.Commit(b.Context(), name); err != nil {
			b.Fatal(err)
		}
		begin := time.Now()
		if err := store.PutRecord(b.Context(), share.HeadName, fmt.Appendf(nil, "%d\ndelta 1 2000 %s\n", i, name)); err != nil {
			b.Fatal(err)
		}
		wait(begin)
	}
	slices.Sort(all)
	b.ReportMetric(all[len(all)/2].Seconds()*1000, "ms/p50")
	b.ReportMetric(all[len(all)*99/100].Seconds()*1000, "ms/p99")
	b.ReportMetric(0, "ns/op")
}

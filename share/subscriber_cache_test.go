package share_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/umbel-filters/umbel/filter"
	"github.com/umbel-filters/umbel/share"
)

// counting is a source that counts the objects that are requested.
type counting struct {
	share.Source
	objects int
}

func (c *counting) Object(ctx context.Context, name string, offset int64) (io.ReadCloser, error) {
	c.objects++
	return c.Source.Object(ctx, name, offset)
}

func newCache() *disk { return newDisk(rand.New(rand.NewPCG(1, 1)), nil) }

// A subscriber that restarts answers at once, and fetches only what changed since.
func TestCacheRestart(t *testing.T) {
	p := newPair(t)
	cache := newCache()
	source := &counting{Source: p.store}
	for v := range uint64(20) {
		state := set(t, 1<<14, v, v+500)
		p.publish(state)
		s := p.subscriber(share.SubscriberOptions{Source: source, Cache: cache})
		update(t, s)
		wantState(t, s, state)
		want := 1
		if v == 0 {
			want = 2 // the index and a snapshot
		}
		if source.objects != want {
			t.Fatalf("version %d: %d requests, want %d", v+1, source.objects, want)
		}
		source.objects = 0
		offline := p.subscriber(share.SubscriberOptions{Source: new(share.Memory), Cache: cache})
		wantState(t, offline, state)
		// A head that has expired since is not exact; the next one needs no object.
		p.now = p.now.Add(5 * time.Minute)
		s = p.subscriber(share.SubscriberOptions{Source: source, Cache: cache})
		if s.View().Exact() {
			t.Fatal("an expired version in the cache is exact")
		}
		if _, err := p.p.Renew(t.Context()); err != nil {
			t.Fatal(err)
		}
		update(t, s)
		wantState(t, s, state)
		if source.objects != 0 {
			t.Fatalf("%d requests for a renewed head", source.objects)
		}
	}
}

// While the cache cannot be written, a version does not answer, because a restart could accept an older head.
// What was fetched of it is not fetched again.
func TestCacheFullFetchesOnce(t *testing.T) {
	p := newPair(t)
	cache := newCache()
	source := &counting{Source: p.store}
	s := p.subscriber(share.SubscriberOptions{Source: source, Cache: cache})
	for v := range uint64(5) {
		state := set(t, 1<<14, v, v+500)
		p.publish(state)
		cache.failing = 1
		source.objects = 0
		for range 3 {
			if err := s.Update(t.Context()); !errors.Is(err, errInjected) {
				t.Fatalf("version %d: got %v, want the error of the cache", v+1, err)
			}
		}
		fetched := source.objects
		cache.failing = 0
		update(t, s)
		wantState(t, s, state)
		if want := 1 + (5-int(v))/5; fetched != want || source.objects != want {
			t.Errorf("version %d: %d requests, then %d; want %d and no more", v+1, fetched, source.objects, want)
		}
		wantState(t, p.subscriber(share.SubscriberOptions{Source: new(share.Memory), Cache: cache}), state)
	}
}

// A damaged object of the cache is fetched again, and the order of heads stays if its record is
// readable.
func TestCacheDamaged(t *testing.T) {
	p := newPair(t)
	cache := newCache()
	s := p.subscriber(share.SubscriberOptions{Cache: cache})
	var old []byte
	for v := range uint64(4) {
		p.publish(set(t, 1<<20, v, v+60_000))
		update(t, s)
		if v == 0 {
			old, _ = p.store.Record(t.Context(), share.HeadName)
		}
	}
	want := set(t, 1<<20, 3, 60_003)
	if len(cache.objects) < 4 {
		t.Fatalf("%d objects in the cache", len(cache.objects))
	}
	damages := []func(b []byte) []byte{
		func([]byte) []byte { return nil },
		func(b []byte) []byte { return b[:len(b)/2] },
		func(b []byte) []byte { return append(b, 'x') },
		func(b []byte) []byte { b[len(b)/3] ^= 1; return b },
		func(b []byte) []byte { return bytes.Repeat([]byte{0}, len(b)) },
	}
	for _, files := range []func(*disk) map[string][]byte{
		func(d *disk) map[string][]byte { return d.records },
		func(d *disk) map[string][]byte { return d.objects },
	} {
		for name := range files(cache) {
			for i, damage := range damages {
				damaged := cache.clone()
				in := files(damaged)
				if in[name] = damage(bytes.Clone(in[name])); in[name] == nil {
					delete(in, name)
				}
				s := p.subscriber(share.SubscriberOptions{Cache: damaged})
				if v := s.View(); v != nil && !v.Filter().State().Equal(want) {
					t.Fatalf("%s, damage %d: another filter", name, i)
				}
				if name != "held" {
					replayed := &disk{records: map[string][]byte{share.HeadName: old}}
					s := p.subscriber(share.SubscriberOptions{Cache: damaged, Source: replayed})
					if err := s.Update(t.Context()); !errors.Is(err, share.ErrReplayed) {
						t.Errorf("%s, damage %d: %v, want %v", name, i, err, share.ErrReplayed)
					}
				}
				update(t, s)
				wantState(t, s, want)
				offline := p.subscriber(share.SubscriberOptions{Source: new(share.Memory), Cache: damaged})
				wantState(t, offline, want)
			}
		}
	}
}

// A cache of another publication, or of another key, is not used.
func TestCacheOfAnother(t *testing.T) {
	p, q := newPair(t), newPair(t)
	cache := newCache()
	p.publish(set(t, 1<<12, 0, 100))
	update(t, p.subscriber(share.SubscriberOptions{Cache: cache}))
	state := set(t, 1<<12, 0, 50)
	q.publish(state)
	s := q.subscriber(share.SubscriberOptions{Cache: cache})
	if s.View() != nil {
		t.Error("a view of another publication")
	}
	update(t, s)
	wantState(t, s, state)
}

// The objects of a cache stay few and small, and files of others stay.
func TestCacheCompact(t *testing.T) {
	p := newPair(t)
	cache := newCache()
	cache.objects["README"] = []byte("not an object")
	s := p.subscriber(share.SubscriberOptions{Cache: cache})
	most, compacted := 0, false
	for v := range uint64(300) {
		before := len(cache.objects)
		state := set(t, 1<<16, v, v+1000)
		p.publish(state)
		update(t, s)
		if len(cache.objects) < before-10 {
			compacted = true
			wantState(t, p.subscriber(share.SubscriberOptions{Source: new(share.Memory), Cache: cache}), state)
		}
		most = max(most, len(cache.objects))
	}
	if most > 70 || !compacted || cache.objects["README"] == nil {
		t.Errorf("at most %d objects, compacted: %v", most, compacted)
	}
}

// If the cache cannot be written, the subscriber keeps its version, and does not fetch a snapshot
// instead of a delta. Objects that cannot be removed do no harm.
func TestCacheFull(t *testing.T) {
	p := newPair(t)
	cache := &full{disk: newCache()}
	source := &counting{Source: p.store}
	s := p.subscriber(share.SubscriberOptions{Source: source, Cache: cache})
	first := set(t, 1<<14, 0, 500)
	p.publish(first)
	update(t, s)
	for what, want := range map[string]error{"objects": errInjected, "records": errInjected} {
		cache.what, source.objects = what, 0
		p.publish(set(t, 1<<14, 0, 501+uint64(len(what))+p.p.Head().Version))
		if err := s.Update(t.Context()); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", what, err, want)
		}
		wantState(t, s, first)
		if source.objects != 1 || s.Counters().Resyncs != 0 {
			t.Errorf("%s: %d requests, %+v", what, source.objects, s.Counters())
		}
	}
	cache.what = "remove"
	last := set(t, 1<<14, 0, 600)
	p.publish(last)
	update(t, s)
	wantState(t, s, last)
	cache.what = ""
	cache.objects = maps.Clone(cache.objects)
	for v := range uint64(40) { // until the cache gets a snapshot of its own
		p.publish(set(t, 1<<14, 100*v, 100*v+500))
		update(t, s)
	}
	held := string(cache.records["held"])
	for _, name := range slices.Collect(maps.Keys(cache.objects)) {
		if !strings.Contains(held, strings.TrimSuffix(name, "-chunks")) {
			t.Errorf("object %s remains", name)
		}
	}
}

// full is a cache of which a part cannot be written.
type full struct {
	*disk
	what string
}

func (f *full) PutRecord(ctx context.Context, name string, b []byte) error {
	if f.what == "records" {
		return errInjected
	}
	return f.disk.PutRecord(ctx, name, b)
}

func (f *full) NewObject(ctx context.Context) (share.Upload, error) {
	if f.what == "objects" {
		return nil, errInjected
	}
	return f.disk.NewObject(ctx)
}

func (f *full) Remove(ctx context.Context, name string) error {
	if f.what == "remove" {
		return errInjected
	}
	return f.disk.Remove(ctx, name)
}

// Without a cache nothing grows with the versions.
func TestNoCache(t *testing.T) {
	p := newPair(t)
	s := p.subscriber(share.SubscriberOptions{})
	for v := range uint64(50) {
		p.publish(set(t, 1<<14, v, v+500))
		update(t, s)
	}
	if n := s.LocalObjects(); n != 0 {
		t.Errorf("%d objects are noted without a cache", n)
	}
}

// A publication is not used as a cache, because cleaning that would remove its objects, and a cache is not
// published to.
func TestCacheIsNoPublication(t *testing.T) {
	p := newPair(t)
	p.publish(set(t, 5000, 0, 100))
	o := share.SubscriberOptions{Source: p.store, Cache: p.store, Verifier: p.verifier, Kinds: filter.All, Stale: share.StaleLast}
	if _, err := share.NewSubscriber(t.Context(), o); err == nil {
		t.Error("the publication is accepted as a cache")
	}
	cache := new(share.Memory)
	update(t, p.subscriber(share.SubscriberOptions{Cache: cache}))
	key := share.Key{Signer: p.signer, Verifier: p.verifier}
	if _, err := share.NewPublisher(t.Context(), share.PublisherOptions{Store: cache, Key: key}); err == nil {
		t.Error("the cache is accepted as a store")
	}
}

// Counters and Close may be called while Run updates; after Close nothing is exact.
func TestCloseWhileRunning(t *testing.T) {
	p := newPair(t)
	p.publish(set(t, 5000, 0, 100))
	now := p.now
	s, err := share.NewSubscriber(t.Context(), share.SubscriberOptions{
		Source: p.store, Verifier: p.verifier, Kinds: filter.All, Stale: share.StaleError, Now: func() time.Time { return now },
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx, time.Millisecond) }()
	for s.View() == nil || s.Counters().Versions == 0 {
		runtime.Gosched()
	}
	if v := s.View(); v == nil || !v.Exact() {
		t.Error("not exact before Close")
	}
	s.Close()
	p.publish(set(t, 5000, 50, 150))
	for s.Counters().Versions == 1 {
		runtime.Gosched()
	}
	stop()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if s.View().Exact() {
		t.Error("exact after Close")
	}
}

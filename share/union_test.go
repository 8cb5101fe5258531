package share_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter"
	"github.com/umbel-filters/umbel/internal/event"
	"github.com/umbel-filters/umbel/share"
	"github.com/umbel-filters/umbel/wire/hashtree"
)

// follow makes a union follow the publication of a pair, and reads its version.
func (p *pair) follow(u *share.Union) *share.Subscriber {
	p.t.Helper()
	s, err := u.Follow(p.t.Context(), "source", share.SubscriberOptions{Source: p.store, Verifier: p.verifier, Now: p.clock})
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(s.Close)
	update(p.t, s)
	return s
}

func newUnion(t testing.TB, o share.UnionOptions) *share.Union {
	t.Helper()
	o.Kinds = filter.All
	u, err := share.NewUnion(o)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// next returns the state of a union after it has taken all versions, nil if there is no new one.
func next(t testing.TB, u *share.Union) *umbel.State {
	t.Helper()
	update, err := u.Next(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if update == nil {
		return nil
	}
	return &update.State
}

// Each kind is united, with the result of adding all keys to one filter, or refused: those that count, grow, expire, or are computed at once.
func TestUnionOfEachKind(t *testing.T) {
	var refused []string
	for _, kind := range filter.All {
		make := func(keys ...string) umbel.State {
			f, err := kind.New(umbel.Goal{Keys: 100, FPRate: 0.01}, nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, k := range keys {
				f.Add(f.Hasher().HashString(k))
			}
			return f.State()
		}
		a, b, u := newPair(t), newPair(t), newUnion(t, share.UnionOptions{})
		a.publish(make("a", "b"))
		b.publish(make("b", "c"))
		a.follow(u)
		b.follow(u)
		s := next(t, u)
		if err := u.Err(); err != nil {
			if refused = append(refused, kind.Name); !errors.Is(err, errors.ErrUnsupported) || s != nil {
				t.Errorf("%s: %v, %v", kind.Name, s, err)
			}
			state := make("a")
			if _, err := share.NewUnion(share.UnionOptions{Kinds: filter.All, State: &state}); !errors.Is(err, errors.ErrUnsupported) {
				t.Errorf("%s: a union may begin with the state: %v", kind.Name, err)
			}
			continue
		}
		if want := make("a", "b", "c"); !s.Equal(want) {
			t.Errorf("%s: the union is not the filter of all keys", kind.Name)
		}
		if next(t, u) != nil {
			t.Errorf("%s: a union of the same versions is new", kind.Name)
		}
	}
	if got, want := strings.Join(refused, " "), "counting weighted-counting scalable dynamic folding window sparse redisbloom ribbon union"; got != want {
		t.Errorf("refused: %s, want %s", got, want)
	}
}

// A union begins with the smallest version, folds the others to its size, and refuses those that cannot be folded to it, and other hashes.
func TestUnionOfSizes(t *testing.T) {
	log := newEvents()
	u := newUnion(t, share.UnionOptions{Log: slog.New(log)})
	var all []*pair
	for _, cells := range []uint64{4096, 1024, 2048, 1536} {
		p := newPair(t)
		p.publish(setCells(t, 2, cells, cells, cells+10))
		p.follow(u)
		all = append(all, p)
	}
	other := newPair(t)
	other.publish(setCells(t, 3, 1024, 0, 10))
	other.follow(u)
	s := next(t, u)
	want := setCells(t, 2, 1024, 4096, 4106)
	for _, from := range []uint64{1024, 2048} {
		if err := want.Arrays[0].Sum(setCells(t, 2, 1024, from, from+10).Arrays[0]); err != nil {
			t.Fatal(err)
		}
	}
	if !s.Equal(want) {
		t.Error("the union is not that of the folded filters")
	}
	if !errors.Is(u.Err(), umbel.ErrMismatch) || log.count(event.SourceRefused) != 2 {
		t.Errorf("%v, %d sources are refused, want 2", u.Err(), log.count(event.SourceRefused))
	}
	// It is united after all when it fits.
	all[3].publish(setCells(t, 2, 2048, 0, 10))
	other.publish(setCells(t, 2, 1024, 0, 10))
	u = newUnion(t, share.UnionOptions{State: s})
	all[3].follow(u)
	other.follow(u)
	if next(t, u); u.Err() != nil {
		t.Error(u.Err())
	}
	if !s.Equal(want) {
		t.Error("the state with which a union begins was changed")
	}
}

// What a source loses stays, also after a restart, and is logged: the source was cleared, or replaced by a filter of another size.
func TestUnionOfLostBits(t *testing.T) {
	log := newEvents()
	p, u := newPair(t), newUnion(t, share.UnionOptions{Log: slog.New(log)})
	first := setCells(t, 2, 1024, 0, 100)
	p.publish(first)
	sub := p.follow(u)
	next(t, u)
	for i, s := range []umbel.State{setCells(t, 2, 1024, 0, 0), setCells(t, 2, 1024, 0, 50), setCells(t, 2, 2048, 50, 60), setCells(t, 2, 1024, 50, 60)} {
		p.publish(s)
		update(t, sub)
		if got := next(t, u); !got.Equal(first) {
			t.Errorf("version %d: the union has lost bits", i)
		}
	}
	if n := log.count(event.SourceShrunk); n != 3 { // the second one has more bits than none
		t.Errorf("%d messages about lost bits, want 3", n)
	}
	p.now = p.now.Add(time.Hour)
	if err := sub.Update(t.Context()); !errors.Is(err, share.ErrStale) {
		t.Fatal(err)
	}
	if next(t, u); log.count(event.SubscriptionStale) != 1 {
		t.Error("a head has expired, and there is no message")
	}
}

// Two unions that follow each other publish until both have all keys, and then only renew their heads.
func TestUnionsInACircle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		var running sync.WaitGroup
		defer running.Wait()
		defer stop()
		type region struct {
			*pair
			u *share.Union
		}
		regions := []region{{newPair(t), newUnion(t, share.UnionOptions{})}, {newPair(t), newUnion(t, share.UnionOptions{})}}
		for i, r := range regions {
			own := newPair(t)
			own.publisher(func(o *share.PublisherOptions) { o.Valid, o.Now = 24*time.Hour, time.Now })
			if _, err := own.p.Publish(ctx, setCells(t, 2, 1024, uint64(100*i), uint64(100*i+100))); err != nil {
				t.Fatal(err)
			}
			for _, from := range []*pair{own, regions[1-i].pair} {
				s, err := r.u.Follow(ctx, "source", share.SubscriberOptions{Source: from.store, Verifier: from.verifier})
				if err != nil {
					t.Fatal(err)
				}
				defer s.Close()
				running.Go(func() { _ = s.Run(ctx, time.Second) })
			}
			r.publisher(func(o *share.PublisherOptions) { o.Valid, o.Now = time.Minute, time.Now })
			running.Go(func() { _ = r.p.Run(ctx, r.u.Feed()) })
		}
		time.Sleep(10 * time.Second)
		synctest.Wait()
		want := setCells(t, 2, 1024, 0, 200)
		published := func(r region) *share.Head { // the publisher is running
			h, _, _ := listed(t, r.store, r.verifier)
			return h
		}
		versions := make([]share.Head, len(regions))
		for i, r := range regions {
			if versions[i] = *published(r); versions[i].ID != hashtree.Identify(want) {
				t.Errorf("region %d has not all keys", i)
			}
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		for i, r := range regions {
			if h := published(r); h.Version != versions[i].Version || time.Since(h.Time) > time.Minute {
				t.Errorf("region %d: version %d of %v, want %d, renewed", i, h.Version, h.Time, versions[i].Version)
			}
		}
	})
}

// events is a log handler that counts events.
type events struct {
	mu *sync.Mutex
	n  map[string]int
}

func newEvents() events { return events{new(sync.Mutex), make(map[string]int)} }

func (e events) count(of slog.Attr) int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.n[of.Value.String()]
}

func (e events) Enabled(context.Context, slog.Level) bool { return true }
func (e events) WithAttrs([]slog.Attr) slog.Handler       { return e }
func (e events) WithGroup(string) slog.Handler            { return e }
func (e events) Handle(_ context.Context, r slog.Record) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	r.Attrs(func(a slog.Attr) bool {
		if a.Key == event.Key {
			e.n[a.Value.String()]++
		}
		return true
	})
	return nil
}

package share_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter"
	"github.com/umbel-filters/umbel/share"
)

// live is a pair whose clock is the one of the test's bubble.
func live(t testing.TB) *pair {
	p := &pair{t: t, store: new(share.Memory)}
	p.signer, p.verifier = keys(t, "example.org/set")
	var err error
	p.p, err = share.NewPublisher(t.Context(), share.PublisherOptions{Store: p.store, Key: share.Key{Signer: p.signer, Verifier: p.verifier}})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func (p *pair) liveSubscriber(source share.Source, stale share.Stale) *share.Subscriber {
	p.t.Helper()
	s, err := share.NewSubscriber(p.t.Context(), share.SubscriberOptions{Source: source, Verifier: p.verifier, Kinds: filter.All, Stale: stale})
	if err != nil {
		p.t.Fatal(err)
	}
	return s
}

// A view is exact until the head expires, to the nanosecond. Then it answers as the program chose.
func TestStale(t *testing.T) {
	for stale, want := range map[share.Stale]struct {
		present, absent bool
		err             error
	}{
		share.StaleError: {true, true, share.ErrStale},
		share.StaleMaybe: {true, true, nil},
		share.StaleLast:  {true, false, nil},
	} {
		synctest.Test(t, func(t *testing.T) {
			p := live(t)
			state := set(t, 1<<16, 0, 100)
			present, absent := state.Hasher.HashUint64(1), state.Hasher.HashUint64(1_000_000)
			s := p.liveSubscriber(p.store, stale)
			defer s.Close()
			check := func(digest umbel.Digest, has bool, want error) {
				t.Helper()
				if got, err := s.Has(digest); got != has || !errors.Is(err, want) {
					t.Errorf("Stale %d after %v: %v, %v, want %v, %v", stale, time.Since(p.p.Head().Time), got, err, has, want)
				}
			}
			p.publish(state)
			time.Sleep(time.Minute)
			update(t, s)
			time.Sleep(4*time.Minute - 1)
			synctest.Wait()
			check(present, true, nil)
			check(absent, false, nil)
			time.Sleep(time.Nanosecond)
			if s.View().Exact() {
				t.Error("the view is exact until its timer has run")
			}
			synctest.Wait()
			check(present, want.present, want.err)
			check(absent, want.absent, want.err)
			if s.View().Exact() || s.View().Age(time.Now()) != 5*time.Minute {
				t.Error("the view is exact")
			}
			if _, err := p.p.Renew(t.Context()); err != nil {
				t.Fatal(err)
			}
			update(t, s)
			check(absent, false, nil)
			s.Close()
			check(present, want.present, want.err)
			check(absent, want.absent, want.err)
			if _, err := s.Has(absent); err != nil && !strings.Contains(err.Error(), "closed") {
				t.Errorf("Stale %d after Close: %v", stale, err)
			}
		})
	}
}

// Before the first version no answer is given from a filter.
func TestStaleBeforeFirst(t *testing.T) {
	p := newPair(t)
	for stale, want := range map[share.Stale]error{share.StaleError: share.ErrStale, share.StaleMaybe: nil, share.StaleLast: share.ErrStale} {
		s := p.subscriber(share.SubscriberOptions{Stale: stale})
		if has, err := s.Has(umbel.Digest{}); !has || !errors.Is(err, want) {
			t.Errorf("Stale %d: %v, %v", stale, has, err)
		}
	}
	if _, err := share.NewSubscriber(t.Context(), share.SubscriberOptions{Source: p.store, Verifier: p.verifier, Kinds: filter.All}); err == nil {
		t.Error("a subscriber without a choice")
	}
}

// Queries run while versions are swapped and expire; go test -race checks that nothing is shared.
func TestConcurrentQueries(t *testing.T) {
	p := newPair(t)
	state := set(t, 1<<14, 0, 1000)
	p.publish(state)
	s := p.subscriber(share.SubscriberOptions{})
	update(t, s)
	stop, done := make(chan struct{}), make(chan error)
	for range 4 {
		go func() {
			for i := uint64(0); ; i++ {
				select {
				case <-stop:
					done <- nil
					return
				default:
				}
				if ok, err := s.Has(state.Hasher.HashUint64(i % 1000)); !ok || err != nil && !errors.Is(err, share.ErrStale) {
					done <- errors.Join(errors.New("a key is absent"), err)
					return
				}
				s.View().Exact()
			}
		}()
	}
	for v := range uint64(100) {
		if v%10 == 9 {
			p.now = p.now.Add(time.Hour)
			if err := s.Update(t.Context()); !errors.Is(err, share.ErrStale) {
				t.Error(err)
			}
		}
		p.publish(set(t, 1<<14, 0, 1001+v))
		update(t, s)
	}
	close(stop)
	for range 4 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

// A clock that the program sets is looked at by Update, and wakes nothing before.
func TestClockIsSet(t *testing.T) {
	p := newPair(t)
	h := p.publish(set(t, 1<<12, 0, 100))
	s := p.subscriber(share.SubscriberOptions{})
	update(t, s)
	p.now = p.now.Add(h.Valid)
	if !s.View().Exact() {
		t.Error("the version is stale before Update")
	}
	if err := s.Update(t.Context()); !errors.Is(err, share.ErrStale) || s.View().Exact() {
		t.Errorf("after Update: error %v, want %v", err, share.ErrStale)
	}
	// What is shown again is exact for as long as the head is valid by the clock.
	p.now = p.now.Add(-time.Second)
	p.publish(set(t, 1<<12, 0, 101))
	if update(t, s); !s.View().Exact() {
		t.Error("the next version is stale")
	}
}

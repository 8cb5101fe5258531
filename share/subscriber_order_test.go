package share_test

import (
	"errors"
	"testing"
	"time"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/share"
	"github.com/umbel-filters/umbel/wire"
)

// A subscriber accepts heads in their order, also after a restart.
func TestHeadOrder(t *testing.T) {
	p := newPair(t)
	states := []umbel.State{set(t, 1024, 0, 10), set(t, 1024, 0, 20), set(t, 1024, 0, 30)}
	record := func() []byte {
		b, err := p.store.Record(t.Context(), share.HeadName)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	put := func(b []byte) {
		if err := p.store.PutRecord(t.Context(), share.HeadName, b); err != nil {
			t.Fatal(err)
		}
	}
	cache := new(share.Memory)
	s := p.subscriber(share.SubscriberOptions{Cache: cache})
	p.publish(states[0])
	first := record()
	h := *p.publish(states[1])
	second := record()
	update(t, s)
	later := func(change func(h *share.Head)) []byte {
		x := h
		x.Time = x.Time.Add(time.Second)
		change(&x)
		return sign(t, &x, p.signer)
	}
	p.now = p.now.Add(2 * time.Second)
	for _, restart := range []bool{false, true} {
		if restart {
			s = p.subscriber(share.SubscriberOptions{Cache: cache})
		}
		for name, c := range map[string]struct {
			head []byte
			want error
		}{
			"an older version":            {first, share.ErrReplayed},
			"an earlier time":             {later(func(h *share.Head) { h.Version++; h.Time = h.Time.Add(-1001 * time.Millisecond) }), share.ErrReplayed},
			"another version of the time": {later(func(x *share.Head) { x.Version++; x.Time = h.Time }), share.ErrFork},
			"another state of the time":   {later(func(x *share.Head) { x.ID[0]++; x.Time = h.Time }), share.ErrFork},
			"an earlier stream":           {later(func(h *share.Head) { h.Stream.Began-- }), share.ErrFork},
			"a smaller nonce":             {later(func(h *share.Head) { h.Stream.Nonce-- }), share.ErrFork},
			"an earlier stream, replayed": {later(func(x *share.Head) { x.Stream.Began--; x.Time = h.Time.Add(-1) }), share.ErrReplayed},
			"the future":                  {later(func(h *share.Head) { h.Time = p.now.Add(time.Minute + time.Millisecond) }), share.ErrFuture},
			"too large":                   {later(func(h *share.Head) { h.ID = wire.ID{}; h.Bytes = 1<<30 + 1 }), umbel.ErrLimit},
			"no index":                    {later(func(h *share.Head) { h.ID = wire.ID{}; h.Deltas = nil; h.Index = ref(100, 1) }), share.ErrNotFound},
			"an index of 1 MiB":           {later(func(h *share.Head) { h.ID = wire.ID{}; h.Deltas = nil; h.Index = ref(1<<20+1, 1) }), share.ErrCorrupt},
		} {
			put(c.head)
			if err := s.Update(t.Context()); !errors.Is(err, c.want) {
				t.Errorf("%s: %v, want %v", name, err, c.want)
			}
			wantState(t, s, states[1])
		}
		put(second)
		update(t, s)
	}
	// The time of a head may be a little ahead.
	put(later(func(h *share.Head) { h.Time = p.now.Add(time.Minute) }))
	update(t, s)
	// An older stream is accepted when the head has expired.
	put(later(func(h *share.Head) { h.Stream.Began--; h.Time = p.now.Add(time.Minute + 1e6) }))
	if err := s.Update(t.Context()); !errors.Is(err, share.ErrFork) && !errors.Is(err, share.ErrFuture) {
		t.Error(err)
	}
	p.now = p.now.Add(7 * time.Minute)
	put(later(func(h *share.Head) { h.Stream.Began--; h.Time = p.now }))
	update(t, s)
	wantState(t, s, states[1])
}

func TestHeadExpired(t *testing.T) {
	p := newPair(t)
	state := set(t, 1024, 0, 10)
	p.publish(state)
	p.now = p.now.Add(4 * time.Minute)
	s := p.subscriber(share.SubscriberOptions{})
	update(t, s)
	wantState(t, s, state)
	p.now = p.now.Add(time.Minute)
	for range 2 {
		if err := s.Update(t.Context()); !errors.Is(err, share.ErrStale) {
			t.Errorf("%v, want %v", err, share.ErrStale)
		}
		if v := s.View(); v.Exact() {
			t.Error("an expired view is exact")
		}
	}
	if _, err := p.p.Renew(t.Context()); err != nil {
		t.Fatal(err)
	}
	update(t, s)
	wantState(t, s, state)
}

// A clock that jumps makes a view stale at the next update, also if that fails.
func TestClockJumps(t *testing.T) {
	p := newPair(t)
	p.publish(set(t, 1024, 0, 10))
	source := &polled{Source: p.store}
	s := p.subscriber(share.SubscriberOptions{Source: source})
	update(t, s)
	p.now = p.now.Add(5 * time.Minute)
	source.failWith(errInjected)
	if err := s.Update(t.Context()); !errors.Is(err, errInjected) || s.View().Exact() {
		t.Errorf("%v, exact: %v", err, s.View().Exact())
	}
}

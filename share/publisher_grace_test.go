package share_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/umbel-filters/umbel/share"
)

// The objects of the head of the publisher before have their time of grace, too.
func TestGraceOfRestart(t *testing.T) {
	p := newPair(t)
	p.publish(set(t, 1<<12, 0, 100))
	_, old, _ := listed(t, p.store, p.verifier)
	lose := func(r share.Ref) {
		if err := p.store.Remove(t.Context(), r.Hash.String()); err != nil {
			t.Fatal(err)
		}
		delete(old, r)
	}
	_, _, x := listed(t, p.store, p.verifier)
	lose(x.Snapshots[0].Ref) // so that a new stream begins
	p.publisher()
	p.now = p.now.Add(time.Hour)
	p.publish(set(t, 1<<12, 0, 101))
	for r := range old {
		if _, err := readObject(p.store, r); err != nil {
			t.Errorf("removed without grace: %v", err)
		}
	}
	p.now = p.now.Add(time.Hour)
	p.publish(set(t, 1<<12, 0, 102))
	for r := range old {
		if _, err := readObject(p.store, r); !errors.Is(err, share.ErrNotFound) {
			t.Errorf("%v, want %v", err, share.ErrNotFound)
		}
	}
}

// A filter that shrinks has a small snapshot at once.
func TestShrink(t *testing.T) {
	p := newPair(t)
	f := set(t, 1<<23, 0, 100)
	p.publish(f)
	small := set(t, 1<<16, 0, 100)
	p.publish(small)
	s := p.subscriber(share.SubscriberOptions{})
	update(t, s)
	wantState(t, s, small)
	if _, _, x := listed(t, p.store, p.verifier); x.Snapshots[0].Version != 2 {
		t.Errorf("the last snapshot is of version %d", x.Snapshots[0].Version)
	}
}

// If the store keeps a head in spite of an error, the next version continues after it.
func TestUncertainHead(t *testing.T) {
	p := newPair(t)
	d := &uncertain{disk: newDisk(rand.New(rand.NewPCG(1, 1)), nil)}
	p.store = d
	p.publisher()
	s := p.subscriber(share.SubscriberOptions{})
	p.publish(set(t, 1<<12, 0, 100))
	update(t, s)
	for _, keep := range []bool{true, false} {
		d.fails, d.keep = true, keep
		failed := set(t, 1<<12, 0, 101)
		if keep {
			failed = set(t, 1<<12, 0, 102)
		}
		if h, err := p.p.Publish(t.Context(), failed); h != nil || !errors.Is(err, errInjected) {
			t.Fatalf("%v, %v", h, err)
		}
		d.fails = false
		update(t, s)
		if keep {
			wantState(t, s, failed)
		}
		next := set(t, 1<<12, 0, uint64(103+p.p.Head().Version))
		h := p.publish(next)
		update(t, s)
		wantState(t, s, next)
		if len(h.Deltas) < 2 {
			t.Errorf("%+v", h)
		}
	}
	if c := s.Counters(); c.Resyncs != 0 || c.Objects != 4 {
		t.Errorf("%+v", c)
	}
}

type uncertain struct {
	*disk
	fails, keep bool
}

func (u *uncertain) PutRecord(ctx context.Context, name string, data []byte) error {
	fails := u.fails && name == share.HeadName
	if fails && !u.keep {
		return errInjected
	}
	err := u.disk.PutRecord(ctx, name, data)
	if fails {
		return errInjected
	}
	return err
}

// While a head is valid, its objects exist, even if it was replaced: a cache may still return it.
func TestGraceOfValidHead(t *testing.T) {
	p := newPair(t)
	var err error
	p.p, err = share.NewPublisher(t.Context(), share.PublisherOptions{Store: p.store, Key: share.Key{Signer: p.signer, Verifier: p.verifier}, Now: p.clock, Valid: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	p.publish(set(t, 1<<12, 0, 100))
	old, _ := p.store.Record(t.Context(), share.HeadName)
	for v := range uint64(50) {
		p.now = p.now.Add(time.Minute)
		p.publish(set(t, 1<<12, v, v+100))
	}
	current, _ := p.store.Record(t.Context(), share.HeadName)
	if err := p.store.PutRecord(t.Context(), share.HeadName, old); err != nil {
		t.Fatal(err)
	}
	s := p.subscriber(share.SubscriberOptions{})
	update(t, s)
	wantState(t, s, set(t, 1<<12, 0, 100))
	if err := p.store.PutRecord(t.Context(), share.HeadName, current); err != nil {
		t.Fatal(err)
	}
	update(t, s)
	wantState(t, s, set(t, 1<<12, 49, 149))
}

package share_test

import (
	"context"
	"errors"
	"iter"
	"slices"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/share"
	"github.com/umbel-filters/umbel/wire/hashtree"
)

// brokenStore is a store that can refuse objects.
type brokenStore struct {
	share.Memory
	broken bool
}

func (s *brokenStore) NewObject(ctx context.Context) (share.Upload, error) {
	if s.broken {
		return nil, errors.New("the store is broken")
	}
	return s.Memory.NewObject(ctx)
}

// addNoting adds keys and returns the words that they change.
func addNoting(f *bloom.Filter, from, to uint64) func(int) iter.Seq[uint64] {
	var words []uint64
	for i := from; i < to; i++ {
		d := f.Hasher().HashUint64(i)
		f.Add(d)
		for _, at := range f.Locate(nil, d) {
			words = append(words, at/64)
		}
	}
	slices.Sort(words)
	words = slices.Compact(words)
	return func(int) iter.Seq[uint64] { return slices.Values(words) }
}

// Versions that are published with a list of what changed are those that are published without.
func TestPublishChanged(t *testing.T) {
	f, err := bloom.New(100_000, 0.01)
	if err != nil {
		t.Fatal(err)
	}
	listed, compared := newPair(t), newPair(t)
	s := listed.subscriber(share.SubscriberOptions{})
	for v := range uint64(40) {
		changed := addNoting(f, v*100, v*100+100)
		h, err := listed.p.PublishChanged(t.Context(), f.State(), changed)
		if err != nil {
			t.Fatal(err)
		}
		want := compared.publish(f.State())
		if h.Version != v+1 || h.ID != want.ID || h.Index != want.Index || !slices.Equal(h.Deltas, want.Deltas) {
			t.Fatalf("%+v, want %+v", h, want)
		}
		update(t, s)
		wantState(t, s, f.State())
	}
	if h, err := listed.p.PublishChanged(t.Context(), f.State(), func(int) iter.Seq[uint64] { return nil }); err != nil || h.Version != 40 {
		t.Errorf("without a change: %v, %v", h, err)
	}
}

// A list is not used if the publisher may lack earlier changes.
func TestPublishChangedAfterFailure(t *testing.T) {
	f, err := bloom.New(10_000, 0.01)
	if err != nil {
		t.Fatal(err)
	}
	p := newPair(t)
	store := new(brokenStore)
	p.store = store
	p.publisher()
	publish := func(changed func(int) iter.Seq[uint64]) error {
		h, err := p.p.PublishChanged(t.Context(), f.State(), changed)
		if err == nil && h.ID != hashtree.Identify(f.State()) {
			t.Errorf("version %d lacks changes", h.Version)
		}
		return err
	}
	wantPublished := func(what string, from uint64) {
		t.Helper()
		if err := publish(addNoting(f, from, from+10)); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	addNoting(f, 0, 10)
	wantPublished("the first version", 10)
	wantPublished("the second version", 20)
	store.broken = true
	if err := publish(addNoting(f, 30, 40)); err == nil {
		t.Fatal("published in a broken store")
	}
	store.broken = false
	wantPublished("after a failure", 40)
	var none umbel.State
	if _, err := p.p.PublishChanged(t.Context(), none, nil); err == nil {
		t.Fatal("published no state")
	}
	addNoting(f, 50, 60)
	wantPublished("after a state that is refused", 60)
	addNoting(f, 70, 80)
	p.publisher() // it continues the publication
	wantPublished("after a restart", 80)
}

// The deltas of a version of another size lead from the states before it, those of later versions from
// that version on.
func TestOtherSize(t *testing.T) {
	p := newPair(t)
	late := p.subscriber(share.SubscriberOptions{})
	for v := range uint64(4) {
		p.publish(set(t, 1<<16, 0, 20_000+v))
	}
	update(t, late)
	before := late.Counters().Objects
	for v, want := range []int{3, 1, 2, 3} {
		state := set(t, 1<<17, 0, 20_004+uint64(v))
		if h := p.publish(state); len(h.Deltas) != want {
			t.Errorf("version %d has %d deltas, want %d", h.Version, len(h.Deltas), want)
		}
		s := late
		if v < 3 {
			s = p.subscriber(share.SubscriberOptions{})
		}
		update(t, s)
		wantState(t, s, state)
	}
	if n := late.Counters().Objects - before; n != 2 {
		t.Errorf("%d objects for 4 missed versions, want two deltas", n)
	}
}

// Subscribers that follow by deltas know what each version is planned for.
func TestPlanFollows(t *testing.T) {
	f, err := bloom.New(100_000, 0.01)
	if err != nil {
		t.Fatal(err)
	}
	p := newPair(t)
	s, late := p.subscriber(share.SubscriberOptions{}), p.subscriber(share.SubscriberOptions{})
	for v := range uint64(30) {
		changed := addNoting(f, v*100, v*100+100)
		f.SetPlanned(umbel.Planned{Keys: 1000 * (1 + v/7), FPRate: 0.01})
		if _, err := p.p.PublishChanged(t.Context(), f.State(), changed); err != nil {
			t.Fatal(err)
		}
		subscribers := []*share.Subscriber{s}
		if v%10 == 0 || v == 29 {
			subscribers = append(subscribers, late)
		}
		for _, s := range subscribers {
			update(t, s)
			wantState(t, s, f.State())
			if got := s.View().Filter().State().Planned; got != f.Planned() {
				t.Errorf("version %d is planned for %v, want %v", v, got, f.Planned())
			}
		}
	}
	if got, most := s.Counters().Bytes, 2*f.State().Bytes(); got > most {
		t.Errorf("%d bytes were fetched, want at most %d: no deltas were used", got, most)
	}
}

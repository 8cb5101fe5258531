package share_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter"
	"github.com/umbel-filters/umbel/share"
	"github.com/umbel-filters/umbel/wire/hashtree"
	"golang.org/x/mod/sumdb/note"
)

// classes begins a publisher with fold classes.
func (p *pair) classes(folds ...uint64) {
	p.t.Helper()
	var err error
	p.p, err = share.NewPublisher(p.t.Context(), share.PublisherOptions{
		Store: p.store, Key: share.Key{Signer: p.signer, Verifier: p.verifier}, Now: p.clock, Folds: folds, Kinds: filter.All,
	})
	if err != nil {
		p.t.Fatal(err)
	}
}

// folded returns a state folded by r.
func folded(t testing.TB, s umbel.State, r uint64) umbel.State {
	t.Helper()
	f, err := filter.All.Open(s.Clone())
	if err == nil && r > 1 {
		err = f.(umbel.Folder).Fold(r)
	}
	if err != nil {
		t.Fatal(err)
	}
	return f.State()
}

// classHead returns the head of a class in the store.
func (p *pair) classHead(fold uint64) *share.Head {
	p.t.Helper()
	b, err := p.store.Record(p.t.Context(), share.ClassRecord(fold))
	if err != nil {
		p.t.Fatal(err)
	}
	h, err := share.OpenHead(b, p.verifier.Name(), note.VerifierList(p.verifier))
	if err != nil {
		p.t.Fatal(err)
	}
	return h
}

// wantFold fails unless a subscriber has exactly a state folded by r.
func wantFold(t testing.TB, s *share.Subscriber, whole umbel.State, r uint64) {
	t.Helper()
	if v := s.View(); v == nil || v.Head().Fold != r {
		t.Fatalf("the view is not folded by %d: %v", r, v)
	}
	wantState(t, s, folded(t, whole, r))
}

// Version v of each class is the fold of version v of the filter, and the heads of a version have one time.
func TestClasses(t *testing.T) {
	const n, m = 1000, 1 << 16
	p := newPair(t)
	p.classes(4, 16)
	var subscribers []*share.Subscriber
	folds := []uint64{1, 4, 16}
	rates := []float64{0, 0.1, 0.3} // about 0.015, 0.06 and 0.22 are measured
	for _, r := range rates {
		subscribers = append(subscribers, p.subscriber(share.SubscriberOptions{Budget: share.Budget{Rate: r}}))
	}
	for v := range uint64(100) {
		state := set(t, m, 3*v, 3*v+n)
		h := p.publish(state)
		for i, s := range subscribers {
			update(t, s)
			wantFold(t, s, state, folds[i])
			view := s.View()
			if rates[i] > 0 && view.Rate() > rates[i] {
				t.Errorf("version %d: rate %v, want at most %v", v+1, view.Rate(), rates[i])
			}
			c := p.classHead(folds[i])
			if c.Version != v+1 || c.Time != h.Time || c.Stream != h.Stream || c.ID != hashtree.Identify(folded(t, state, folds[i])) || !slices.Equal(c.Classes, h.Classes) {
				t.Fatalf("the head of class %d is %+v, that of the filter %+v", folds[i], c, h)
			}
			if a := c.Classes[i]; a.Fold != folds[i] || a.Rate < view.Rate() || a.Rate > view.Rate()+2e-9 || v > 0 && a.Delta != c.Deltas[0].Bytes {
				t.Fatalf("version %d announces %+v, the rate is %v", v+1, a, view.Rate())
			}
		}
	}
	for i, s := range subscribers {
		if c := s.Counters(); c.Versions != 100 || c.Objects != 100 || c.Resyncs != 0 {
			t.Errorf("class %d: %+v", folds[i], c)
		}
	}
	if a, b := subscribers[0].Counters().Bytes, subscribers[2].Counters().Bytes; b >= a {
		t.Errorf("the coarsest class took %d bytes, the filter %d", b, a)
	}
	h, err := p.p.Renew(t.Context())
	if err != nil || p.classHead(4).Time != h.Time || p.classHead(16).Time != h.Time || h.Version != 100 {
		t.Errorf("renewed: %+v, %v", h, err)
	}
}

// A subscriber chooses the class once, and then reads its head alone.
func TestClassRequests(t *testing.T) {
	p := newPair(t)
	p.classes(4)
	source := &recorded{Source: p.store}
	s := p.subscriber(share.SubscriberOptions{Source: source, Budget: share.Budget{Rate: 0.5}})
	plain := p.subscriber(share.SubscriberOptions{Source: source})
	for v := range uint64(3) {
		p.publish(set(t, 1<<14, v, v+500))
		update(t, s)
		update(t, plain)
	}
	if want := []string{"head", "head-4", "head", "head-4", "head", "head-4", "head"}; !slices.Equal(source.records, want) {
		t.Errorf("requests for %q, want %q", source.records, want)
	}
}

// recorded notes the records that are requested.
type recorded struct {
	share.Source
	records []string
}

func (r *recorded) Record(ctx context.Context, name string) ([]byte, error) {
	r.records = append(r.records, name)
	return r.Source.Record(ctx, name)
}

// A memory and a start budget select a class that fits.
func TestBudgetLimits(t *testing.T) {
	const m = 1 << 16 // 8192 bytes
	p := newPair(t)
	p.classes(2, 8)
	state := set(t, m, 0, 1000)
	h := p.publish(state)
	for _, x := range []struct {
		name string
		b    share.Budget
		fold uint64
	}{
		{"no limit", share.Budget{}, 1},
		{"enough memory", share.Budget{Memory: m / 8}, 1},
		{"half of the memory", share.Budget{Memory: m/8 - 1}, 2},
		{"an eighth of the memory", share.Budget{Memory: m / 64}, 8},
		{"the rate needs the whole", share.Budget{Rate: 0.02}, 1},
		{"the rate needs the half", share.Budget{Rate: 0.05}, 2},
		{"memory is for less than the rate needs", share.Budget{Rate: 0.02, Memory: m / 64}, 8},
		{"a start of any length", share.Budget{Start: 1 << 20}, 1},
		{"a short start", share.Budget{Start: h.Classes[1].Snapshot}, 2},
		{"no start is short enough", share.Budget{Start: 1}, 8},
	} {
		s := p.subscriber(share.SubscriberOptions{Budget: x.b})
		update(t, s)
		if v := s.View(); v.Head().Fold != x.fold {
			t.Errorf("%s: class %d, want %d", x.name, v.Head().Fold, x.fold)
		}
		wantFold(t, s, state, x.fold)
	}
	s := p.subscriber(share.SubscriberOptions{Budget: share.Budget{Memory: m/64 - 1}})
	if err := s.Update(t.Context()); !errors.Is(err, umbel.ErrLimit) {
		t.Errorf("memory for no class: %v", err)
	}
	if _, err := share.NewSubscriber(t.Context(), share.SubscriberOptions{
		Source: p.store, Verifier: p.verifier, Kinds: filter.All, Stale: share.StaleError, Budget: share.Budget{Rate: 1},
	}); err == nil {
		t.Error("a rate of 1 is accepted")
	}
}

// The class follows the rate: it becomes finer when the filter fills.
func TestBudgetFollowsRate(t *testing.T) {
	p := newPair(t)
	p.classes(4, 16)
	s := p.subscriber(share.SubscriberOptions{Budget: share.Budget{Rate: 0.05}})
	for _, x := range []struct{ keys, fold uint64 }{{100, 16}, {400, 4}, {1500, 1}, {400, 4}, {100, 16}} {
		state := set(t, 1<<16, 0, x.keys)
		p.publish(state)
		update(t, s)
		wantFold(t, s, state, x.fold)
	}
}

// A publication may gain and lose classes. A subscriber of a class that is no longer offered returns to
// the head of the filter.
func TestClassesChange(t *testing.T) {
	p := newPair(t)
	s := p.subscriber(share.SubscriberOptions{Budget: share.Budget{Rate: 0.3}})
	for i, folds := range [][]uint64{nil, {4}, {4, 8}, {8}, nil, {4}} {
		p.classes(folds...)
		state := set(t, 1<<14, 0, 500)
		h := p.publish(state)
		if i > 0 && h.Version != p.classHead(1).Version {
			t.Fatalf("%+v", h)
		}
		fold := uint64(1)
		if len(folds) > 0 {
			fold = folds[len(folds)-1]
		}
		if err := s.Update(t.Context()); err != nil {
			p.now = p.now.Add(time.Second)
			if _, err := p.p.Renew(t.Context()); err != nil {
				t.Fatal(err)
			}
			update(t, s)
		}
		if v := s.View(); v.Head().Fold != fold {
			p.now = p.now.Add(time.Hour) // until the head of the class that is gone has expired
			if _, err := p.p.Renew(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err := s.Update(t.Context()); !errors.Is(err, share.ErrStale) {
				t.Fatalf("the head of a class that is gone: %v", err)
			}
			update(t, s)
		}
		wantFold(t, s, state, fold)
	}
}

// A class whose head is not of the last version, because the publisher was killed, begins again.
func TestClassesAfterKill(t *testing.T) {
	for _, killed := range []uint64{1, 4, 16} {
		p := newPair(t)
		d := newDisk(rand.New(rand.NewPCG(1, 1)), nil)
		p.store = d
		p.classes(4, 16)
		whole := p.subscriber(share.SubscriberOptions{})
		coarse := p.subscriber(share.SubscriberOptions{Budget: share.Budget{Rate: 0.9}})
		p.publish(set(t, 1<<14, 0, 500))
		before := d.clone().records[share.ClassRecord(killed)]
		p.publish(set(t, 1<<14, 0, 510))
		update(t, whole)
		update(t, coarse)
		d.records[share.ClassRecord(killed)] = before
		p.classes(4, 16)
		state := set(t, 1<<14, 0, 510)
		h := p.publish(state)
		if h.Version != 3 {
			t.Fatalf("version %d", h.Version)
		}
		for _, fold := range []uint64{1, 4, 16} {
			if n := len(p.classHead(fold).Deltas); n == 0 != (fold == killed) {
				t.Errorf("class %d has %d deltas after class %d was behind", fold, n, killed)
			}
		}
		update(t, whole)
		wantFold(t, whole, state, 1)
		update(t, coarse)
		wantFold(t, coarse, state, 16)
	}
}

// A copy of a publication may lack the heads of classes. Its subscribers follow the next best class.
func TestMissingClass(t *testing.T) {
	p := newPair(t)
	d := newDisk(rand.New(rand.NewPCG(1, 1)), nil)
	p.store = d
	p.classes(4, 16)
	s := p.subscriber(share.SubscriberOptions{Budget: share.Budget{Rate: 0.9}})
	for v, fold := range []uint64{1, 4, 16, 16, 4, 1} {
		state := set(t, 1<<14, uint64(v), uint64(v)+500)
		p.publish(state)
		copied := d.clone()
		for _, r := range []uint64{4, 16} {
			if r > fold {
				delete(d.records, share.ClassRecord(r))
			}
		}
		if err := s.Update(t.Context()); err != nil {
			update(t, s) // begins with the head of the filter
		}
		wantFold(t, s, state, fold)
		d.records = copied.records
	}
}

// A publisher that is killed continues the history of each class: subscribers of all miss no delta.
func TestClassHistories(t *testing.T) {
	p := newPair(t)
	p.classes(4)
	late := []*share.Subscriber{p.subscriber(share.SubscriberOptions{}), p.subscriber(share.SubscriberOptions{Budget: share.Budget{Rate: 0.5}})}
	var state umbel.State
	for v := range uint64(10) {
		state = set(t, 1<<16, v, v+1000)
		if p.publish(state); v == 0 {
			for _, s := range late {
				update(t, s)
			}
		}
		p.classes(4)
	}
	for i, s := range late {
		before := s.Counters()
		update(t, s)
		wantFold(t, s, state, []uint64{1, 4}[i])
		if c := s.Counters(); c.Bytes-before.Bytes > before.Bytes/4 || c.Resyncs > 0 {
			t.Errorf("class %d: %+v after %+v", s.View().Head().Fold, c, before)
		}
	}
}

// A head of a class in the record of another one is refused.
func TestExchangedClasses(t *testing.T) {
	p := newPair(t)
	p.classes(4, 16)
	p.publish(set(t, 1<<14, 0, 500))
	for _, from := range []uint64{1, 4} {
		b, err := p.store.Record(t.Context(), share.ClassRecord(from))
		if err != nil {
			t.Fatal(err)
		}
		if err := p.store.PutRecord(t.Context(), share.ClassRecord(16), b); err != nil {
			t.Fatal(err)
		}
		s := p.subscriber(share.SubscriberOptions{Budget: share.Budget{Rate: 0.9}})
		if err := s.Update(t.Context()); !errors.Is(err, share.ErrCorrupt) || s.View() != nil {
			t.Errorf("the head of class %d for 16: %v", from, err)
		}
	}
}

// Options and filters that cannot have the classes are refused, and nothing is published.
func TestClassOptions(t *testing.T) {
	p := newPair(t)
	o := share.PublisherOptions{Store: p.store, Key: share.Key{Signer: p.signer, Verifier: p.verifier}, Kinds: filter.All}
	for _, folds := range [][]uint64{{0}, {1}, {4, 4}, {4, 2}, {4, 6}, {2, 4, 8, 16, 32, 64, 128, 256, 512}} {
		o.Folds = folds
		if _, err := share.NewPublisher(t.Context(), o); err == nil {
			t.Errorf("folds %d are accepted", folds)
		}
	}
	o.Folds, o.Kinds = []uint64{4}, nil
	if _, err := share.NewPublisher(t.Context(), o); err == nil {
		t.Error("folds without kinds are accepted")
	}
	p.classes(4, 16)
	state := set(t, 1<<14, 0, 500)
	p.publish(state)
	if _, err := p.p.Publish(t.Context(), set(t, 1<<14+24, 0, 500)); !errors.Is(err, umbel.ErrMismatch) {
		t.Errorf("a size that 16 does not divide: %v", err)
	}
	if h := p.publish(set(t, 1<<14, 0, 501)); h.Version != 2 || len(h.Deltas) != 1 || len(p.classHead(16).Deltas) != 1 {
		t.Errorf("after an error: %+v", h)
	}
	k, err := filter.All.Find("scalable")
	if err != nil {
		t.Fatal(err)
	}
	f, err := k.New(umbel.Goal{Keys: 100, FPRate: 0.01}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.p.Publish(t.Context(), f.State()); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("a kind without folds: %v", err)
	}
}

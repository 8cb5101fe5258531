package share_test

import (
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter"
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/filter/ribbon"
	"github.com/umbel-filters/umbel/filter/scalable"
	"github.com/umbel-filters/umbel/filter/union"
	"github.com/umbel-filters/umbel/filter/window"
	"github.com/umbel-filters/umbel/internal/fixture"
	"github.com/umbel-filters/umbel/share"
	"github.com/umbel-filters/umbel/wire/hashtree"
)

// changing is a filter that changes in all ways that its kind has.
type changing struct {
	t    testing.TB
	f    umbel.Filter
	rng  *rand.Rand
	keys []umbel.Digest // that are certainly in the filter
	time uint64
}

// next changes the filter: additions in each version, growth, and at times removals, folds, time.
func (c *changing) next(version int) {
	c.t.Helper()
	for range 50 {
		d := umbel.Digest{H1: c.rng.Uint64(), H2: c.rng.Uint64()}
		c.f.Add(d)
		c.keys = append(c.keys, d)
	}
	if r, ok := c.f.(umbel.Remover); ok && version%3 == 0 {
		for _, d := range c.keys[:20] {
			r.Remove(d)
		}
		c.keys = c.keys[20:]
	}
	if a, ok := c.f.(umbel.Advancer); ok {
		c.time++
		if err := a.Advance(c.time); err != nil {
			c.t.Fatal(err)
		}
		c.keys = c.keys[max(0, len(c.keys)-50):]
	}
	if f, ok := c.f.(umbel.Folder); ok && version%10 == 9 {
		change := f.Fold
		if version%20 == 19 {
			change = f.Unfold
		}
		if err := change(2); err != nil && !errors.Is(err, umbel.ErrMismatch) {
			c.t.Fatal(err)
		}
	}
	if s, ok := c.f.(umbel.Sealer); ok {
		if err := s.Seal(); err != nil {
			c.t.Fatal(err)
		}
	}
}

// Every kind passes through a publication, bit for bit, to a subscriber that follows, to one that
// misses versions, and to one that restarts.
func TestKinds(t *testing.T) {
	for _, kind := range filter.All {
		t.Run(kind.Name, func(t *testing.T) {
			f, err := kind.New(umbel.Goal{Keys: 600, FPRate: 0.01}, nil)
			if err != nil {
				t.Fatal(err)
			}
			p := newPair(t)
			cache := new(share.Memory)
			follows, late := p.subscriber(share.SubscriberOptions{}), p.subscriber(share.SubscriberOptions{})
			c := &changing{t: t, f: f, rng: rand.New(rand.NewPCG(13, 14))}
			for v := range 30 {
				c.next(v)
				state := f.State()
				p.publish(state)
				update(t, follows)
				restarts := p.subscriber(share.SubscriberOptions{Cache: cache})
				update(t, restarts)
				subscribers := []*share.Subscriber{follows, restarts}
				if v%7 == 6 {
					update(t, late)
					subscribers = append(subscribers, late)
				}
				for _, s := range subscribers {
					if !s.View().Filter().State().Equal(state) {
						t.Fatalf("version %d is another state", v+1)
					}
					for _, d := range c.keys {
						if ok, err := s.Has(d); !ok || err != nil {
							t.Fatalf("version %d: a key is absent: %v", v+1, err)
						}
					}
				}
			}
			for _, s := range []*share.Subscriber{follows, late} {
				if n := s.Counters(); n.Resyncs != 0 {
					t.Errorf("%+v", n)
				}
			}
			t.Logf("%d bytes of memory, 30 versions with %d bytes", f.State().Bytes(), follows.Counters().Bytes)
		})
	}
}

// Heads announce the rates of all classes, for every kind that has folds, and publishing does not change the
// filter.
func TestRatesOfKinds(t *testing.T) {
	for _, k := range filter.All {
		t.Run(k.Name, func(t *testing.T) {
			f, err := k.New(umbel.Goal{Keys: 2000, FPRate: 0.01}, nil)
			if err != nil {
				t.Skip(err)
			}
			folder, ok := f.(umbel.Folder)
			if !ok {
				t.Skip("the kind has no folds")
			}
			if err := folder.Unfold(12); err != nil {
				t.Skip(err)
			}
			p := newPair(t)
			p.classes(2, 6, 12)
			c := changing{t: t, f: f, rng: rand.New(rand.NewPCG(3, 4))}
			for v := range 4 {
				c.next(v)
				before := f.State().Clone()
				h := p.publish(f.State())
				if !f.State().Equal(before) {
					t.Fatal("the filter has changed")
				}
				for i, fold := range []uint64{1, 2, 6, 12} {
					s := folded(t, before, fold)
					rate := fixture.Must(filter.All.Open(s)).Stats().FPRate
					if a := h.Classes[i]; a.Fold != fold || a.Rate < rate || a.Rate > rate+1e-9 || p.classHead(fold).ID != hashtree.Identify(s) {
						t.Errorf("version %d: class %+v, want fold %d with rate %v", v, a, fold, rate)
					}
				}
			}
		})
	}
}

// A zero filter has no version, since no subscriber could open it.
func TestZeroFilters(t *testing.T) {
	for _, f := range []umbel.Filter{new(bloom.Filter), new(scalable.Filter), new(ribbon.Filter), new(window.Filter), new(union.Filter)} {
		p := newPair(t)
		if _, err := p.p.Publish(t.Context(), f.State()); !errors.Is(err, umbel.ErrGoal) {
			t.Errorf("%s: got %v, want an error that wraps ErrGoal", f.State().Kind, err)
		}
		if _, err := p.store.Record(t.Context(), share.HeadName); !errors.Is(err, share.ErrNotFound) {
			t.Errorf("%s: something was published: %v", f.State().Kind, err)
		}
	}
}

// A secret seed is published only if that is chosen, wherever it is in the state.
func TestSeeds(t *testing.T) {
	seeded := umbel.Hasher{Seed: fixture.Seed(1, 0)}
	for _, kind := range []umbel.Kind{bloom.Kind, scalable.Kind} {
		f, err := kind.New(umbel.Goal{Keys: 100, FPRate: 0.01, Hasher: seeded}, nil)
		if err != nil {
			t.Fatal(err)
		}
		state := f.State()
		p := newPair(t)
		if _, err := p.p.Publish(t.Context(), state); !errors.Is(err, share.ErrSeed) {
			t.Errorf("%s: %v", kind.Name, err)
		}
		if len(state.Parts) > 0 {
			state.Hasher = umbel.Hasher{}
			if _, err := p.p.Publish(t.Context(), state); !errors.Is(err, share.ErrSeed) {
				t.Errorf("%s, in a part: %v", kind.Name, err)
			}
		}
		if _, err := p.store.Record(t.Context(), share.HeadName); !errors.Is(err, share.ErrNotFound) {
			t.Errorf("%s: something was published: %v", kind.Name, err)
		}
		p.p, err = share.NewPublisher(t.Context(), share.PublisherOptions{Store: p.store, Key: share.Key{Signer: p.signer, Verifier: p.verifier}, Now: p.clock, PublishSeed: true})
		if err != nil {
			t.Fatal(err)
		}
		p.publish(f.State())
		s := p.subscriber(share.SubscriberOptions{})
		update(t, s)
		wantState(t, s, f.State())
	}
}

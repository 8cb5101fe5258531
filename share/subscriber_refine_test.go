package share_test

import (
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter"
	"github.com/umbel-filters/umbel/internal/race"
	"github.com/umbel-filters/umbel/share"
)

// A subscriber that begins with the coarsest class answers after few bytes, and has the filter after about
// as many as its snapshot: it takes the refinements. It does so some versions later, and after a restart.
func TestRefinement(t *testing.T) {
	const n, m = 20_000, 1 << 20
	for _, cached := range []bool{false, true} {
		for _, later := range []uint64{0, 3} {
			p := newPair(t)
			p.classes(4, 16)
			o := share.SubscriberOptions{}
			if cached {
				o.Cache = new(share.Memory)
			}
			p.publish(set(t, m, 0, n))
			whole := p.subscriber(share.SubscriberOptions{})
			update(t, whole)
			o.Budget.Start = 1
			s := p.subscriber(o)
			update(t, s)
			wantFold(t, s, set(t, m, 0, n), 16)
			first := s.Counters().Bytes
			for v := range later {
				p.publish(set(t, m, v+1, n+v+1))
			}
			if cached {
				s = p.subscriber(o)
			}
			update(t, s)
			update(t, whole)
			wantFold(t, s, set(t, m, later, n+later), 1)
			bytes := s.Counters().Bytes
			if cached {
				bytes += first
			}
			direct := whole.Counters().Bytes
			t.Logf("%d bytes, then %d in all; the whole filter takes %d", first, bytes, direct)
			if first > direct*2/3 || bytes > direct*11/10 {
				t.Errorf("the coarse start has %d of %d bytes, and all %d", first, direct, bytes)
			}
			if c := s.Counters(); c.Resyncs > 0 {
				t.Errorf("%+v", c)
			}
		}
	}
}

// To change to a coarser class costs no object, and its deltas afterwards.
func TestCoarserIsFree(t *testing.T) {
	p := newPair(t)
	p.classes(4)
	for _, cache := range []share.Store{nil, new(share.Memory)} {
		state := set(t, 1<<16, 0, 1500)
		p.publish(state)
		s := p.subscriber(share.SubscriberOptions{Cache: cache, Budget: share.Budget{Rate: 0.05}})
		update(t, s)
		wantFold(t, s, state, 1)
		before := s.Counters().Objects
		state = set(t, 1<<16, 0, 100) // the class suffices from now on
		p.publish(state)
		update(t, s)
		wantFold(t, s, state, 4)
		if n := s.Counters().Objects - before; n != 1 {
			t.Errorf("%d objects, want the delta of the class", n)
		}
		if cache != nil {
			s = p.subscriber(share.SubscriberOptions{Cache: cache, Source: new(share.Memory), Budget: share.Budget{Rate: 0.05}})
			wantFold(t, s, state, 4)
		}
	}
}

// A refinement that is missing or damaged makes the change cost more, not wrong.
func TestRefinementDamaged(t *testing.T) {
	const n, m = 5000, 1 << 18
	for seed := range uint64(60) {
		p := newPair(t)
		d := newDisk(rand.New(rand.NewPCG(seed, 1)), nil)
		p.store = d
		p.classes(4, 16)
		p.publish(set(t, m, 0, n))
		s := p.subscriber(share.SubscriberOptions{Budget: share.Budget{Start: 1}})
		update(t, s)
		for name := range d.objects {
			if _, used := d.objects[name]; used && d.rng.IntN(6) == 0 {
				d.objects[name] = spoil(d.rng, d.objects[name])
			}
		}
		if err := s.Update(t.Context()); err != nil && !errors.Is(err, share.ErrCorrupt) {
			t.Errorf("seed %d: %v", seed, err)
		}
		if v := s.View(); !v.Exact() {
			t.Errorf("seed %d: the subscriber is stale", seed)
		}
		wantFold(t, s, set(t, m, 0, n), s.View().Head().Fold)
	}
}

// A subscriber receives no more than its budget, for any publication, and is finer when the
// publication changes less.
func TestBytesPerSecond(t *testing.T) {
	race.Skip(t, "makes many versions, in one goroutine")
	const n, m, limit = 10_000, 1 << 19, 2000
	p := newPair(t)
	p.classes(4, 16)
	p.publish(set(t, m, 0, n))
	s := p.subscriber(share.SubscriberOptions{Budget: share.Budget{Start: 1, BytesPerSecond: limit}})
	update(t, s)
	begun, first, key, keys := p.now, s.Counters().Received, uint64(0), []uint64{0} // of the versions
	finest, waits := uint64(16), 0
	phase := func(seconds int, changed uint64) {
		t.Helper()
		for range seconds {
			key += changed
			keys = append(keys, key)
			p.publish(set(t, m, key, key+n))
			if err := s.Update(t.Context()); errors.Is(err, share.ErrBudget) {
				waits++
			} else if err != nil {
				t.Fatal(err)
			} else { // perhaps the version for which it has saved
				v := s.View()
				from := keys[v.Head().Version-1]
				wantFold(t, s, set(t, m, from, from+n), v.Head().Fold)
			}
			received := s.Counters().Received - first
			if most := limit*uint64(p.now.Sub(begun)/time.Second) + 1000; received > most {
				t.Fatalf("after %v: %d bytes, want at most %d", p.now.Sub(begun), received, most)
			}
			finest = min(finest, s.View().Head().Fold)
		}
	}
	phase(4, 5)
	if finest != 16 {
		t.Errorf("class %d, but nothing was saved", finest)
	}
	phase(150, 5)
	if finest != 1 {
		t.Errorf("class %d, although there are bytes for the whole filter", finest)
	}
	phase(200, 3000)
	if c := s.Counters(); c.Failures > 0 {
		t.Errorf("updates that wait count as failures: %+v", c)
	}
	if fold := s.View().Head().Fold; fold != 16 || waits == 0 {
		t.Errorf("class %d after %d waits, although the deltas do not fit", fold, waits)
	}
}

// Every kind that can be folded passes through a class and its refinements, bit for bit.
func TestClassesOfKinds(t *testing.T) {
	kinds := 0
	for _, kind := range filter.All {
		f, err := kind.New(umbel.Goal{Keys: 5000, FPRate: 0.01}, nil)
		if err != nil {
			t.Fatal(err)
		}
		fold := uint64(2)
		for ; fold < 8; fold++ {
			g, err := kind.Open(f.State().Clone())
			if err != nil {
				t.Fatal(err)
			}
			if g, ok := g.(umbel.Folder); ok && g.Fold(fold) == nil {
				break
			}
		}
		if fold == 8 {
			continue
		}
		kinds++
		t.Run(kind.Name, func(t *testing.T) {
			p := newPair(t)
			p.classes(fold)
			coarse := p.subscriber(share.SubscriberOptions{Budget: share.Budget{Rate: 0.999}})
			c := &changing{t: t, f: f, rng: rand.New(rand.NewPCG(21, 22))}
			for v := range 9 {
				c.next(v)
				p.publish(f.State())
				refined := p.subscriber(share.SubscriberOptions{Budget: share.Budget{Start: 1}})
				for _, s := range []*share.Subscriber{coarse, refined} {
					update(t, s)
					wantFold(t, s, f.State(), fold)
				}
				update(t, refined)
				wantFold(t, refined, f.State(), 1)
				if n := coarse.Counters().Resyncs + refined.Counters().Resyncs; n > 0 {
					t.Errorf("version %d: %d resyncs", v+1, n)
				}
			}
		})
	}
	if kinds < 7 {
		t.Errorf("%d kinds have folds", kinds)
	}
}

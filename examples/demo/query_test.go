package main

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter"
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/share"
)

// queried is a set, a publication of a part of it, and its subscriber.
type queried struct {
	*testing.T
	q   querier
	set set
	vs  versions
	f   *bloom.Filter
	p   *share.Publisher
	s   *share.Subscriber
}

func newQueried(t *testing.T) *queried {
	key, _, err := share.NewKey("umbel/demo")
	if err != nil {
		t.Fatal(err)
	}
	w := &queried{T: t}
	w.q = querier{set: &w.set, versions: &w.vs, rand: rand.New(rand.NewPCG(1, 1))}
	store := new(share.Memory)
	if w.p, err = share.NewPublisher(t.Context(), share.PublisherOptions{Store: store, Key: key, Valid: valid}); err != nil {
		t.Fatal(err)
	}
	if w.f, err = bloom.New(1000, 0.02); err != nil {
		t.Fatal(err)
	}
	o := share.SubscriberOptions{Source: store, Verifier: key.Verifier, Kinds: filter.All, Stale: share.StaleError}
	if w.s, err = share.NewSubscriber(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.s.Close)
	return w
}

// publish publishes a version with keys of the set and others that its filter contains.
func (w *queried) publish(version uint64, published ...string) {
	w.Helper()
	umbel.AddKeys(w.f, published)
	if _, err := w.p.Publish(w.Context(), w.f.State()); err != nil {
		w.Fatal(err)
	}
	if err := w.s.Update(w.Context()); err != nil {
		w.Fatal(err)
	}
	if got := w.s.View().Head().Version; got != version {
		w.Fatalf("version %d, want %d", got, version)
	}
}

func numbered(t *testing.T, n int) []string {
	p := newPopulation(n, 0, time.Second, 7)
	p.next(t.Context())
	return p.keys
}

func TestQuery(t *testing.T) {
	w := newQueried(t)
	var a answers
	w.q.query(nil, &a)
	w.q.query(w.s, &a) // it has no version
	if a.present+a.absent > 0 {
		t.Errorf("queries without a version: %+v", &a)
	}
	keys := numbered(t, 1000)
	w.set.apply(change{added: keys}, 1)
	w.publish(1, keys...)
	for range 20 {
		w.q.query(w.s, &a)
	}
	if a.present != 20*presentQueries || a.wrong != 0 || a.absent != 20*absentQueries {
		t.Errorf("%+v", &a)
	}
	rate := w.f.Stats().FPRate
	if sigma := math.Sqrt(rate / float64(a.absent)); math.Abs(float64(a.positive)/float64(a.absent)-rate) > 5*sigma {
		t.Errorf("%d of %d positive, want a rate of %.4f", a.positive, a.absent, rate)
	}
	w.s.Close()
	w.q.query(w.s, &a) // it refuses
	if a.absent != 20*absentQueries {
		t.Error("a stale subscriber was counted")
	}
}

// A key that a version should contain, and does not, makes the answer wrong. A key of a later version does
// only if that was published long ago.
func TestQueryWrong(t *testing.T) {
	keys := numbered(t, 200)
	for name, c := range map[string]struct {
		version uint64        // of the keys that the filter lacks
		age     time.Duration // of that version
		isWrong bool
	}{
		"lost":         {1, 0, true},
		"late":         {2, valid / 2, false},
		"too late":     {2, valid + 2*lateTimer, true},
		"not complete": {3, 0, false},
	} {
		w := newQueried(t)
		var a answers
		w.vs.begin(1, nil)
		w.vs.complete(1, time.Now())
		w.set.apply(change{added: keys[:100]}, 1)
		w.publish(1, keys[:100]...)
		w.vs.begin(2, nil)
		w.vs.complete(2, time.Now().Add(-c.age))
		w.set.apply(change{added: keys[100:]}, c.version)
		w.q.query(w.s, &a)
		if (a.wrong > 0) != c.isWrong || a.present == 0 {
			t.Errorf("%s: %d of %d wrong", name, a.wrong, a.present)
		}
	}
}

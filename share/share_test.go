package share_test

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter"
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/internal/race"
	"github.com/umbel-filters/umbel/share"
	"github.com/umbel-filters/umbel/wire/delta"
	"github.com/umbel-filters/umbel/wire/hashtree"
	"golang.org/x/mod/sumdb/note"
)

// keys returns a key pair.
func keys(t testing.TB, name string) (note.Signer, note.Verifier) {
	t.Helper()
	private, public, err := note.GenerateKey(rand.Reader, name)
	if err != nil {
		t.Fatal(err)
	}
	signer, err := note.NewSigner(private)
	if err != nil {
		t.Fatal(err)
	}
	verifier, err := note.NewVerifier(public)
	if err != nil {
		t.Fatal(err)
	}
	return signer, verifier
}

// set is a bloom filter with k = 1 of a window of numbers, at a rate of 2 %.
func set(t testing.TB, m, from, to uint64) umbel.State {
	t.Helper()
	return setCells(t, 1, m, from, to)
}

// setCells is a bloom filter of a window of numbers, with m cells of which a key sets k.
func setCells(t testing.TB, k, m, from, to uint64) umbel.State {
	t.Helper()
	f, err := bloom.Kind.New(umbel.Goal{}, umbel.Params{{Name: "m", Value: umbel.Uint(m)}, {Name: "k", Value: umbel.Uint(k)}})
	if err != nil {
		t.Fatal(err)
	}
	for i := from; i < to; i++ {
		f.Add(f.Hasher().HashUint64(i))
	}
	return f.State()
}

// pair is a publication with one publisher and one subscriber.
type pair struct {
	t        testing.TB
	store    share.Store
	signer   note.Signer
	verifier note.Verifier
	now      time.Time
	p        *share.Publisher
}

func newPair(t testing.TB) *pair {
	p := &pair{t: t, store: new(share.Memory), now: time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC)}
	p.signer, p.verifier = keys(t, "example.org/set")
	p.publisher()
	return p
}

func (p *pair) clock() time.Time { return p.now }

func (p *pair) publisher(change ...func(*share.PublisherOptions)) {
	p.t.Helper()
	o := share.PublisherOptions{Store: p.store, Key: share.Key{Signer: p.signer, Verifier: p.verifier}, Now: p.clock}
	for _, c := range change {
		c(&o)
	}
	var err error
	p.p, err = share.NewPublisher(p.t.Context(), o)
	if err != nil {
		p.t.Fatal(err)
	}
}

func (p *pair) publish(s umbel.State) *share.Head {
	p.t.Helper()
	p.now = p.now.Add(time.Second)
	h, err := p.p.Publish(p.t.Context(), s)
	if err != nil {
		p.t.Fatal(err)
	}
	return h
}

func (p *pair) subscriber(o share.SubscriberOptions) *share.Subscriber {
	p.t.Helper()
	if o.Source == nil {
		o.Source = p.store
	}
	o.Verifier, o.Kinds, o.Now = p.verifier, filter.All, p.clock
	if o.Stale == 0 {
		o.Stale = share.StaleError
	}
	s, err := share.NewSubscriber(p.t.Context(), o)
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(s.Close)
	return s
}

func update(t testing.TB, s *share.Subscriber) {
	t.Helper()
	if err := s.Update(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// wantState fails unless the subscriber has exactly a state.
func wantState(t testing.TB, s *share.Subscriber, want umbel.State) {
	t.Helper()
	v := s.View()
	if v == nil || !v.Exact() || hashtree.Identify(v.Filter().State()) != hashtree.Identify(want) {
		t.Fatal("the subscriber has another state, or none that is exact")
	}
}

func TestPublishAndSubscribe(t *testing.T) {
	const n, m = 10_000, 500_000
	p := newPair(t)
	s := p.subscriber(share.SubscriberOptions{})
	if _, err := s.Has(umbel.Digest{}); !errors.Is(err, share.ErrStale) {
		t.Errorf("before the first version: %v", err)
	}
	if err := s.Update(t.Context()); !errors.Is(err, share.ErrNotFound) {
		t.Errorf("nothing published: %v", err)
	}
	for v := range uint64(100) {
		state := set(t, m, v*10, v*10+n)
		h := p.publish(state)
		if h.Version != v+1 {
			t.Fatalf("version %d, want %d", h.Version, v+1)
		}
		update(t, s)
		wantState(t, s, state)
		for i := v * 10; i < v*10+n; i += 997 {
			if ok, err := s.Has(state.Hasher.HashUint64(i)); !ok || err != nil {
				t.Fatalf("key %d: %v, %v", i, ok, err)
			}
		}
	}
	if c := s.Counters(); c.Versions != 100 || c.Resyncs != 0 || c.Objects > 102 {
		t.Errorf("%+v", c)
	}
}

// An update costs the bytes of the change, and a head of at most 500 bytes. The bounds are on the
// average of several sets; the bytes of one vary by a few.
func TestCost(t *testing.T) {
	race.Skip(t, "makes many versions, in one goroutine")
	const n, m, sets = 100_000, 5_000_000, 8
	for changed, want := range map[uint64]uint64{100: 365, 1000: 2700, 5000: 10_600} {
		sum, whole := uint64(0), uint64(0)
		for i := range uint64(sets) {
			first := i * 1e9
			p := newPair(t)
			p.publish(set(t, m, first, first+n))
			s := p.subscriber(share.SubscriberOptions{})
			update(t, s)
			before := s.Counters()
			whole += before.Bytes
			p.publish(set(t, m, first+changed, first+changed+n))
			update(t, s)
			sum += s.Counters().Bytes - before.Bytes
			if head, _ := p.store.Record(t.Context(), share.HeadName); len(head) > 500 {
				t.Errorf("the head has %d bytes:\n%s", len(head), head)
			}
		}
		t.Logf("%d of %d keys changed: %d bytes, the whole filter %d", changed, n, sum/sets, whole/sets)
		if sum/sets > want {
			t.Errorf("%d of %d keys changed: %d bytes, want at most %d", changed, n, sum/sets, want)
		}
	}
}

// A subscriber that missed versions needs few objects, and at most a quarter more bytes than in one
// delta.
func TestMissed(t *testing.T) {
	race.Skip(t, "makes many versions, in one goroutine")
	const n, m, c = 100_000, 5_000_000, 10
	p := newPair(t)
	late := make(map[uint64]*share.Subscriber)
	last := uint64(1200)
	if testing.Short() {
		last = 300
	}
	var states [2]umbel.State
	for v := range last {
		states[0], states[1] = states[1], set(t, m, v*c, v*c+n)
		p.publish(states[1])
		if missed := last - 1 - v; missed == 1000 || missed == 217 || missed == 37 || missed == 4 {
			s := p.subscriber(share.SubscriberOptions{})
			update(t, s)
			late[missed] = s
		}
	}
	for missed, s := range late {
		before := s.Counters()
		update(t, s)
		wantState(t, s, states[1])
		after := s.Counters()
		v := last - 1 - missed
		direct, err := delta.Encoder{}.AppendChange(nil, set(t, m, v*c, v*c+n), states[1])
		if err != nil {
			t.Fatal(err)
		}
		bytes, objects := after.Bytes-before.Bytes, after.Objects-before.Objects
		t.Logf("%d missed: %d objects, %d bytes, %.2f times one direct delta", missed, objects, bytes, float64(bytes)/float64(len(direct)))
		if objects > 8 || bytes > uint64(len(direct))*5/4 || after.Resyncs != 0 {
			t.Errorf("%+v", after)
		}
	}
	var objects int
	for range p.store.Objects(context.Background()) {
		objects++
	}
	t.Logf("%d objects in the store, %d bytes in the index", objects, p.p.Head().Index.Bytes)
}

// A publisher that is started for each version continues the ladder and removes old objects.
func TestRestartedPublisher(t *testing.T) {
	const n, m = 1000, 50_000
	p := newPair(t)
	s, late := p.subscriber(share.SubscriberOptions{}), p.subscriber(share.SubscriberOptions{})
	most := 0
	for v := range uint64(300) {
		state := set(t, m, 5*v, 5*v+n)
		h := p.publish(state)
		if h.Version != v+1 {
			t.Fatalf("version %d, want %d", h.Version, v+1)
		}
		update(t, s)
		wantState(t, s, state)
		if v == 50 || v == 299 {
			update(t, late)
			wantState(t, late, state)
		}
		if err := p.p.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		p.now = p.now.Add(time.Minute)
		p.publisher()
		objects := 0
		for range p.store.Objects(t.Context()) {
			objects++
		}
		most = max(most, objects)
	}
	if c := s.Counters(); c.Resyncs != 0 || c.Objects > 302 {
		t.Errorf("%+v", c)
	}
	if c := late.Counters(); c.Resyncs != 0 || c.Objects > 2+1+8 {
		t.Errorf("late: %+v", c)
	}
	if most > 600 {
		t.Errorf("up to %d objects", most)
	}
}

// A subscriber follows a publisher whose store was restored from a backup.
func TestPublisherSetBack(t *testing.T) {
	p := newPair(t)
	backup := new(share.Memory)
	s := p.subscriber(share.SubscriberOptions{Source: share.Source(swap{&p.store})})
	for v := range uint64(5) {
		if v == 3 {
			copyStore(t, backup, p.store)
		}
		p.publish(set(t, 5000, 5*v, 5*v+100))
		update(t, s)
	}
	p.store = backup
	p.publisher()
	for v := uint64(100); v < 104; v++ {
		state := set(t, 5000, 5*v, 5*v+100)
		p.publish(state)
		update(t, s)
		wantState(t, s, state)
	}
}

// A subscriber that missed the restoration has the same version with another state.
func TestPublisherSetBackUnseen(t *testing.T) {
	p := newPair(t)
	backup := new(share.Memory)
	s := p.subscriber(share.SubscriberOptions{Source: share.Source(swap{&p.store})})
	for v := range uint64(5) {
		if v == 3 {
			copyStore(t, backup, p.store)
		}
		p.publish(set(t, 5000, 5*v, 5*v+100))
	}
	update(t, s)
	p.store = backup
	p.publisher()
	p.publish(set(t, 5000, 500, 600))
	state := set(t, 5000, 505, 605)
	if h := p.publish(state); h.Version != s.View().Head().Version {
		t.Fatalf("version %d", h.Version)
	}
	update(t, s)
	wantState(t, s, state)
}

// swap is the current store of a pair.
type swap struct{ store *share.Store }

func (s swap) Record(ctx context.Context, name string) ([]byte, error) {
	return (*s.store).Record(ctx, name)
}

func (s swap) Object(ctx context.Context, name string, offset int64) (io.ReadCloser, error) {
	return (*s.store).Object(ctx, name, offset)
}

func copyStore(t *testing.T, dst, src share.Store) {
	t.Helper()
	for name := range src.Objects(t.Context()) {
		r, err := src.Object(t.Context(), name, 0)
		if err != nil {
			t.Fatal(err)
		}
		u, _ := dst.NewObject(t.Context())
		if _, err := io.Copy(u, r); err != nil {
			t.Fatal(err)
		}
		if err := u.Commit(t.Context(), name); err != nil {
			t.Fatal(err)
		}
	}
	head, err := src.Record(t.Context(), share.HeadName)
	if err != nil {
		t.Fatal(err)
	}
	if err := dst.PutRecord(t.Context(), share.HeadName, head); err != nil {
		t.Fatal(err)
	}
}

// A subscriber with a cache continues after a restart, and refuses heads that it has outgrown.
func TestRestartedSubscriber(t *testing.T) {
	p := newPair(t)
	cache := new(share.Memory)
	var old []byte
	for v := range uint64(100) {
		state := set(t, 50_000, 5*v, 5*v+1000)
		p.publish(state)
		s := p.subscriber(share.SubscriberOptions{Cache: cache})
		if v > 0 && !s.View().Exact() {
			t.Fatal("the version of the cache is not there")
		}
		if v == 50 {
			old, _ = p.store.Record(t.Context(), share.HeadName)
		}
		update(t, s)
		wantState(t, s, state)
		if c := s.Counters(); v > 0 && c.Objects != 1 {
			t.Fatalf("version %d: %+v", v+1, c)
		}
	}
	if err := p.store.PutRecord(t.Context(), share.HeadName, old); err != nil {
		t.Fatal(err)
	}
	s := p.subscriber(share.SubscriberOptions{Cache: cache})
	if err := s.Update(t.Context()); !errors.Is(err, share.ErrReplayed) {
		t.Errorf("an old head: %v", err)
	}
}

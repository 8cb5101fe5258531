package share_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/filter/sparse"
	"github.com/umbel-filters/umbel/share"
	"github.com/umbel-filters/umbel/wire"
	"github.com/umbel-filters/umbel/wire/hashtree"
	"golang.org/x/mod/sumdb/note"
)

// world is publishers, a carrier and a subscriber with clocks of their own, and the truth: what was
// signed, and when.
type world struct {
	rng     *rand.Rand
	key     string // the secret one
	history history
	carrier *carrier
	sites   []*site
	backup  *disk

	s       *share.Subscriber
	cache   *disk // nil without
	old     *disk // an earlier copy of the cache
	skewed  time.Duration
	view    *share.View
	shown   time.Duration // by how much the subscriber's clock was ahead when it accepted the view
	floor   time.Time     // the subscriber accepts no older head, unless it lost its cache
	expires time.Time     // the latest end of an accepted head
	stream  share.Stream  // the latest one that was accepted

	states  map[wire.ID]published
	signed  map[string]time.Time // the true time of each head
	compact bool                 // the subscriber keeps filters as lists
	folds   []uint64             // the classes that publishers offer
	slow    bool                 // the subscriber has a budget of bytes per second
	refold  bool                 // publishers change them
	trust   bool                 // the subscriber accepts every signature
	frozen  bool                 // the subscriber's clock always shows the time of its last head

	clockFaults bool
}

// published is a version as it was passed to Publish.
type published struct {
	state umbel.State
	keys  []uint64
}

// site is a publisher with its store, its clock and its set.
type site struct {
	w      *world
	p      *share.Publisher
	store  *disk
	skewed time.Duration
	keys   []uint64
	cells  uint64
	k      uint64
	folds  []uint64 // of the publisher
}

const (
	worldName = "example.org/faults"
	valid     = time.Minute
	period    = valid / 3
)

// Name, KeyHash, Sign and Verify make the world a signer and a verifier. A keyed hash is a tenth of
// the time of an Ed25519 signature.
func (w *world) Name() string    { return worldName }
func (w *world) KeyHash() uint32 { return 7 }

func (w *world) Sign(text []byte) ([]byte, error) {
	w.signed[string(text)] = time.Now()
	h := sha256.Sum256(append([]byte(w.key), text...))
	return h[:16], nil
}

func (w *world) Verify(text, signature []byte) bool {
	h := sha256.Sum256(append([]byte(w.key), text...))
	return w.trust || string(h[:16]) == string(signature)
}

func newWorld(rng *rand.Rand, key string) (*world, error) {
	w := &world{rng: rng, key: key, states: make(map[wire.ID]published), signed: make(map[string]time.Time)}
	w.carrier = &carrier{rng: rng, history: &w.history, forge: w.forged}
	w.compact = rng.IntN(4) == 0
	w.folds = [][]uint64{nil, {4}, {2, 8}}[rng.IntN(3)]
	if rng.IntN(4) > 0 {
		w.cache = newDisk(rng, nil)
	}
	if _, err := w.site(newDisk(rng, &w.history)); err != nil {
		return nil, err
	}
	return w, w.subscribe()
}

// site begins a publisher.
func (w *world) site(store *disk) (*site, error) {
	x := &site{w: w, store: store, cells: w.size(), k: 2}
	if w.compact {
		x.k = 1
	}
	if err := x.restart(); err != nil {
		return nil, err
	}
	w.sites = append(w.sites, x)
	w.carrier.stores = append(w.carrier.stores, store)
	return x, nil
}

// size returns a number of cells, which all classes divide into whole words.
func (w *world) size() uint64 {
	if len(w.folds) > 0 {
		return 8 * 64 << w.rng.IntN(4)
	}
	return 64 << w.rng.IntN(4)
}

func (x *site) now() time.Time { return time.Now().Add(x.skewed) }

func (x *site) restart() error {
	time.Sleep(time.Millisecond)
	p, err := share.NewPublisher(context.Background(), share.PublisherOptions{
		Store: x.store, Key: share.Key{Signer: x.w, Verifier: x.w}, Valid: valid, Grace: period, Now: x.now,
		Folds: x.w.folds, Kinds: umbel.Kinds{bloom.Kind},
	})
	if err == nil {
		x.p, x.folds = p, x.w.folds
	}
	return err
}

// change adds and removes keys, and at times changes the size of the filter.
func (x *site) change() {
	for range 1 + x.w.rng.IntN(4) {
		x.keys = append(x.keys, x.w.rng.Uint64())
	}
	if len(x.keys) > 20 {
		x.keys = slices.Delete(x.keys, 0, 5)
	}
	if x.w.rng.IntN(20) == 0 {
		x.cells = x.w.size()
	}
}

// publish publishes the set. After an error that requires it, it continues with a new publisher.
func (x *site) publish() error {
	f, err := bloom.Kind.New(umbel.Goal{}, umbel.Params{{Name: "m", Value: umbel.Uint(x.cells)}, {Name: "k", Value: umbel.Uint(x.k)}})
	if err != nil {
		return err
	}
	for _, k := range x.keys {
		f.Add(f.Hasher().HashUint64(k))
	}
	s := f.State()
	for _, r := range append([]uint64{1}, x.folds...) {
		folded, err := foldBloom(s, r)
		if err != nil {
			return err
		}
		x.w.states[hashtree.Identify(folded)] = published{folded, slices.Clone(x.keys)}
	}
	_, err = x.p.Publish(context.Background(), s)
	return x.again(err)
}

// foldBloom returns a state folded by r.
func foldBloom(s umbel.State, r uint64) (umbel.State, error) {
	f, err := bloom.Kind.Open(s.Clone())
	if err == nil {
		err = f.(umbel.Folder).Fold(r)
	}
	if err != nil {
		return umbel.State{}, err
	}
	return f.State(), nil
}

func (x *site) renew() error {
	if x.p.Head() == nil {
		return nil
	}
	_, err := x.p.Renew(context.Background())
	return x.again(err)
}

func (x *site) again(err error) error {
	if errors.Is(err, share.ErrFork) {
		return errors.Join(err, x.restart())
	}
	return err
}

func (w *world) now() time.Time {
	if w.frozen && w.view != nil {
		return w.view.Head().Time
	}
	return time.Now().Add(w.skewed)
}

// forged returns a head that another key has signed, and makes its objects available.
func (w *world) forged(record string) []byte {
	other, err := newWorld(w.rng, "another key")
	if err != nil {
		return nil
	}
	defer other.s.Close()
	x := other.sites[0]
	x.skewed = valid
	if err := x.publish(); err != nil {
		return nil
	}
	for name, b := range x.store.objects {
		w.sites[0].store.objects[name] = b
	}
	return x.store.records[record]
}

// subscribe starts a subscriber from the cache.
func (w *world) subscribe() error {
	if w.s != nil {
		w.s.Close()
	}
	if w.cache == nil {
		w.floor = time.Time{}
	}
	o := share.SubscriberOptions{
		Source: w.carrier, Verifier: w, Kinds: umbel.Kinds{bloom.Kind}, Stale: share.StaleError, Now: w.now,
		Budget: w.budget(), Compact: w.compact, Log: slog.New(slog.DiscardHandler),
	}
	if w.cache != nil {
		o.Cache = w.cache
	}
	s, err := share.NewSubscriber(context.Background(), o)
	w.s = s
	return err
}

// budget returns a budget, in most histories with classes one that selects among them.
func (w *world) budget() (b share.Budget) {
	w.slow = false
	if len(w.folds) == 0 && w.rng.IntN(4) > 0 || w.rng.IntN(4) == 0 {
		return b
	}
	b.Rate = []float64{0, 0.01, 0.05, 0.3, 0.9}[w.rng.IntN(5)]
	b.Start = []uint64{0, 0, 1, 60, 100}[w.rng.IntN(5)]
	b.BytesPerSecond = []uint64{0, 0, 50, 300}[w.rng.IntN(4)]
	w.slow = b.BytesPerSecond > 0
	if len(w.folds) > 0 {
		b.Memory = []uint64{0, 0, 128, 256}[w.rng.IntN(4)] // a quarter of the largest size, or more
	}
	return b
}

// check returns an error if the subscriber answers as exact what was not published in time.
func (w *world) check() (err error) {
	if last := w.s.Last(); last != nil {
		if last.Expires().After(w.expires) {
			w.expires = last.Expires()
		}
		if last.Stream.Compare(w.stream) > 0 {
			w.stream = last.Stream
		}
	}
	v := w.s.View()
	if v == nil {
		return nil
	}
	h := v.Head()
	if v != w.view {
		w.view, w.shown = v, w.skewed
		if h.Time.Before(w.floor) {
			return fmt.Errorf("version %d is older than one before", h.Version)
		}
		if ahead := h.Time.Sub(w.now()); ahead > time.Minute && v.Exact() {
			return fmt.Errorf("version %d is from the future by %v", h.Version, ahead)
		}
		w.floor = h.Time
	}
	if !v.Exact() {
		if _, err := w.s.Has(umbel.Digest{}); !errors.Is(err, share.ErrStale) {
			return fmt.Errorf("a stale view answers: %v", err)
		}
		return nil
	}
	at, ok := w.signedAt(h)
	if !ok {
		return fmt.Errorf("version %d was not signed", h.Version)
	}
	// The publisher's clock was ahead of the subscriber's by this time.
	ahead := h.Time.Sub(at) - w.shown
	if age := time.Since(at); age > valid+ahead {
		return fmt.Errorf("version %d is exact after %v, the clocks differ by %v", h.Version, age, ahead)
	}
	p := w.states[h.ID]
	state := v.Filter().State()
	if f, ok := v.Filter().(*sparse.Filter); ok {
		if state, err = f.Bloom(); err != nil {
			return err
		}
	}
	if !state.Equal(p.state) {
		return fmt.Errorf("version %d is another filter", h.Version)
	}
	for _, k := range p.keys {
		if has, err := w.s.Has(v.Filter().Hasher().HashUint64(k)); !has || err != nil {
			return fmt.Errorf("version %d: key %d: %v, %v", h.Version, k, has, err)
		}
	}
	return nil
}

// signedAt returns when a head was signed.
func (w *world) signedAt(h share.Head) (time.Time, bool) {
	// A note begins with its text.
	b, err := h.Sign(textSigner{})
	if err != nil {
		return time.Time{}, false
	}
	text, _, _ := strings.Cut(string(b), "\n\n")
	at, ok := w.signed[text+"\n"]
	return at, ok
}

// textSigner is a signer for the text of a head.
type textSigner struct{}

func (textSigner) Name() string                { return worldName }
func (textSigner) KeyHash() uint32             { return 0 }
func (textSigner) Sign([]byte) ([]byte, error) { return []byte("x"), nil }

var _ note.Signer = textSigner{}

package share_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/share"
	"github.com/umbel-filters/umbel/wire"
	"github.com/umbel-filters/umbel/wire/hashtree"
	"golang.org/x/mod/sumdb/note"
)

// TestUnions runs histories of regions that unite each other's publications, with faults: versions are lost, repeated, damaged and
// late, unions are killed and begin again with or without caches, stores fail, sources are cleared, set back, or publish no more.
//
// After each step, a union is, bit for bit, the filter of the keys of all versions that it has taken, at its size; and after a
// restart it has what it published before. When the faults are over, each union gets the keys of all sources that lead to it, and none
// publishes any more. UMBEL_LONG=1 runs 10^5 histories, and
// UMBEL_HISTORIES another number.
func TestUnions(t *testing.T) {
	histories := number(t, "UMBEL_HISTORIES", 500)
	switch {
	case os.Getenv("UMBEL_LONG") != "":
		histories = 100_000
	case testing.Short():
		histories = min(histories, 100)
	}
	var total unionCounts
	const bubble = 250
	for begin := 0; begin < histories; begin += bubble {
		synctest.Test(t, func(t *testing.T) {
			for i := begin; i < min(begin+bubble, histories); i++ {
				w := newUnionWorld(rand.New(rand.NewPCG(uint64(i), 2)))
				err := w.run()
				w.close()
				if err != nil {
					t.Fatalf("history %d: %v", i, err)
				}
				total.add(w.unionCounts)
			}
		})
	}
	t.Logf("%d histories: %+v", histories, total)
	if total.circles == 0 || total.restarts == 0 || total.failed == 0 || total.folded == 0 || total.set == 0 || total.taken < total.steps/4 {
		t.Error("the histories lack a fault, or unions take too few versions")
	}
}

// unionCounts count what histories had.
type unionCounts struct {
	circles, steps, taken, failed, restarts, set, folded, versions int
}

func (c *unionCounts) add(d unionCounts) {
	c.circles, c.steps, c.taken, c.failed = c.circles+d.circles, c.steps+d.steps, c.taken+d.taken, c.failed+d.failed
	c.restarts, c.set, c.folded, c.versions = c.restarts+d.restarts, c.set+d.set, c.folded+d.folded, c.versions+d.versions
}

// keySet are the keys of a version.
type keySet map[uint64]bool

// unionWorld is publications of regions: those of their own keys, and unions.
type unionWorld struct {
	rng     *rand.Rand
	cells   uint64 // of unions
	origins []*unionOrigin
	unions  []*unionSite
	keysOf  map[wire.ID]keySet // of the published versions
	quiet   bool               // the faults are over
	unionCounts
}

// unionPublication is a publisher, its store and its key.
type unionPublication struct {
	w     *unionWorld
	name  string
	store *disk
	saved *disk // a backup
	p     *share.Publisher
}

// unionOrigin publishes a set of keys.
type unionOrigin struct {
	unionPublication
	keys, backup keySet
	cells        uint64
	dead         bool
}

// unionSite is a union with its sources.
type unionSite struct {
	unionPublication
	u           *share.Union
	sources     []*unionPublication
	carriers    []*carrier
	caches      []*disk // nil without
	subscribers []*share.Subscriber
	cached      []*share.View // of the caches, after a restart
	keys        keySet        // of all versions that it has taken
	taken       []wire.ID     // the last version of each source
	published   keySet        // of its last head
}

// KeyHash, Name, Sign and Verify are a signer and a verifier, by a keyed hash.
func (p *unionPublication) Name() string    { return p.name }
func (p *unionPublication) KeyHash() uint32 { return 7 }
func (p *unionPublication) Sign(text []byte) ([]byte, error) {
	h := sha256.Sum256(append([]byte(p.name), text...))
	return h[:16], nil
}
func (p *unionPublication) Verify(text, signature []byte) bool {
	s, _ := p.Sign(text)
	return string(s) == string(signature)
}

var _ interface {
	note.Signer
	note.Verifier
} = (*unionPublication)(nil)

func newUnionWorld(rng *rand.Rand) *unionWorld {
	w := &unionWorld{rng: rng, cells: 64 << rng.IntN(4), keysOf: make(map[wire.ID]keySet)}
	regions := 2 + rng.IntN(3)
	for i := range regions {
		o := &unionOrigin{unionPublication: w.publication(fmt.Sprintf("origin%d", i)), keys: keySet{}, cells: w.cells << rng.IntN(3)}
		w.origins = append(w.origins, o)
		w.unions = append(w.unions, &unionSite{unionPublication: w.publication(fmt.Sprintf("union%d", i)), keys: keySet{}, published: keySet{}})
	}
	w.origins[rng.IntN(regions)].cells = w.cells
	mesh := rng.IntN(3) == 0
	for i, x := range w.unions {
		x.sources = append(x.sources, &w.origins[i].unionPublication)
		for j := range regions {
			switch {
			case i == j:
			case mesh:
				x.sources = append(x.sources, &w.origins[j].unionPublication)
			case j == (i+1)%regions || rng.IntN(3) == 0: // a circle, and more
				x.sources = append(x.sources, &w.unions[j].unionPublication)
			}
		}
		if !mesh {
			w.circles++
		}
		for range x.sources {
			x.carriers = append(x.carriers, nil)
			var cache *disk
			if rng.IntN(2) == 0 {
				cache = newDisk(rng, nil)
			}
			x.caches = append(x.caches, cache)
		}
	}
	return w
}

func (w *unionWorld) publication(name string) unionPublication {
	return unionPublication{w: w, name: name, store: newDisk(w.rng, new(history))}
}

// start starts a publisher.
func (p *unionPublication) start() error {
	time.Sleep(time.Millisecond)
	next, err := share.NewPublisher(context.Background(), share.PublisherOptions{Store: p.store, Key: share.Key{Signer: p, Verifier: p}, Valid: time.Hour})
	if err == nil {
		p.p = next
	}
	return err
}

// restore replaces the store by its backup.
func (p *unionPublication) restore() error {
	b := p.saved.clone()
	p.store.records, p.store.objects, p.store.failing = b.records, b.objects, 0
	return p.start()
}

// filterOf returns the filter of keys.
func filterOf(cells uint64, keys keySet) (umbel.State, error) {
	f, err := bloom.NewShape(bloom.Shape{M: cells, K: 2})
	if err != nil {
		return umbel.State{}, err
	}
	for k := range keys {
		f.Add(f.Hasher().HashUint64(k))
	}
	return f.State(), nil
}

// publish publishes a state with its keys, and reports whether there is a new version.
func (p *unionPublication) publish(s umbel.State, keys keySet) (bool, error) {
	var before uint64
	if h := p.p.Head(); h != nil {
		before = h.Version
	}
	id := hashtree.Identify(s) // the store may keep the head in spite of an error, and small filters of several sets are equal
	if p.w.keysOf[id] == nil {
		p.w.keysOf[id] = keySet{}
	}
	maps.Copy(p.w.keysOf[id], keys)
	h, err := p.p.Publish(context.Background(), s)
	if h == nil {
		if errors.Is(err, share.ErrFork) {
			err = errors.Join(err, p.start())
		}
		return false, err
	}
	return h.Version != before, nil
}

func (o *unionOrigin) publish() (bool, error) {
	s, err := filterOf(o.cells, o.keys)
	if err != nil {
		return false, err
	}
	return o.unionPublication.publish(s, o.keys)
}

// restart starts the union from what it published last, and its subscribers from their caches.
func (x *unionSite) restart() error {
	for _, s := range x.subscribers {
		s.Close()
	}
	if err := x.start(); err != nil {
		return err
	}
	x.keys = keySet{}
	if h := x.p.Head(); h != nil {
		x.keys = maps.Clone(x.w.keysOf[h.ID])
	}
	for k := range x.published {
		if !x.keys[k] {
			return fmt.Errorf("%s: key %d is lost by the restart", x.name, k)
		}
	}
	var err error
	if x.u, err = share.NewUnion(share.UnionOptions{Kinds: umbel.Kinds{bloom.Kind}, State: x.p.State()}); err != nil {
		return err
	}
	x.subscribers, x.cached, x.taken = nil, nil, make([]wire.ID, len(x.sources))
	for i, source := range x.sources {
		x.carriers[i] = &carrier{rng: x.w.rng, stores: []*disk{source.store}, history: source.store.history, forge: func(string) []byte { return []byte("forged") }}
		o := share.SubscriberOptions{Source: x.carriers[i], Verifier: source}
		if x.caches[i] != nil {
			o.Cache = x.caches[i]
		}
		s, err := x.u.Follow(context.Background(), source.name, o)
		if err != nil {
			return err
		}
		x.subscribers, x.cached = append(x.subscribers, s), append(x.cached, s.View())
	}
	return nil
}

// step looks for versions of some sources, unites and publishes. It reports whether there is a new version.
func (x *unionSite) step() (bool, error) {
	w := x.w
	w.steps++
	for i, s := range x.subscribers {
		x.carriers[i].faults = 0
		if !w.quiet {
			x.carriers[i].faults = []float64{0, 0.1, 0.5}[w.rng.IntN(3)]
		}
		if len(x.carriers[i].history.heads) == 0 || !w.quiet && w.rng.IntN(3) == 0 {
			continue
		}
		if err := s.Update(context.Background()); err != nil {
			w.failed++
		}
	}
	before := maps.Clone(x.keys)
	for i, s := range x.subscribers {
		for _, v := range []*share.View{x.cached[i], s.View()} {
			if v == nil || v.Head().ID == x.taken[i] {
				continue
			}
			x.taken[i] = v.Head().ID
			w.taken++
			if len(v.Filter().State().Arrays[0].Words)*64 > int(w.cells) {
				w.folded++
			}
			maps.Copy(x.keys, w.keysOf[v.Head().ID])
		}
		x.cached[i] = nil
	}
	update, err := x.u.Next(context.Background())
	if err != nil || x.u.Err() != nil {
		return false, errors.Join(err, x.u.Err())
	}
	if update == nil {
		if len(before) < len(x.keys) {
			return false, fmt.Errorf("%s: new keys are not united", x.name)
		}
		return false, nil
	}
	return x.put(update.State)
}

// put checks and publishes the state of the union.
func (x *unionSite) put(s umbel.State) (bool, error) {
	want, err := filterOf(x.w.cells, x.keys)
	if err != nil {
		return false, err
	}
	if !s.Equal(want) {
		return false, fmt.Errorf("%s: the union is not the filter of its keys", x.name)
	}
	isNew, err := x.publish(s, x.keys)
	if err != nil && !x.w.quiet {
		return false, x.again()
	}
	x.published = maps.Clone(x.keys)
	if isNew {
		x.w.versions++
	}
	return isNew, err
}

// again lets a union whose store failed begin again: a program would try to publish again.
func (x *unionSite) again() error {
	x.store.failing = 0
	return x.restart()
}

func (w *unionWorld) close() {
	for _, x := range w.unions {
		for _, s := range x.subscribers {
			s.Close()
		}
	}
}

// run runs a history.
func (w *unionWorld) run() error {
	for _, o := range w.origins {
		if err := o.start(); err != nil {
			return err
		}
	}
	// Each union begins with a source of its own size: otherwise that of the first version decides.
	smallest := w.origins[slices.IndexFunc(w.origins, func(o *unionOrigin) bool { return o.cells == w.cells })]
	if _, err := smallest.publish(); err != nil {
		return err
	}
	empty, err := filterOf(w.cells, keySet{})
	if err != nil {
		return err
	}
	for _, x := range w.unions {
		if err := x.start(); err != nil {
			return err
		}
		if _, err := x.publish(empty, keySet{}); err != nil {
			return err
		}
		if err := x.restart(); err != nil {
			return err
		}
	}
	for range 10 + w.rng.IntN(30) {
		time.Sleep(time.Duration(1 + w.rng.IntN(int(time.Minute))))
		if err := w.event(); err != nil {
			return err
		}
	}
	return w.converge()
}

// event does something that may happen.
func (w *unionWorld) event() error {
	o, x := w.origins[w.rng.IntN(len(w.origins))], w.unions[w.rng.IntN(len(w.unions))]
	switch n := w.rng.IntN(22); {
	case n < 5:
		if o.dead {
			return nil
		}
		o.keys[w.rng.Uint64()] = true
		_, err := o.publish()
		return err
	case n < 15:
		_, err := x.step()
		return err
	case n == 15:
		w.restarts++
		if i := w.rng.IntN(len(x.caches)); x.caches[i] != nil && w.rng.IntN(2) == 0 {
			x.caches[i] = newDisk(w.rng, nil)
		}
		return x.restart()
	case n == 16:
		x.store.failing = []float64{0, 0.05, 0.3}[w.rng.IntN(3)]
	case n == 17:
		o.backup, o.saved = maps.Clone(o.keys), o.store.clone()
		x.saved = x.store.clone()
	case n == 18 && !o.dead: // cleared or set back
		w.set++
		o.keys = maps.Clone(o.backup)
		if o.keys == nil {
			o.keys = keySet{}
		}
		_, err := o.publish()
		return err
	case n == 19:
		o.dead = w.rng.IntN(4) == 0
	case n == 20 && o.saved != nil && !o.dead: // versions repeat, with other keys
		w.set++
		o.keys = maps.Clone(o.backup)
		if err := o.restore(); err != nil {
			return err
		}
		o.keys[w.rng.Uint64()] = true
		_, err := o.publish()
		return err
	case n == 21 && x.saved != nil: // what only this union had is lost
		w.set++
		x.published = keySet{}
		return errors.Join(x.restore(), x.restart())
	}
	return nil
}

// converge lets all unions work without faults until none has a new version, and checks that each has all keys that lead to it.
func (w *unionWorld) converge() error {
	w.quiet = true
	want := make(map[string]keySet)
	for _, o := range w.origins {
		want[o.name] = keySet{}
		if h := o.p.Head(); h != nil {
			want[o.name] = w.keysOf[h.ID]
		}
	}
	for _, x := range w.unions {
		x.store.failing = 0
		if err := x.restart(); err != nil {
			return err
		}
		want[x.name] = maps.Clone(x.keys)
	}
	for range w.unions {
		for _, x := range w.unions {
			for _, s := range x.sources {
				maps.Copy(want[x.name], want[s.name])
			}
		}
	}
	for round := 0; ; round++ {
		changed := false
		for _, x := range w.unions {
			time.Sleep(time.Second)
			isNew, err := x.step()
			if err != nil {
				return err
			}
			changed = changed || isNew
		}
		if !changed {
			break
		}
		if round > len(w.unions) {
			return fmt.Errorf("the unions publish after %d rounds", round)
		}
	}
	for _, x := range w.unions {
		state, err := filterOf(w.cells, x.keys)
		if err != nil {
			return err
		}
		if !x.p.State().Equal(state) {
			return fmt.Errorf("%s has published another filter than that of its keys", x.name)
		}
		f, err := bloom.Kind.Open(state)
		if err != nil {
			return err
		}
		for k := range want[x.name] {
			if !f.Has(f.Hasher().HashUint64(k)) {
				return fmt.Errorf("%s lacks key %d", x.name, k)
			}
		}
	}
	return nil
}

package siblings

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/internal/faultlog"
	"github.com/umbel-filters/umbel/internal/sentinel"
	"github.com/umbel-filters/umbel/share"
	"github.com/umbel-filters/umbel/share/web"
)

// Mesh is a node among siblings: it publishes what its cache holds, and follows what the caches of its peers hold. Its
// methods are safe for concurrent use.
type Mesh struct {
	o           Options
	name        string
	pseudonym   string // the name, for the header Via
	held        *Held
	varies      varies
	samples     samples
	squid       squidKeys
	counters    counters
	unreached   faultlog.Fault         // the origin can't be reached
	unreachedBy atomic.Pointer[string] // error of the last such request
	cut         faultlog.Fault         // bodies of the origin break off
	noDigest    faultlog.Fault         // there is no cache digest for Squids

	peers        map[string]*peer
	order        []*peer // as they were given
	squids       []*peer // those without a publication
	publications share.Peers

	store       share.Memory
	publication *web.Handler
	summary     summary
	publisher   *share.Publisher
	published   publishState
	reports     chan absence
}

// New returns a mesh. It contacts no peers until Run is called. The error wraps umbel.ErrGoal if the options are incomplete or
// out of range, and share.ErrSignature if the halves of the key do not belong together.
func New(ctx context.Context, o Options) (*Mesh, error) {
	if err := o.complete(); err != nil {
		return nil, sentinel.Wrap(umbel.ErrGoal, err)
	}
	m := &Mesh{o: o, name: o.Key.Signer.Name(), held: NewHeld(o.MaxHeld), unreached: faultlog.Fault{Settle: settle},
		peers: map[string]*peer{}, reports: make(chan absence, maxReports)}
	m.pseudonym = pseudonym(m.name)
	if o.SquidDigest {
		m.squid.held = m.held
	}
	m.summary = summary{held: m.held, rate: o.Rate}
	var err error
	m.publisher, err = share.NewPublisher(ctx, share.PublisherOptions{
		Store: &m.store, Key: o.Key, Valid: validity(o.Period), PublishSeed: true, Log: o.Log,
	})
	if err != nil {
		return nil, err
	}
	for _, p := range o.Peers {
		x, err := newPeer(ctx, &m.o, p)
		if err != nil {
			return nil, err
		}
		m.peers[p.Name], m.order = x, append(m.order, x)
		if p.Squid != nil {
			m.squids = append(m.squids, x)
			continue
		}
		m.publications.Set(share.Peer{Name: p.Name, Subscriber: x.subscriber, Zone: p.Zone})
	}
	if err := m.publish(ctx); err != nil {
		return nil, err
	}
	m.publication = web.NewHandler(&m.store, web.HandlerOptions{})
	return m, nil
}

// validity is the time for which a head is valid: a node that ended is not tried for longer.
func validity(period time.Duration) time.Duration {
	return max(10*time.Second, (5*period + time.Second - 1).Truncate(time.Second))
}

// pseudonym returns a name with the characters that the header Via permits.
func pseudonym(name string) string {
	return strings.Map(func(c rune) rune {
		if c > ' ' && c < 0x7f && !strings.ContainsRune(`"(),/:;<=>?@[\]{}`, c) {
			return c
		}
		return '-'
	}, name)
}

// Run publishes what the cache holds, and follows the peers, until ctx ends. It returns the error of ctx, or one of publishing
// that repeating does not help: two publishers have the same key.
func (m *Mesh) Run(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var group sync.WaitGroup
	defer group.Wait()
	defer stop()
	defer m.publication.Close()
	for _, x := range m.order {
		group.Go(func() { x.run(ctx, &m.o) })
	}
	group.Go(func() { m.sendReports(ctx) })
	if m.o.ProbePeriod > 0 {
		group.Go(func() { m.probes(ctx) })
	}
	return m.publisher.Run(ctx, share.Feed{Next: m.next, Period: m.o.Period, WhenChanged: m.o.WhenChanged, Done: func(h *share.Head, _ error) { m.note(h) }})
}

// publish publishes what the cache holds, if that has changed.
func (m *Mesh) publish(ctx context.Context) error {
	u, err := m.next(ctx)
	if u == nil {
		return err
	}
	h, err := m.publisher.PublishChanged(ctx, u.State, u.Changed)
	m.note(h)
	return err
}

// note notes the last head, for the status.
func (m *Mesh) note(h *share.Head) { m.published.set(h, m.summary.size, m.summary.cells.Len) }

// next returns the filter of what the cache holds, nil if it has not changed since the last call.
func (m *Mesh) next(context.Context) (*share.Update, error) {
	for _, x := range m.order {
		x.watch(m.o.Log)
	}
	m.held.Expire(time.Now().Add(m.o.Period))
	changed, err := m.summary.update()
	if err != nil || !changed {
		return nil, err
	}
	return m.summary.next(), nil
}

// Added notes that the cache of this node has stored a response that is fresh until a time. The mesh calls it for what
// passes through its Transport or Handler; a cache that knows better calls it too.
func (m *Mesh) Added(k Key, until time.Time) {
	now := time.Now()
	if m.o.Keep > 0 && until.Sub(now) > m.o.Keep {
		until = now.Add(m.o.Keep)
	}
	if until.Sub(now) > 2*m.o.Period {
		m.held.Added(k, until)
	} else {
		m.held.Removed(k) // what it replaces was fresh for longer
	}
}

// Removed notes that the cache of this node no longer holds a response, and reports whether it was published.
func (m *Mesh) Removed(k Key) bool { return m.held.Removed(k) }

// Held returns the set of what the cache of this node holds.
func (m *Mesh) Held() *Held { return m.held }

// Key returns the key of a request, as requests through the mesh have it.
func (m *Mesh) Key(r *http.Request) Key { return KeyOf(r.URL, m.hostOf(r)) }

// hostOf returns the host that keys and requests to siblings have.
func (m *Mesh) hostOf(r *http.Request) string {
	switch {
	case m.o.Host != "":
		return m.o.Host
	case r.Host != "":
		return r.Host
	}
	return r.URL.Host
}

// Holds returns the peers whose caches may hold the response to r, those that should be tried first at the beginning: by zone,
// then by the expected time. Peers without a valid publication and suspended ones are not among them.
func (m *Mesh) Holds(r *http.Request) []Peer {
	k := m.Key(r)
	var list []Peer
	vary := m.varies.of(m.held.hash(k))
	for _, x := range m.holding(nil, wanted{k, k.Variant(vary, r.Header), vary, r.Header}) {
		list = append(list, x.describe())
	}
	return list
}

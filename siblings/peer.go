package siblings

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"sync/atomic"
	"time"

	"github.com/umbel-filters/umbel/filter"
	"github.com/umbel-filters/umbel/internal/event"
	"github.com/umbel-filters/umbel/internal/faultlog"
	"github.com/umbel-filters/umbel/internal/pause"
	"github.com/umbel-filters/umbel/share"
	"github.com/umbel-filters/umbel/share/web"
	"github.com/umbel-filters/umbel/wire"
	"golang.org/x/mod/sumdb/note"
)

// peer is a sibling: its publication, the address of its cache, and what is known of its speed.
type peer struct {
	PeerOptions
	subscriber *share.Subscriber           // nil of a Squid
	digest     atomic.Pointer[squidDigest] // of a Squid; nil until it was read
	cache      atomic.Pointer[url.URL]     // nil until its description was read
	suspension suspension
	logged     string         // problem.what of the problem that was logged last; only Mesh.Run uses it
	seen       uint64         // the number of failures at the last look; only Mesh.Run uses it
	fault      faultlog.Fault // problems of all kinds; they may come and go
	contact    *contact       // nil of a Squid
	roundTrip  average        // of answers, in seconds
	hitShare   average        // of the requests that were answered
	counters   peerCounters
}

// newPeer returns a sibling that nothing is known of yet.
func newPeer(ctx context.Context, o *Options, p PeerOptions) (*peer, error) {
	x := &peer{PeerOptions: p}
	if p.Squid != nil {
		x.cache.Store(p.URL)
		return x, nil
	}
	client, err := web.NewClient(p.URL.JoinPath(Path).String(), web.ClientOptions{HTTP: authorized(o), Poll: o.Period})
	if err != nil {
		return nil, err
	}
	x.contact = &contact{Client: client}
	x.subscriber, err = share.NewSubscriber(ctx, share.SubscriberOptions{
		Source: x.contact, Verifier: p.Verifier, Kinds: filter.All, Stale: share.StaleError, Compact: true,
		Limits: wire.Limits{Bytes: o.MaxPeerBytes},
	})
	return x, err
}

// retries are the pauses after failed requests to a peer.
var retries = pause.Doubling{First: 2 * time.Second, Most: 30 * time.Second}

// run follows the publication and the description of the peer until ctx ends.
func (x *peer) run(ctx context.Context, o *Options) {
	if x.Squid != nil {
		x.followSquid(ctx)
		return
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		x.subscriber.Run(ctx, max(o.Period, time.Second))
	}()
	client := authorized(o)
	retry := retries
	for delay := time.Duration(0); ctx.Err() == nil; pause.For(ctx, delay) {
		// Once per minute, since the cache may move.
		limited, cancel := context.WithTimeout(ctx, 10*time.Second)
		u, err := fetchDescription(limited, client, x.PeerOptions)
		cancel()
		if err == nil {
			x.cache.Store(u)
			x.counters.described(nil)
			retry.Reset()
			delay = time.Minute
		} else if ctx.Err() == nil {
			x.counters.described(err)
			delay = retry.Next()
		}
	}
	<-done
	x.subscriber.Close()
}

// watch logs when the reason changes for which the peer is not tried.
func (x *peer) watch(log *slog.Logger) {
	_, p := x.status()
	if failed := x.counters.failed.Load(); failed > x.seen {
		x.seen = failed
		if p == (problem{}) { // requests succeeded since then, but others failed
			p = problem{suspended, x.suspension.last()}
		}
	}
	log = log.With("peer", x.Name)
	switch p.what {
	case notRead:
	case "":
		x.fault.Succeeded(log).Info("a sibling is tried again", event.SiblingRecovered)
		x.logged = ""
	case x.logged:
	default:
		if log = x.fault.Failed(log); log.Enabled(context.Background(), slog.LevelWarn) { // otherwise a later look logs it
			log.Warn("a sibling is not tried", event.SiblingFailed, "error", p.String())
			x.logged = p.what
		}
	}
}

// authorized returns the client for what needs the token.
func authorized(o *Options) *http.Client {
	return &http.Client{Transport: bearer{o.HTTP, "Bearer " + o.Token}, CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse // the token is for the peer only
	}}
}

// bearer adds a token to requests.
type bearer struct {
	next  http.RoundTripper
	value string
}

// RoundTrip makes the request with the token.
func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", b.value)
	return b.next.RoundTrip(r)
}

// cost is the expected time until the peer has answered a request: what it takes on average, divided by the share of hits.
func (x *peer) cost() float64 { return x.roundTrip.value(0.001) / x.hitShare.value(1) }

// byCost orders peers: first those that should be tried first.
func byCost(a, b *peer) int {
	return cmp.Or(cmp.Compare(a.Zone, b.Zone), cmp.Compare(a.cost(), b.cost()), cmp.Compare(a.Name, b.Name))
}

// Peer is a sibling that may hold a key.
type Peer struct {
	Name string
	Zone int
	// RoundTrip is the average time of its answers, 0 before the first.
	RoundTrip time.Duration
	// HitShare is the share of requests that it answered, between 0 and 1; 1 before the first.
	HitShare float64
}

// wanted is the key of a request, and of the variant that it selects by the names of Vary, as far as these are known.
type wanted struct {
	key, variant Key
	vary         []string
	header       http.Header
}

// holding appends the peers that may hold what is wanted, and may be tried, in the order of their costs.
func (m *Mesh) holding(dst []*peer, w wanted) []*peer {
	now := time.Now()
	var buffer [16]*share.Peer
	text := []byte(w.key)
	for _, p := range m.publications.Who(buffer[:0], text) {
		x := m.peers[p.Name]
		if w.variant != w.key {
			if has, err := x.subscriber.HasString(string(w.variant)); !has || err != nil {
				continue
			}
		}
		if x.cache.Load() != nil && x.suspension.ready(now) {
			dst = append(dst, x)
		}
	}
	for _, x := range m.squids {
		if x.suspension.ready(now) && x.mayHold(w, now) {
			dst = append(dst, x)
		}
	}
	if len(dst) > 1 {
		slices.SortFunc(dst, byCost)
	}
	return dst
}

// PeerOptions describe a sibling.
type PeerOptions struct {
	// Name is what the status, the log and Mesh.Holds call it. No other peer has it. If it is empty, it is the name of
	// the Verifier.
	Name string
	// URL is the address of its sidecar.
	URL *url.URL
	// Verifier is the key of its publication, which is not the one of this node.
	Verifier note.Verifier
	// Squid has the cache digest of a sibling that is a Squid and has no sidecar. Then there is no Verifier, URL is the
	// address of its proxy, and it is requested from as from a proxy. Only http URLs are.
	Squid SquidSource
	// Zone is how far away it is: siblings of smaller zones are tried first.
	Zone int
}

// completePeers sets the names of peers, and returns an error for peers that no mesh can have.
func (o *Options) completePeers() error {
	o.Peers = slices.Clone(o.Peers) // those of the caller stay as they are
	names := map[string]bool{}
	for i := range o.Peers {
		p := &o.Peers[i]
		if p.Name == "" && p.Verifier != nil {
			p.Name = p.Verifier.Name()
		}
		err := checkAddress(p.URL)
		switch {
		case p.Name == "":
			return fmt.Errorf("peer %d of %d needs a name", i+1, len(o.Peers))
		case err != nil:
			return fmt.Errorf("peer %s: %w", p.Name, err)
		case p.Verifier == nil && p.Squid == nil:
			return fmt.Errorf("peer %s needs a public key, or the digest of a Squid", p.Name)
		case p.Verifier != nil && p.Squid != nil:
			return fmt.Errorf("peer %s has a public key and the digest of a Squid, want one of them", p.Name)
		case p.Verifier != nil && sameKey(p.Verifier, o.Key.Verifier):
			return fmt.Errorf("peer %s is this node itself", p.Name)
		case names[p.Name]:
			return fmt.Errorf("two peers have the name %s, want different names", p.Name)
		}
		names[p.Name] = true
	}
	return nil
}

// sameKey reports whether two public keys are the same: name and hash, as in the lines of signatures.
func sameKey(a, b note.Verifier) bool { return a.Name() == b.Name() && a.KeyHash() == b.KeyHash() }

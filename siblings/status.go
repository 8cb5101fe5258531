package siblings

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/umbel-filters/umbel/share"
)

// counters count what a mesh did.
type counters struct {
	requests, hits, origin, hops, evicted, errors, forbidden atomic.Uint64
}

// peerCounters count what one peer answered.
type peerCounters struct {
	hits, absent, refused, failed atomic.Uint64
	received                      atomic.Uint64          // bytes of the digests of a Squid
	description                   atomic.Pointer[string] // why it can't be read, "" if it can; nil before the first attempt
}

// described notes how an attempt to read the peer's description ended.
func (c *peerCounters) described(err error) {
	text := ""
	if err != nil {
		text = err.Error()
	}
	c.description.Store(&text)
}

// publishState is what was published last.
type publishState struct {
	mu    sync.Mutex
	head  *share.Head
	keys  int
	cells uint64
}

func (p *publishState) set(head *share.Head, keys int, cells uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if head != nil {
		p.head = head
	}
	p.keys, p.cells = keys, cells
}

// count counts an answer of the peer.
func (x *peer) count(how outcome) {
	switch how {
	case hit:
		x.counters.hits.Add(1)
		x.hitShare.add(1)
	case absent:
		x.counters.absent.Add(1)
		x.hitShare.add(0)
	case refused:
		x.counters.refused.Add(1)
		x.hitShare.add(0)
	}
}

// describe returns what Holds returns of a peer.
func (x *peer) describe() Peer {
	return Peer{
		Name: x.Name, Zone: x.Zone, HitShare: x.hitShare.value(1),
		RoundTrip: time.Duration(x.roundTrip.value(0) * float64(time.Second)),
	}
}

// Status is what a mesh did, for a page and for programs.
type Status struct {
	Name string `json:"name"`
	// Requests are all that reached the node; Hits those that siblings answered, and Origin those that went to the origin.
	Requests uint64 `json:"requests"`
	Hits     uint64 `json:"hits"`
	Origin   uint64 `json:"origin"`
	// Hops are requests of siblings that the own cache could not answer: each got a 504.
	Hops uint64 `json:"hops"`
	// Evicted counts responses that were thought to be held and were not.
	Evicted uint64 `json:"evicted"`
	// Errors counts requests for which the origin could not be reached.
	Errors uint64 `json:"errors"`
	// Outage is nil while the origin can be reached, as far as is known.
	Outage *Outage `json:"originUnreachable,omitempty"`
	// Forbidden counts requests for the publication without the token.
	Forbidden uint64 `json:"forbidden"`

	// Held is the number of published keys, and Cells the size of their filter in bits.
	Held    int       `json:"held"`
	Cells   uint64    `json:"cells"`
	Version uint64    `json:"version"`
	Signed  time.Time `json:"signed"` // of the last head

	Peers []PeerStatus `json:"peers"`
}

// Outage is that the origin can't be reached.
type Outage struct {
	Since time.Time `json:"since"` // the first request that failed, in UTC
	Error string    `json:"error"` // of the last one
}

// PeerStatus is what is known of a sibling.
type PeerStatus struct {
	Name  string `json:"name"`
	URL   string `json:"url"`
	Cache string `json:"cache,omitempty"` // the address of its cache
	Zone  int    `json:"zone"`
	// Problem is why the peer is not tried now; it is empty if it is.
	Problem string `json:"problem,omitempty"`
	// Lost is when its sidecar replied last, if a later request failed or if it has not renewed its head in time. Its cache is
	// tried until its head expires.
	Lost *time.Time `json:"lost,omitempty"`
	// Retry is when a suspended peer is tried again.
	Retry *time.Time `json:"retry,omitempty"`

	Version          uint64  `json:"version"`
	Hits             uint64  `json:"hits"`
	Absent           uint64  `json:"absent"`  // answers that its cache does not hold the response: false positives and evictions
	Refused          uint64  `json:"refused"` // responses that were stale, private or another variant
	Failed           uint64  `json:"failed"`
	RoundTripSeconds float64 `json:"roundTripSeconds"`
	Received         uint64  `json:"receivedBytes"` // of its publication
}

// Status returns what the mesh did until now.
func (m *Mesh) Status() Status {
	c := &m.counters
	s := Status{
		Name: m.name, Requests: c.requests.Load(), Hits: c.hits.Load(), Origin: c.origin.Load(), Hops: c.hops.Load(),
		Evicted: c.evicted.Load(), Errors: c.errors.Load(), Forbidden: c.forbidden.Load(), Peers: []PeerStatus{},
	}
	if since, lasts := m.unreached.Since(); lasts {
		s.Outage = &Outage{since.UTC(), *m.unreachedBy.Load()}
	}
	m.published.mu.Lock()
	s.Held, s.Cells = m.published.keys, m.published.cells
	if h := m.published.head; h != nil {
		s.Version, s.Signed = h.Version, h.Time
	}
	m.published.mu.Unlock()
	for _, x := range m.order {
		p, _ := x.status()
		s.Peers = append(s.Peers, p)
	}
	return s
}

// problem is the reason why a peer is not tried: what is wrong, and its cause, "" if none is known. The zero problem is none.
type problem struct{ what, cause string }

const (
	notRead   = "its publication was not read yet" // after the start
	suspended = "suspended"
)

func (p problem) String() string {
	if p.cause == "" {
		return p.what
	}
	return p.what + ": " + p.cause
}

// status returns the state of the peer. The problem is that of the state.
func (x *peer) status() (PeerStatus, problem) {
	c := &x.counters
	s := PeerStatus{
		Name: x.Name, URL: x.URL.String(), Zone: x.Zone,
		Hits: c.hits.Load(), Absent: c.absent.Load(), Refused: c.refused.Load(), Failed: c.failed.Load(),
		RoundTripSeconds: x.roundTrip.value(0), Received: c.received.Load(),
	}
	if u := x.cache.Load(); u != nil {
		s.Cache = u.String()
	}
	find := x.problem
	if x.Squid != nil {
		find = x.squidProblem
	} else if view := x.subscriber.View(); view != nil {
		s.Lost = x.contact.lost(view.Head(), time.Now())
	}
	p := find(&s)
	if reason, retry := x.suspension.state(); reason != "" {
		p, s.Retry = problem{suspended, reason}, &retry
	}
	s.Problem = p.String()
	return s, p
}

// problem returns why the publication can't be used, if it can't. It sets the version and the bytes received in s.
func (x *peer) problem(s *PeerStatus) problem {
	view := x.subscriber.View()
	if view != nil {
		s.Version = view.Head().Version
	}
	s.Received = x.subscriber.Counters().Received
	switch {
	case x.cache.Load() == nil:
		if text := x.counters.description.Load(); text != nil && *text != "" {
			return problem{"its description can't be read", *text}
		}
		return problem{what: notRead}
	case view == nil:
		if err := x.subscriber.Counters().Err; err != nil {
			return problem{"its publication can't be read", err.Error()}
		}
		return problem{what: notRead}
	case !view.Exact():
		return problem{what: "its publication is out of date"}
	}
	return problem{}
}

// squidProblem is problem for a peer that is a Squid.
func (x *peer) squidProblem(s *PeerStatus) problem {
	d := x.digest.Load()
	if d != nil {
		s.Version = d.number
	}
	switch text := x.counters.description.Load(); {
	case d.valid(time.Now()):
		return problem{}
	case text != nil && *text != "":
		return problem{"its digest can't be read", *text}
	case d != nil:
		return problem{what: "its digest is out of date"}
	}
	return problem{what: notRead}
}

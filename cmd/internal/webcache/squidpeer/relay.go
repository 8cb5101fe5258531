package squidpeer

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/umbel-filters/umbel/cmd/internal/report"
	"github.com/umbel-filters/umbel/filter/foreign/squid"
	"github.com/umbel-filters/umbel/internal/event"
	"github.com/umbel-filters/umbel/internal/faultlog"
	"github.com/umbel-filters/umbel/internal/pause"
)

const (
	// minWait is the least time between two fetches from a peer.
	minWait = 10 * time.Second
	// maxWait is the longest: a peer that restarts has another digest before the old one expires.
	maxWait = time.Hour
	// firstRetry is the time until the first attempt after a failure. Each further attempt waits twice as
	// long, up to maxRetry.
	firstRetry = 5 * time.Second
	maxRetry   = 5 * time.Minute
	// late is how long an expired digest is still served, with its Expires in the past, while the next one is
	// fetched. A Squid that gets 404 waits for minutes.
	late = time.Minute
)

// Peer is a Squid whose digest is relayed.
type Peer struct {
	Name string // in the path; see ParsePeer
	URL  string // of the digest, from URL
	// Publication, if it isn't nil, publishes the peer's digest as well. The relay closes it.
	Publication *Publication
}

// letters are what the name of a peer begins with.
const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

// checkName returns an error unless a peer may have the name.
func checkName(name string) error {
	if !isName(name) || "/"+name+"/store_digest" == Path {
		return fmt.Errorf("%.80q is no name of a peer; it consists of up to 64 letters, digits, dots, hyphens and underscores, "+
			"and is not squid-internal-periodic", name)
	}
	return nil
}

func isName(name string) bool {
	return name != "" && len(name) <= 64 && strings.Contains(letters, name[:1]) && strings.Trim(name, letters+"._-") == ""
}

// Options are the options of a relay.
type Options struct {
	Peers   []Peer // with different names
	Fetcher Fetcher
	Log     *slog.Logger
}

// Relay fetches the digests of some peers and serves them. Its methods are safe for concurrent use.
type Relay struct {
	o     Options
	peers []*peer
}

// New returns a relay that has no digest yet. It returns an error if names are invalid or not different.
func New(o Options) (*Relay, error) {
	r := &Relay{o: o}
	for _, p := range o.Peers {
		if err := checkName(p.Name); err != nil {
			return nil, err
		}
		if r.find(p.Name) != nil {
			return nil, fmt.Errorf("two peers have the name %s", p.Name)
		}
		r.peers = append(r.peers, &peer{Peer: p, fetcher: o.Fetcher, log: o.Log, status: Status{Name: p.Name, URL: p.URL, State: starting}})
	}
	if len(r.peers) == 0 {
		return nil, errors.New("give at least one peer")
	}
	return r, nil
}

func (r *Relay) find(name string) *peer {
	for _, p := range r.peers {
		if p.Name == name {
			return p
		}
	}
	return nil
}

// Run fetches digests until ctx ends, each peer's independently of the others. It returns after all fetches
// have ended.
func (r *Relay) Run(ctx context.Context) {
	var wg sync.WaitGroup
	for _, p := range r.peers {
		wg.Go(func() { p.run(ctx) })
	}
	wg.Wait()
}

// peer is a peer and its last digest.
type peer struct {
	Peer
	fetcher  Fetcher
	log      *slog.Logger
	failures int            // in a row; of the goroutine of run
	failing  faultlog.Fault // of fetches
	unset    faultlog.Fault // digests are not published

	mu     sync.Mutex
	served *served
	status Status
}

// served is a digest in the form for other Squids.
type served struct {
	body     []byte
	modified time.Time
	expires  time.Time
}

func (p *peer) run(ctx context.Context) {
	var publishing sync.WaitGroup
	publishing.Go(func() { p.Publication.run(ctx, p.published) })
	for ctx.Err() == nil {
		wait := p.look(ctx)
		p.update(func(s *Status) { s.Next = time.Now().Add(wait) })
		pause.For(ctx, wait)
	}
	publishing.Wait()
	if err := p.Publication.Close(context.WithoutCancel(ctx)); err != nil {
		p.log.Warn("a publication was not closed", event.PublicationClose, "peer", p.Name, "error", err)
	}
}

// look fetches the digest and returns the time until the next fetch.
func (p *peer) look(ctx context.Context) time.Duration {
	got, err := p.fetcher.Fetch(ctx, p.URL)
	var relayed squid.Digest
	if err == nil {
		relayed, err = got.Digest.Relayed()
	}
	var body []byte
	if err == nil {
		body, err = relayed.AppendBinary(nil)
	}
	if err != nil {
		if ctx.Err() == nil {
			p.failed(err)
		}
		p.failures++
		return min(firstRetry<<min(p.failures-1, 10), maxRetry)
	}
	p.failures = 0
	p.failing.Succeeded(p.log).Info("a peer's digest is fetched again", event.DigestRecovered, "peer", p.Name)
	now := time.Now()
	s := &served{body: body, modified: got.Modified, expires: now.Add(got.Valid)}
	if s.modified.IsZero() {
		s.modified = now
	}
	p.mu.Lock()
	p.served = s
	p.status = p.status.with(got, relayed, now)
	p.mu.Unlock()
	p.log.Debug("relaying a digest", "peer", p.Name, "objects", got.Digest.Count, "bytes", len(body), "expires", s.expires)
	if got.Valid <= 0 {
		return minWait // the peer is about to write the next one
	}
	if err := p.Publication.set(got.Digest, s.expires); err != nil {
		p.unset.FailedBy(p.log, err).Warn("a digest was not published", event.PublicationFailed, "peer", p.Name, "error", err)
		p.published(err)
	} else {
		p.unset.Succeeded(p.log).Info("digests are published again", event.PublicationRecovered, "peer", p.Name)
	}
	return min(max(got.Valid, minWait), maxWait)
}

// failed notes why there is no new digest.
func (p *peer) failed(err error) {
	state := failed
	if errors.Is(err, errNoDigest) {
		state = none
	}
	p.failing.FailedBy(p.log, err).Warn("a peer's digest was not fetched", event.DigestFailed, "peer", p.Name, "error", err)
	p.update(func(s *Status) {
		s.State, s.Reason = state, report.Text(err)
		s.Failures++
	})
}

// published notes why the digest is not published, or that it is.
func (p *peer) published(err error) {
	p.update(func(s *Status) {
		if s.Published = ""; err != nil && !errors.Is(err, errExpired) {
			s.Published = report.Text(err)
		}
	})
}

func (p *peer) update(change func(*Status)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change(&p.status)
}

// digest returns the digest unless it expired longer ago than grace. It returns nil if there is none.
func (p *peer) digest(grace time.Duration) *served {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.served == nil || time.Since(p.served.expires) >= grace {
		return nil
	}
	return p.served
}

package siblings

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/umbel-filters/umbel/filter/foreign/squid"
	"github.com/umbel-filters/umbel/internal/httptarget"
	"github.com/umbel-filters/umbel/internal/pause"
)

// SquidSource fetches the cache digest of a Squid. It must be safe for concurrent use.
type SquidSource interface {
	// Fetch returns the digest, and the time for which it is valid.
	Fetch(ctx context.Context) (*squid.Filter, time.Duration, error)
}

const (
	// leastSquidWait and mostSquidWait bound the time between two fetches of a digest: a Squid that restarts has another one
	// before the old one expires.
	leastSquidWait = 10 * time.Second
	mostSquidWait  = time.Hour
	// squidGrace is how long an expired digest is used while the next one is fetched.
	squidGrace = time.Minute
)

// squidDigest is the last digest of a Squid.
type squidDigest struct {
	filter  *squid.Filter
	expires time.Time
	number  uint64
}

// valid reports whether a digest may be used. d may be nil.
func (d *squidDigest) valid(now time.Time) bool {
	return d != nil && now.Before(d.expires.Add(squidGrace))
}

// followSquid fetches the digests of a Squid until ctx ends.
func (x *peer) followSquid(ctx context.Context) {
	retry := retries
	for delay := time.Duration(0); ctx.Err() == nil; pause.For(ctx, delay) {
		f, valid, err := x.Squid.Fetch(ctx)
		switch now := time.Now(); {
		case err == nil:
			last := x.digest.Load()
			d := &squidDigest{filter: f, expires: now.Add(valid), number: 1}
			if last != nil {
				d.number = last.number + 1
			}
			x.digest.Store(d)
			x.counters.described(nil)
			x.counters.received.Add(f.Shape().M / 8)
			retry.Reset()
			delay = min(max(valid, leastSquidWait), mostSquidWait)
		case ctx.Err() == nil:
			x.counters.described(err)
			delay = retry.Next()
		}
	}
}

// mayHold reports whether a Squid may hold what is wanted.
func (x *peer) mayHold(w wanted, now time.Time) bool {
	d := x.digest.Load()
	if !d.valid(now) {
		return false
	}
	key, ok := squidKey(w.key, nil, nil)
	if !ok || !d.filter.Has(key) || !strings.HasPrefix(string(w.key), "http:") {
		return false
	}
	if len(w.vary) > 0 {
		key, _ = squidKey(w.key, w.vary, w.header)
	}
	return d.filter.Has(key)
}

// proxyURL returns the URL of a request for u that is sent to a proxy at base: with the whole URL in its first line.
func proxyURL(base, u *url.URL, host string) *url.URL {
	path, _, _ := strings.Cut(httptarget.Of(u), "?")
	return &url.URL{Scheme: base.Scheme, Host: base.Host, Opaque: "//" + host + path, RawQuery: u.RawQuery, ForceQuery: u.ForceQuery}
}

// judgeSquid is judge for the response of a Squid, which has no stamp: a Squid counts Age and selects variants itself.
func judgeSquid(r *http.Request, res *http.Response, requested, arrived time.Time) (stamp, outcome) {
	vary, named := varyOf(res.Header)
	s := stamp{arrived, ageOf(res.Header, requested, arrived) + time.Second, sharedLife(r, res), variantOf(vary, r.Header)} // Age is rounded down
	if !named || !encodedFor(r.Header, res.Header) || !s.fresh(r) {
		return stamp{}, refused
	}
	return s, hit
}

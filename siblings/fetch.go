package siblings

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"time"
)

// HopHeader marks the request of a sibling. Its value is the name of the node that sent it. Most caches neither obey
// only-if-cached nor forward it, but all forward a header that they don't know: so the request reaches the sidecar behind a
// cache that does not hold the response.
const HopHeader = "Umbel-Sibling"

// idle is the time after which a body that does not continue is given up.
const idle = 10 * time.Second

// peek is the number of bytes of a body that are awaited before a response counts as one.
const peek = 2 << 10

// outcome is how a request to a sibling ended.
type outcome uint8

const (
	hit       outcome = iota
	absent            // the sibling does not hold the response
	refused           // it may not be used: it is stale, private or another variant
	failed            // no answer in time
	abandoned         // the client went away
)

// fetch requests a response from the cache of a peer. It returns it if it may be used for r, with its age and lifetime.
func (m *Mesh) fetch(x *peer, r *http.Request, patience time.Duration) (*http.Response, stamp, outcome) {
	now := time.Now()
	if patience <= 0 || !x.suspension.admits(now) {
		return nil, stamp{}, refused
	}
	ctx, cancel := context.WithCancel(r.Context())
	late := time.AfterFunc(patience, cancel)
	res, first, err := m.request(ctx, x, r)
	inTime := late.Stop()
	took := time.Since(now)
	reason := ""
	switch {
	case r.Context().Err() != nil:
		x.suspension.abandoned()
		discard(res, cancel)
		return nil, stamp{}, abandoned
	case !inTime:
		reason = fmt.Sprintf("no answer within %v", patience.Round(time.Millisecond))
	case err != nil:
		reason = err.Error()
	case res.StatusCode != http.StatusOK && res.StatusCode != http.StatusGatewayTimeout && res.StatusCode != http.StatusNotFound:
		reason = "its cache answers with status " + res.Status
	}
	x.suspension.ended(time.Now(), reason)
	if reason != "" {
		x.counters.failed.Add(1)
		discard(res, cancel)
		return nil, stamp{}, failed
	}
	x.roundTrip.add(took.Seconds())
	s, how := stamp{}, refused
	if x.Squid != nil {
		s, how = judgeSquid(r, res, now, time.Now())
	} else {
		s, how = judge(r, res, time.Now())
	}
	x.count(how)
	if how == absent && res.Header[HopHeader] == nil && x.Squid == nil {
		m.report(x, r)
	}
	if how != hit {
		discard(res, cancel)
		return nil, stamp{}, how
	}
	res.Body = &body{first: first, rest: res.Body, stalled: time.AfterFunc(idle, cancel), cancel: cancel}
	return res, s, hit
}

// request sends r to the cache of a peer, and waits for the beginning of the body.
func (m *Mesh) request(ctx context.Context, x *peer, r *http.Request) (*http.Response, []byte, error) {
	out := r.Clone(ctx)
	base := x.cache.Load()
	host := m.hostOf(r)
	if x.Squid != nil {
		out.URL = proxyURL(base, r.URL, host)
	} else {
		out.URL.Scheme, out.URL.Host = base.Scheme, base.Host
	}
	out.Host = host
	out.RequestURI, out.Body, out.ContentLength = "", nil, 0
	for name := range out.Header {
		switch name {
		case "Cookie", "Connection", "Proxy-Connection", "Keep-Alive", "Te", "Trailer", "Transfer-Encoding", "Upgrade", "Forwarded":
			delete(out.Header, name)
		}
	}
	out.Header.Set("Cache-Control", "only-if-cached")
	out.Header.Set(HopHeader, m.name)
	out.Header.Add("Via", "1.1 "+m.pseudonym)
	res, err := m.o.HTTP.RoundTrip(out)
	if err != nil || r.Method == http.MethodHead {
		return res, nil, err
	}
	first := make([]byte, peek)
	n, err := res.Body.Read(first)
	if err == io.EOF {
		err = nil
	}
	return res, first[:n], err
}

// discard ends a response that is not used. If its body has ended, its connection is used again.
func discard(res *http.Response, cancel context.CancelFunc) {
	if res != nil {
		res.Body.Close()
	}
	cancel()
}

// judge decides whether the response of a sibling may be used for a request. Siblings are not trusted: a response is used only
// if this node could have stored it, it is still fresh, and it was selected by equal headers.
func judge(r *http.Request, res *http.Response, now time.Time) (stamp, outcome) {
	if res.StatusCode != http.StatusOK {
		return stamp{}, absent
	}
	s, ok := parseStamp(res.Header.Get(StampHeader))
	life := min(s.life, sharedLife(r, res))
	vary, named := varyOf(res.Header)
	if !ok || !named || variantOf(vary, r.Header) != s.variant || !encodedFor(r.Header, res.Header) {
		return stamp{}, refused
	}
	s = stamp{now, s.ageAt(now, res.Header), life, s.variant}
	if !s.fresh(r) {
		return stamp{}, refused
	}
	return s, hit
}

// sharedLife is shareable for the answer to a GET or a HEAD.
func sharedLife(r *http.Request, res *http.Response) time.Duration {
	get := *r
	get.Method = http.MethodGet
	return shareable(&get, res)
}

// fresh reports whether a response of the age of s may be used for a request.
func (s stamp) fresh(r *http.Request) bool {
	limit := parseControl(r.Header).maxAge // Squid adds one of days to all requests that it forwards
	return s.age < s.life && (limit < 0 || s.age <= limit)
}

// body is the body of a sibling's response, of which the beginning has arrived.
type body struct {
	first   []byte
	rest    io.ReadCloser
	stalled *time.Timer
	cancel  context.CancelFunc
}

// Read reads the body. It returns an error if nothing arrives for the time idle.
func (b *body) Read(p []byte) (int, error) {
	if len(b.first) > 0 {
		n := copy(p, b.first)
		b.first = b.first[n:]
		return n, nil
	}
	b.stalled.Reset(idle)
	return b.rest.Read(p)
}

// Close ends the response.
func (b *body) Close() error {
	b.stalled.Stop()
	err := b.rest.Close()
	b.cancel()
	return err
}

package siblings

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptrace"
	"slices"
	"time"

	"github.com/umbel-filters/umbel/internal/hop"
)

// HopHeader marks the request of a sibling. Its value is the name of the node that sent it. Most caches neither obey
// only-if-cached nor forward it, but all forward a header that they don't know: so the request reaches the sidecar behind a
// cache that does not hold the response.
const HopHeader = "Umbel-Sibling"

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

// fetch requests a response from the cache of a peer. It returns it if it may be used for r, with its age and lifetime, and the beginning
// of its body has arrived. A hit is counted when its body has ended, and may then turn out to be a failure.
func (m *Mesh) fetch(x *peer, r *http.Request, patience time.Duration) (*http.Response, stamp, outcome) {
	began := time.Now()
	if patience <= 0 || !x.suspension.admits(began) {
		return nil, stamp{}, refused
	}
	ctx, cancel := context.WithCancel(untraced{r.Context()})
	late := time.AfterFunc(patience, cancel)
	res, err := m.request(ctx, x, r)
	if err != nil && !late.Stop() {
		err = fmt.Errorf("no answer within %v", patience.Round(time.Millisecond))
	}
	s, how := stamp{}, failed
	if err == nil {
		x.roundTrip.add(time.Since(began).Seconds())
		s, how, err = x.judge(r, res, began)
	}
	if how == hit && r.Method != http.MethodHead {
		var b *body
		if b, err = newBody(res, late, began.Add(patience), m.o.Patience, cancel); err == nil {
			b.ended = func(err error) { m.used(x, r, began, err) }
			res.Body = b
			return res, s, hit
		}
		how = failed
	}
	late.Stop()
	discard(res, cancel)
	switch {
	case how == failed && r.Context().Err() != nil:
		x.suspension.abandoned(began)
		return nil, stamp{}, abandoned
	case how == failed:
		x.fail(began, err)
	case how == hit:
		res.Body = http.NoBody
		m.used(x, r, began, nil)
	default:
		x.suspension.worked(began)
		x.count(how)
		if how == absent && res.Header[HopHeader] == nil && x.Squid == nil {
			m.report(x, r)
		}
	}
	return res, s, how
}

// untraced is a context without the trace of a request: interim answers (RFC 9110, section 15.2) of a sibling, which may then turn out not to be
// used, are not for the client.
type untraced struct{ context.Context }

// Value returns the value for a key.
func (c untraced) Value(key any) any {
	v := c.Context.Value(key)
	if _, ok := v.(*httptrace.ClientTrace); ok {
		return nil
	}
	return v
}

// used notes how the body of a response that was used for r ended. If its reader did not need it any more, the sibling did nothing wrong.
func (m *Mesh) used(x *peer, r *http.Request, began time.Time, err error) {
	switch {
	case err == nil:
		x.suspension.worked(began)
	case err == errClosed || r.Context().Err() != nil:
		x.suspension.abandoned(began)
	default:
		x.fail(began, broken(err))
		return
	}
	x.count(hit)
	m.counters.hits.Add(1)
}

// fail notes a failure of the peer.
func (x *peer) fail(began time.Time, err error) {
	x.suspension.failed(began, time.Now(), err.Error())
	x.counters.failed.Add(1)
}

// request sends r to the cache of a peer.
func (m *Mesh) request(ctx context.Context, x *peer, r *http.Request) (*http.Response, error) {
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
	hop.Remove(out.Header)
	delete(out.Header, "Cookie")
	delete(out.Header, "Forwarded")
	out.Header.Set("Cache-Control", "only-if-cached")
	out.Header.Set(HopHeader, m.name)
	if via := "1.1 " + m.pseudonym; !slices.Contains(out.Header["Via"], via) { // the sidecar has added it
		out.Header.Add("Via", via)
	}
	return m.o.HTTP.RoundTrip(out)
}

// discard ends a response that is not used. If its body has ended, its connection is used again.
func discard(res *http.Response, cancel context.CancelFunc) {
	if res != nil {
		res.Body.Close()
	}
	cancel()
}

// judge decides whether a response may be used for a request. The error is that of a sibling that does not work.
func (x *peer) judge(r *http.Request, res *http.Response, requested time.Time) (stamp, outcome, error) {
	switch res.StatusCode {
	case http.StatusOK:
	case http.StatusGatewayTimeout, http.StatusNotFound:
		return stamp{}, absent, nil
	default:
		return stamp{}, failed, errors.New("its cache answers with status " + res.Status)
	}
	if r.Method != http.MethodHead && endsWithConnection(res) {
		return stamp{}, refused, nil
	}
	s, how := stamp{}, refused
	if x.Squid != nil {
		s, how = judgeSquid(r, res, requested, time.Now())
	} else {
		s, how = judge(r, res, time.Now())
	}
	return s, how, nil
}

// endsWithConnection reports whether nothing but the end of the connection ends the body of a response: a part of it cannot be distinguished
// from the whole (RFC 9112, section 8).
func endsWithConnection(res *http.Response) bool {
	return res.Close && res.ProtoMajor < 2 && res.ContentLength < 0 && len(res.TransferEncoding) == 0
}

// judge decides whether the response of a sibling may be used for a request. Siblings are not trusted: a response is used only
// if this node could have stored it, it is still fresh, and it was selected by equal headers.
func judge(r *http.Request, res *http.Response, now time.Time) (stamp, outcome) {
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

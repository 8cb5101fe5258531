package httpcache

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"time"

	"github.com/umbel-filters/umbel/internal/event"
	"github.com/umbel-filters/umbel/internal/hop"
)

// outgoing returns the request of a flight, and its fields without those that the cache adds: the answer is one to them.
func (c *Cache) outgoing(ctx context.Context, r *http.Request, t target, f *flight) (out *http.Request, selecting http.Header) {
	selecting = r.Header.Clone()
	hop.Remove(selecting)
	removeUnkeyed(selecting)
	h := maps.Clone(selecting)
	c.stateScheme(h)
	if f.old != nil {
		delete(h, "Range")
		setConditions(h, &f.old.policy)
	}
	appendField(h, "Via", via(r.ProtoMajor, r.ProtoMinor, c.pseudonym))
	hop.KeepUserAgent(h)
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{Got1xxResponse: func(status int, header textproto.MIMEHeader) error {
		if status != http.StatusContinue {
			select {
			case f.interim <- interim{status, http.Header(header).Clone()}:
			default: // the leader has gone
			}
		}
		return nil
	}})
	out = &http.Request{Method: http.MethodGet, URL: t.url, Host: t.url.Host, Header: h, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1}
	return out.WithContext(ctx), selecting
}

// fly sends the request of a flight and handles the answer.
func (c *Cache) fly(ctx context.Context, f *flight, r *http.Request, t target) {
	out, selecting := c.outgoing(ctx, r, t, f)
	requested := time.Now()
	res, err := c.upstream.RoundTrip(out)
	received := time.Now()
	if old := f.old; old != nil && failed(res, err) && old.policy.usableOnError(f.asked, received, err != nil, c.disconnected) {
		detail := "origin-unreachable"
		if err == nil {
			detail = fmt.Sprintf("stale-if-error; fwd-status=%d", res.StatusCode)
			_ = res.Body.Close()
		} else {
			c.unreachable(t, err, true)
		}
		c.decide(f, result{answer: old, how: "fwd=stale; detail=" + detail, kind: staleOnError, unreachable: err != nil})
		c.land(f, func() {})
		return
	}
	if err != nil {
		c.unreachable(t, err, false)
		c.decide(f, result{err: err})
		c.land(f, func() {})
		return
	}
	if len(res.Header["Date"]) == 0 {
		res.Header["Date"] = []string{received.UTC().Format(http.TimeFormat)} // RFC 9110, section 6.6.1
	}
	appendField(res.Header, "Via", via(res.ProtoMajor, res.ProtoMinor, c.pseudonym))
	if f.old != nil && res.StatusCode == http.StatusNotModified && f.old.policy.confirms(res.Header, out.Header) {
		_ = res.Body.Close()
		c.refresh(f, out, r, selecting, res.Header, t, requested, received)
		return
	}
	c.learn(t, r, out.Header, res.StatusCode, res.Header, requested)
	if f.old != nil && res.StatusCode == http.StatusNotModified {
		_ = res.Body.Close()
		f.old = nil // the origin confirms another response: the client's own request remains
		c.fly(ctx, f, r, t)
		return
	}
	c.receive(f, out, res, selecting, t, requested, received)
}

// failed reports whether an answer is one for which stale-if-error permits a stale response (RFC 5861, section 4).
func failed(res *http.Response, err error) bool {
	if err != nil {
		return true
	}
	switch res.StatusCode {
	case 500, 502, 503, 504:
		return true
	}
	return false
}

// receive handles the answer of the origin to a flight, except a 304 that validates.
func (c *Cache) receive(f *flight, out *http.Request, res *http.Response, request http.Header, t target, requested, received time.Time) {
	d := responseDirectives(res.Header, c.origin != nil)
	p := newPolicy(res.StatusCode, res.Header, d, requested, received)
	authorized := len(request["Authorization"]) > 0
	var keep keeper
	ok := whole(out.Header, res.StatusCode, res.Header) && storable(authorized, f.asked, res.StatusCode, res.Header, &d, &p)
	tooLarge := ok && res.ContentLength > c.bodies.limit()
	if ok = ok && !tooLarge; ok {
		var err error
		if keep, err = c.bodies.keep(res.ContentLength); err != nil {
			c.unstored(err)
			ok = false
		}
	}
	// Otherwise the answer says nothing about those to other requests.
	ordinary := !authorized && len(out.Header["Range"]) == 0 && (f.old != nil || !isConditional(out.Header))
	if !ok {
		if ordinary && res.StatusCode != http.StatusNotModified && res.StatusCode != http.StatusPartialContent {
			c.passing.Set(t.key, struct{}{})
			if f.old != nil && res.StatusCode < 500 && !ofRequest(res.StatusCode) {
				c.index.drop(f.old) // it is not what the origin answers now
			}
		}
		how := forwardStatus(f.reason, res.StatusCode, false)
		if tooLarge {
			how += "; detail=too-large"
		}
		c.decide(f, result{alone: res, how: how})
		c.land(f, func() {})
		return
	}
	s := newStored(t.key, request, authorized, res.StatusCode, res.Header, p)
	sp := newSpool(keep, c.bodies.limit())
	first, _ := sp.reader() // before the body arrives, so that it has a reader
	if p.usable(&noDirectives, received) == useValidated {
		c.passing.Set(t.key, struct{}{}) // each client has to validate it
	} else {
		c.passing.Invalidate(t.key)
	}
	c.decide(f, result{answer: s, spool: sp, first: first, how: forwardStatus(f.reason, res.StatusCode, true)})
	c.store(f, s, sp, keep, res, request, t)
}

// forwardStatus returns the parameters of Cache-Status for an answer of the origin.
func forwardStatus(reason string, status int, isStored bool) string {
	how := fmt.Sprintf("fwd=%s; fwd-status=%d", reason, status)
	if isStored {
		how += "; stored"
	}
	return how
}

// store downloads the body of a flight and stores the response.
func (c *Cache) store(f *flight, s *stored, sp *spool, keep keeper, res *http.Response, request http.Header, t target) {
	buffer := buffers.Get().(*[smallFile]byte)
	n, err := io.CopyBuffer(struct{ io.Writer }{sp}, struct{ io.Reader }{res.Body}, buffer[:])
	buffers.Put(buffer)
	if err == nil && res.ContentLength >= 0 && n != res.ContentLength {
		err = io.ErrUnexpectedEOF
	}
	_ = res.Body.Close()
	c.land(f, func() {
		if err != nil || !sp.isWhole() {
			c.stats.Incomplete.Add(1)
			keep.discard()
			c.passing.Set(t.key, struct{}{})
			if fault := sp.fault(); fault != nil {
				c.unstored(fault)
			}
			return
		}
		if !f.valid() {
			keep.discard()
			return
		}
		b, err := keep.commit(s)
		if err != nil {
			keep.discard()
			c.unstored(err)
			return
		}
		c.stats.Stored.Add(1)
		c.storing.Succeeded(c.log).Info("responses are stored again", event.StoreRecovered)
		if !c.index.put(s.withBody(b), request, nil, f.valid) {
			b.remove()
		}
	})
	sp.end(err)
	if err != nil && !errors.Is(err, errUnread) {
		c.fault(t, err).Warn("the answer of the origin is incomplete", event.OriginIncomplete)
	}
}

// statusOf returns the status for clients if the origin has not answered.
func statusOf(err error) (status int, text string) {
	if errors.Is(err, hop.ErrMalformed) {
		return http.StatusBadGateway, "the answer of the origin is malformed"
	}
	var timeout net.Error
	if errors.As(err, &timeout) && timeout.Timeout() {
		return http.StatusGatewayTimeout, "the origin did not answer in time"
	}
	return http.StatusBadGateway, "the origin cannot be reached"
}

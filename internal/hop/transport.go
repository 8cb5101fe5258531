package hop

import (
	"fmt"
	"net/http"
	"net/http/httptrace"
	"strings"
)

// Transport returns a transport that sends requests with next and refuses or mends malformed answers. Requests that authenticate
// their connection are the last ones on it, so that no other client gets it. The error of an answer that cannot be mended
// wraps ErrMalformed. If next is a transport of net/http, Prepare has prepared it. The trailers of an answer are in
// its field Trailer when the body has been read, and announced by Announce. Interim answers are those of next. It is safe for concurrent use.
func Transport(next http.RoundTripper) http.RoundTripper { return transport{next} }

type transport struct{ next http.RoundTripper }

// RoundTrip sends a request.
func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if !r.Close && authenticatesConnection(r.Header) {
		r = r.WithContext(r.Context())
		r.Close = true
	}
	var used *conn
	trace := &httptrace.ClientTrace{GotConn: func(i httptrace.GotConnInfo) {
		if used, _ = i.Conn.(*conn); used != nil {
			used.begin()
		}
	}}
	res, err := t.next.RoundTrip(r.WithContext(httptrace.WithClientTrace(r.Context(), trace)))
	if err != nil {
		return nil, err
	}
	if used != nil {
		err = used.lost(res)
	}
	if err == nil {
		err = check(r, res)
	}
	if err != nil {
		_ = res.Body.Close()
		return nil, err
	}
	if res.StatusCode != http.StatusSwitchingProtocols && (res.ContentLength < 0 || len(res.Trailer) > 0) {
		res.Body = newTrailing(res)
	}
	return res, nil
}

// check returns an error wrapping ErrMalformed for an answer that must not be passed on, and mends others.
func check(r *http.Request, res *http.Response) error {
	if err := Mend(res.Header); err != nil {
		return err
	}
	switch status := res.StatusCode; {
	case status == http.StatusSwitchingProtocols:
		asked, got := r.Header.Get("Upgrade"), res.Header.Get("Upgrade")
		if asked == "" || !strings.EqualFold(asked, got) || !hasMember(res.Header["Connection"], "upgrade") {
			return fmt.Errorf("%w: it switches to the protocol %q instead of %q", ErrMalformed, got, asked)
		}
		return nil // the fields of the connection are those of the new protocol
	case status < 200 || status > 999:
		return fmt.Errorf("%w: status %d", ErrMalformed, status)
	}
	Remove(res.Header)
	return nil
}

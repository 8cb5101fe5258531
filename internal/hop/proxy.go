package hop

import (
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httputil"
	"strings"
	"time"
)

// patience is the time for the next bytes of a client.
const patience = time.Minute

// Proxy passes requests and answers on.
type Proxy struct {
	// Transport sends requests. It is one that function Transport returned, or is based on one.
	Transport http.RoundTripper
	// Request changes the request to the origin: it sets URL and Host. The fields are those of the client, without
	// those that concern one connection.
	Request func(out *http.Request)
	// Answer changes an answer before it is passed on. It may be nil.
	Answer func(*http.Response)
	// Fail answers if the origin did not. The error is that of Transport, or a *ClientError.
	Fail func(w http.ResponseWriter, r *http.Request, err error)
	// Patience is the time for the next bytes of a client in both directions, a minute if it is zero.
	Patience time.Duration
	// Buffers are for copying bodies; nil for new ones.
	Buffers httputil.BufferPool
}

// ServeHTTP passes a request on. Nothing of the request is used after it has returned. If the client goes away or the
// answer ends early, it panics with http.ErrAbortHandler, so that the client notices.
func (p Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if p.Patience == 0 {
		p.Patience = patience
	}
	b := newBody(w, r, p.Patience)
	defer b.end()
	wrapped := &writer{ResponseWriter: w, request: r, body: b, patience: p.Patience}
	if err := checkRequest(r); err != nil {
		if r.ProtoMajor == 1 {
			w.Header()["Connection"] = []string{"close"} // what follows may be no request
		}
		p.Fail(wrapped, r, &ClientError{http.StatusBadRequest, err})
		return
	}
	in := r.WithContext(r.Context()) // the server examines its own request
	if r.Body != nil && r.Body != http.NoBody {
		in.Body = b
	}
	proxy := httputil.ReverseProxy{
		Transport: origin{p.Transport}, FlushInterval: -1, BufferPool: p.Buffers, ErrorLog: silent,
		Rewrite: func(q *httputil.ProxyRequest) {
			q.Out.Header, q.Out.Trailer = fieldsToOrigin(r), b.trailers
			u := *r.URL
			q.Out.URL = &u
			// To reuse the connection after a refusal, the transport would let the client send the body.
			q.Out.Close = hasMember(r.Header["Expect"], "100-continue")
			if q.Out.ContentLength < 0 {
				q.Out.TransferEncoding = []string{"chunked"} // otherwise the transport would wait for the first byte of some methods
			}
			p.Request(q.Out)
		},
		ModifyResponse: func(res *http.Response) error {
			Announce(res.Header, res)
			if p.Answer != nil {
				p.Answer(res)
			}
			return nil
		},
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			gone := r.Context().Err() != nil
			if gone {
				b.settle()
			}
			var failed *originError
			switch fault := b.failed(); {
			case fault != nil:
				p.Fail(w, r, fault)
			case gone || !errors.As(err, &failed):
				panic(http.ErrAbortHandler)
			default:
				p.Fail(w, r, failed.error)
			}
		},
	}
	proxy.ServeHTTP(wrapped, in)
}

// checkRequest returns what is wrong with a request that net/http accepts. It ignores Transfer-Encoding in HTTP/1.0 and removes it, so that
// the body would be lost; but there a request with a body has a length (RFC 1945, section 7.2.2).
func checkRequest(r *http.Request) error {
	switch {
	case !isPrintable(r.Header.Get("Upgrade")):
		return errors.New("the protocol in Upgrade is no token")
	case !r.ProtoAtLeast(1, 1) && (r.Method == http.MethodPost || r.Method == http.MethodPut ||
		r.Method == http.MethodPatch) && len(r.Header["Content-Length"]) == 0:
		return errors.New("HTTP/1.0 without a length")
	}
	return nil
}

// silent is for messages about clients that go away. The others reach Fail.
var silent = log.New(io.Discard, "", 0)

// originError is an error of Transport. Others are those of a client that goes away while protocols are switched.
type originError struct{ error }

// origin marks the errors of a transport.
type origin struct{ next http.RoundTripper }

func (o origin) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := o.next.RoundTrip(r)
	if err != nil {
		return nil, &originError{err}
	}
	return res, nil
}

// fieldsToOrigin returns the fields of a request for the next connection.
func fieldsToOrigin(r *http.Request) http.Header {
	h := r.Header.Clone()
	Remove(h)
	if hasMember(r.Header["Te"], "trailers") {
		h["Te"] = []string{"trailers"}
	}
	// HTTP/2 in clear text would be a tunnel past the proxy; the way to it by Upgrade is obsolete (RFC 9113, section 3.1).
	if upgrade := r.Header.Get("Upgrade"); upgrade != "" && hasMember(r.Header["Connection"], "upgrade") && !hasMember(r.Header["Upgrade"], "h2c") {
		h["Connection"], h["Upgrade"] = []string{"Upgrade"}, []string{upgrade}
	}
	KeepUserAgent(h)
	return h
}

// KeepUserAgent makes a transport of net/http send the field User-Agent of a request as it is: it would add one, and send the
// first of several only.
func KeepUserAgent(h http.Header) {
	if values := h["User-Agent"]; len(values) != 1 || values[0] == "" {
		if len(values) > 0 {
			h["user-agent"] = values
		}
		h["User-Agent"] = []string{""}
	}
}

// hasMember reports whether a list field has a member, in any case.
func hasMember(values []string, member string) bool {
	for _, value := range values {
		for m := range strings.SplitSeq(value, ",") {
			if strings.EqualFold(strings.Trim(m, " \t"), member) {
				return true
			}
		}
	}
	return false
}

func isPrintable(s string) bool {
	return !strings.ContainsFunc(s, func(c rune) bool { return c < ' ' || c > '~' })
}

// writer is the writer of an answer.
type writer struct {
	http.ResponseWriter
	request  *http.Request
	body     *body
	patience time.Duration
}

// Unwrap is for http.ResponseController.
func (w *writer) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// WriteHeader sends an interim or the final answer. If the client is still sending its request, HTTP/1 has no way back to
// the next request but to read all of it, so the connection ends after this answer.
func (w *writer) WriteHeader(status int) {
	h := w.Header()
	switch {
	case status >= 200:
		if w.request.ProtoMajor == 1 && !w.body.isWhole() {
			h["Connection"] = []string{"close"}
		}
		Keep(h, status)
		w.extend()
	case status == http.StatusContinue: // the server sends it when the transport reads the body, which is after the one of the origin
		return
	case !w.request.ProtoAtLeast(1, 1): // which has no interim answers (RFC 9110, section 15.2)
		return
	default:
		if Mend(h) != nil {
			return
		}
		Remove(h)
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write gives the client the patience to take these bytes.
func (w *writer) Write(p []byte) (int, error) {
	w.extend()
	return w.ResponseWriter.Write(p)
}

func (w *writer) extend() {
	_ = http.NewResponseController(w.ResponseWriter).SetWriteDeadline(time.Now().Add(w.patience))
}

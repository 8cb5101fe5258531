package hop

import (
	"io"
	"net/http"
	"slices"
	"strings"
)

// notInTrailers are fields that a trailer section must not have (RFC 9110, section 6.5.1), since they frame, route,
// authenticate or describe the message before it.
var notInTrailers = []string{
	"Authorization", "Cache-Control", "Content-Encoding", "Content-Length", "Content-Range", "Content-Type", "Expect", "Host",
	"Max-Forwards", "Pragma", "Range", "Realm", "Set-Cookie", "Www-Authenticate",
}

// mendTrailers mends a trailer section and removes what it must not have.
func mendTrailers(h http.Header) error {
	if err := Mend(h); err != nil {
		return err
	}
	Remove(h)
	for name := range h {
		if !mayTrail(name) {
			delete(h, name)
		}
	}
	return nil
}

// mayTrail reports whether a field may be in a trailer section.
func mayTrail(name string) bool {
	return !slices.Contains(notInTrailers, name) && !slices.Contains(oneHop, name) && !strings.HasPrefix(name, "If-")
}

// trailing is the body of an answer that may have trailers.
type trailing struct {
	io.ReadCloser
	res       *http.Response
	announced []string
}

// newTrailing returns the body of an answer. The announced names are moved from res.Trailer to it: net/http would take a field of the
// head for a trailer of the same name.
func newTrailing(res *http.Response) *trailing {
	b := &trailing{res.Body, res, nil}
	for name := range res.Trailer {
		if _, ok := res.Header[name]; !ok && mayTrail(name) {
			b.announced = append(b.announced, name)
		}
	}
	slices.Sort(b.announced)
	res.Trailer = nil
	return b
}

// Read reads the body and mends the trailers after it.
func (b *trailing) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err == io.EOF {
		if malformed := mendTrailers(b.res.Trailer); malformed != nil {
			err = malformed
		}
	}
	return n, err
}

// Announce sets the field Trailer of an answer that is passed on to the names that the answer of Transport announced. If its body is around the
// one of Transport, it has a method Unwrap that returns that.
func Announce(h http.Header, res *http.Response) {
	body := res.Body
	for {
		switch b := body.(type) {
		case *trailing:
			if len(b.announced) > 0 && (res.Request == nil || res.Request.Method != http.MethodHead) {
				h["Trailer"] = []string{strings.Join(b.announced, ", ")}
				delete(h, "Content-Length") // HTTP/2 may have both, HTTP/1.1 has trailers after chunks only
			}
			return
		case interface{ Unwrap() io.ReadCloser }:
			body = b.Unwrap()
		default:
			return
		}
	}
}

// SendTrailers sends the trailers of an answer whose body has been read and sent.
func SendTrailers(w http.ResponseWriter, res *http.Response) {
	if len(res.Trailer) > 0 {
		_ = http.NewResponseController(w).Flush() // the server would give a short body a length, and leave out its trailers
	}
	for name, values := range res.Trailer {
		w.Header()[http.TrailerPrefix+name] = values
	}
}

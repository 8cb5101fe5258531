package httpcache

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/umbel-filters/umbel/internal/hop"
)

// answer answers a GET or HEAD from a complete stored response, and counts it. The status is what Cache-Status says, or empty for a
// hit. The error is that of the body's open, and nothing is written or counted, if the body has been removed or was damaged.
func (c *Cache) answer(w http.ResponseWriter, r *http.Request, s *stored, now time.Time, status string, count *atomic.Uint64) error {
	body, err := s.body.open()
	if err != nil {
		c.index.drop(s)
		return err
	}
	defer body.close()
	count.Add(1) // here, since a client may go away while the body is sent
	h := w.Header()
	maps.Copy(h, s.header)
	m := s.at(s.policy.age(now), c.name)
	h["Age"] = m.age
	h["Cache-Status"] = m.hit
	if status != "" {
		h["Cache-Status"] = s.header["Cache-Status"]
		appendField(h, "Cache-Status", status)
	}
	code, part := s.status, span{0, s.body.size()}
	if code == http.StatusOK && len(r.Header) > 0 {
		code, part = c.select200(h, r, s, part)
	}
	hop.Keep(h, code)
	if code != http.StatusOK {
		w.WriteHeader(code)
	}
	if r.Method == http.MethodHead || !hasBody(code) || part.length == 0 {
		return nil
	}
	if err := body.send(w, part); err != nil {
		panic(http.ErrAbortHandler) // the client has gone, or must notice that the body is incomplete
	}
	return nil
}

// select200 applies the conditions and the range of a request to a response with status 200. The length of the whole
// is -1 if it is not known; then no range applies. Ranges are for GET only (RFC 9110, section 14.2).
func (c *Cache) select200(h http.Header, r *http.Request, s *stored, whole span) (int, span) {
	request := r.Header
	if (len(request["If-None-Match"]) > 0 || len(request["If-Modified-Since"]) > 0) && notModified(request, &s.policy) {
		removeContent(h)
		return http.StatusNotModified, span{}
	}
	values := request["Range"]
	if len(values) == 0 || r.Method != http.MethodGet || whole.length < 0 || len(s.header["Content-Range"]) > 0 || !rangeApplies(request, &s.policy) {
		return http.StatusOK, whole
	}
	part, ok := parseRange(values, whole.length)
	if !ok {
		return http.StatusOK, whole
	}
	if part.length == 0 {
		h["Content-Range"] = []string{fmt.Sprintf("bytes */%d", whole.length)}
		h["Content-Length"] = []string{"0"}
		return http.StatusRequestedRangeNotSatisfiable, span{}
	}
	h["Content-Range"] = []string{fmt.Sprintf("bytes %d-%d/%d", part.first, part.first+part.length-1, whole.length)}
	h["Content-Length"] = []string{strconv.FormatInt(part.length, 10)}
	return http.StatusPartialContent, part
}

// removeContent removes the fields that a 304 does not have (RFC 9110, section 15.4.5).
func removeContent(h http.Header) {
	for _, name := range []string{"Content-Length", "Content-Type", "Content-Encoding", "Content-Language", "Content-Range"} {
		delete(h, name)
	}
}

// follow answers with the result of a flight. It returns false, and has written nothing, if the result is not for this
// client.
func (c *Cache) follow(w http.ResponseWriter, r *http.Request, asked *directives, f *flight, leads bool) (done bool) {
	how := c.name + "; " + f.how
	if !leads {
		how += "; collapsed"
	}
	switch {
	case f.err != nil:
		status, text := statusOf(f.err)
		c.fail(w, status, text)
		return true
	case f.alone != nil && leads:
		defer release(f)
		c.stats.Misses.Add(1)
		c.passOn(w, f.alone, how)
		return true
	case f.alone != nil || !leads && !c.satisfies(f, r.Header, asked):
		return false
	case f.spool == nil:
		return c.answer(w, r, f.answer, time.Now(), how, c.counter(f, leads)) == nil
	default:
		reader := f.first
		if !leads {
			var ok bool
			if reader, ok = f.spool.reader(); !ok {
				return false
			}
		}
		defer reader.Close()
		reader.during(r.Context())
		c.counter(f, leads).Add(1)
		c.answerArriving(w, r, f.answer, reader, how)
		return true
	}
}

// satisfies reports whether the answer of a flight may be used for a request that did not cause it (RFC 9111, section 4): as
// if it were stored already.
func (c *Cache) satisfies(f *flight, request http.Header, asked *directives) bool {
	s, now := f.answer, time.Now()
	switch {
	case f.only || !s.matches(request):
		return false
	case f.kind == staleOnError:
		return s.policy.usableOnError(asked, now, f.unreachable, c.disconnected)
	}
	return s.policy.usable(asked, now) != useValidated
}

// counter returns what counts an answer with the result of a flight.
func (c *Cache) counter(f *flight, leads bool) *atomic.Uint64 {
	switch {
	case f.kind == staleOnError:
		return &c.stats.Stale
	case f.kind == hit:
		return &c.stats.Hits
	case !leads:
		return &c.stats.Collapsed
	case f.kind == validated:
		return &c.stats.Validated
	}
	return &c.stats.Misses
}

// answerArriving answers with a response whose body is arriving.
func (c *Cache) answerArriving(w http.ResponseWriter, r *http.Request, s *stored, reader *spoolReader, how string) {
	h := w.Header()
	maps.Copy(h, s.header)
	h["Age"] = s.at(s.policy.age(time.Now()), c.name).age
	appendField(h, "Cache-Status", how)
	code, part := s.status, span{0, -1}
	if n := h["Content-Length"]; len(n) == 1 {
		if size, ok := digits(n[0]); ok {
			part.length = size
		}
	}
	if code == http.StatusOK {
		code, part = c.select200(h, r, s, part)
	}
	hop.Keep(h, code)
	w.WriteHeader(code)
	if !hasBody(code) || part.length == 0 {
		return
	}
	if code == http.StatusPartialContent {
		if _, err := io.CopyN(io.Discard, reader, part.first); err != nil {
			panic(http.ErrAbortHandler)
		}
	}
	body := io.Reader(reader)
	if part.length > 0 {
		body = io.LimitReader(reader, part.length) // does not wait for the end, after the last byte
	}
	if err := stream(w, body, reader.caughtUp); err != nil {
		panic(http.ErrAbortHandler) // the client must notice that the body is incomplete
	}
}

// passOn answers with a response of the origin that is not stored.
func (c *Cache) passOn(w http.ResponseWriter, res *http.Response, how string) {
	h := w.Header()
	maps.Copy(h, res.Header)
	appendField(h, "Cache-Status", how)
	hop.Announce(h, res)
	hop.Keep(h, res.StatusCode)
	w.WriteHeader(res.StatusCode)
	if err := stream(w, res.Body, func() bool { return res.ContentLength < 0 }); err != nil {
		panic(http.ErrAbortHandler)
	}
	hop.SendTrailers(w, res)
}

package siblings

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/umbel-filters/umbel/internal/pace"
)

const (
	// ahead is the number of bytes of a body that arrive before the first one is passed on: until then, the origin can answer instead.
	ahead = 32 << 10
	// window and leastBytes bound how slowly a body may arrive: leastBytes in each window, which is 1 KiB/s.
	window     = 10 * time.Second
	leastBytes = 10 << 10
)

// body is the body of a sibling's response. Whether the sibling works is decided when the body has ended.
type body struct {
	first  []byte // has arrived and was not read
	err    error  // after first, if the body has ended
	rest   io.ReadCloser
	from   io.Reader // rest, with a least rate
	cancel context.CancelFunc
	ended  func(err error)             // is called once: with nil at the end, errClosed if the body is not read to its end, or what went wrong
	passed int64                       // bytes that were read
	others func(n int64) io.ReadCloser // returns what comes after n bytes from elsewhere, or nil
}

// ErrSibling is wrapped by the error of the body of a sibling's response that broke off or was too slow. The mesh has suspended the sibling.
var ErrSibling = errors.New("the response of a sibling is incomplete")

// errClosed is the end of a body that its reader did not need any more.
var errClosed = errors.New("closed")

// newBody returns the body of a response whose beginning has arrived: it is whole, or ahead bytes, or what arrived fast enough until
// enough. Each read must return before timer calls stop: the timer runs, and is set again to pause for each further read.
func newBody(res *http.Response, timer *time.Timer, enough time.Time, pause time.Duration, stop context.CancelFunc) (*body, error) {
	size, room := int64(ahead), int64(peek)
	if res.ContentLength >= 0 {
		size = min(size, res.ContentLength)
		room = max(size, 1)
	}
	b := &body{rest: res.Body, first: make([]byte, 0, room), cancel: stop}
	began := time.Now()
	for ; ; timer.Reset(pause) {
		if len(b.first) == cap(b.first) {
			b.first = append(b.first, 0)[:len(b.first)]
		}
		n, err := res.Body.Read(b.first[len(b.first):min(int64(cap(b.first)), max(size, 1))])
		b.first = b.first[:len(b.first)+n]
		inTime := timer.Stop()
		now := time.Now()
		took := now.Sub(began)
		switch {
		case err == io.EOF:
			b.err = err
			return b, nil
		case !inTime:
			return nil, fmt.Errorf("the body stops after %d bytes", len(b.first))
		case err != nil:
			return nil, broken(err)
		case int64(len(b.first)) >= size:
		case now.Before(enough):
			continue
		case time.Duration(len(b.first))*window < took*leastBytes:
			return nil, pace.ErrSlow
		}
		b.from = pace.NewReader(res.Body, window, leastBytes, stop)
		return b, nil
	}
}

// broken is the error of a body that broke off.
func broken(err error) error {
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("the body breaks off")
	case errors.Is(err, pace.ErrSlow):
		return err
	}
	return fmt.Errorf("the body breaks off: %w", err)
}

// Unwrap is for hop.Announce.
func (b *body) Unwrap() io.ReadCloser { return b.rest }

// Read reads the body. If it breaks off, it continues with the others.
func (b *body) Read(p []byte) (n int, err error) {
	if len(b.first) > 0 {
		n = copy(p, b.first)
		b.first = b.first[n:]
		b.passed += int64(n)
		if len(b.first) > 0 || b.err == nil {
			return n, nil
		}
	}
	if b.err == nil {
		n, b.err = b.from.Read(p)
		b.passed += int64(n)
	}
	switch {
	case b.err == nil:
	case b.err == io.EOF:
		b.end(nil)
	case b.ended == nil: // the others broke off
	default:
		b.end(b.err)
		others := b.others(b.passed)
		if others == nil {
			b.err = fmt.Errorf("%w: %w", ErrSibling, b.err)
			break
		}
		b.rest.Close()
		b.rest, b.from, b.err = others, others, nil
	}
	return n, b.err
}

// end reports how the body ended.
func (b *body) end(err error) {
	if b.ended != nil {
		b.ended(err)
		b.ended = nil
	}
}

// Close ends the response.
func (b *body) Close() error {
	b.end(errClosed)
	err := b.rest.Close()
	b.cancel()
	return err
}

// rest requests the bytes from n on of a response that broke off from the origin. It returns nil if the origin does not answer with exactly
// these: equal strong tags mean equal bytes (RFC 9110, section 8.8.1), also if one came from a cache, and the request selects the same variant.
func (t transport) rest(r *http.Request, begun http.Header, length, n int64) io.ReadCloser {
	tag := begun.Get("Etag")
	if !strings.HasPrefix(tag, `"`) || r.Method != http.MethodGet {
		return nil
	}
	out := r.Clone(untraced{r.Context()})
	out.Header.Set("Range", fmt.Sprintf("bytes=%d-", n))
	out.Header.Set("If-Range", tag)
	res, err := t.origin.RoundTrip(out)
	if err != nil {
		return nil
	}
	t.mesh.counters.origin.Add(1)
	h := res.Header
	if res.StatusCode != http.StatusPartialContent || h.Get("Etag") != tag || h.Get("Content-Encoding") != begun.Get("Content-Encoding") || !isRest(h, n, length) {
		res.Body.Close()
		return nil
	}
	return res.Body
}

// isRest reports whether a response with header h has the bytes from n on of a whole. The length is that of the whole, -1 if it is unknown.
func isRest(h http.Header, n, length int64) bool {
	var first, last, whole int64
	text := h.Get("Content-Range")
	if _, err := fmt.Sscanf(text, "bytes %d-%d/%d", &first, &last, &whole); err != nil {
		return false
	}
	return text == fmt.Sprintf("bytes %d-%d/%d", first, last, whole) && first == n && last == whole-1 && (length < 0 || whole == length)
}

package web

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/umbel-filters/umbel/internal/sentinel"
	"github.com/umbel-filters/umbel/share"
)

// Object returns the bytes of an object from the offset on. It has a method Size() int64, which
// returns the bytes of the whole object, or -1 if the server did not state them.
func (c *Client) Object(ctx context.Context, name string, offset int64) (io.ReadCloser, error) {
	if err := share.CheckObject(name); err != nil {
		return nil, err
	}
	q := request{path: objectsPath + "/" + name, header: make(http.Header), pause: maxPause}
	if offset > 0 {
		q.header.Set("Range", fmt.Sprintf("bytes=%d-", offset))
	}
	r, err := c.get(ctx, q)
	if err != nil {
		return nil, err
	}
	if r.StatusCode == http.StatusPartialContent {
		if size, ok := rangeFrom(r.Header, offset); ok {
			return object{r.Body, r.Body, size}, nil
		}
		// It is another range, or one of a coding.
		r.Body.Close()
		q.header.Del("Range")
		if r, err = c.get(ctx, q); err != nil {
			return nil, err
		}
	}
	switch r.StatusCode {
	case http.StatusOK:
		return skip(r, q.path, offset)
	case http.StatusRequestedRangeNotSatisfiable:
		r.Body.Close()
		return object{strings.NewReader(""), http.NoBody, -1}, nil
	}
	r.Body.Close()
	return nil, sentinel.Errorf(share.ErrCorrupt, "%s: unexpected status %s", q.path, r.Status)
}

// skip returns a whole object from an offset on.
func skip(r *http.Response, path string, offset int64) (io.ReadCloser, error) {
	b, err := decoded(r)
	if err == nil {
		if _, err = io.CopyN(io.Discard, b, offset); err == io.EOF {
			err = nil
		}
	}
	if err != nil {
		r.Body.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	size := r.ContentLength
	if b != r.Body {
		size = -1
	}
	return object{b, r.Body, size}, nil
}

// rangeFrom reports whether a reply is the rest of an object from an offset on, and the bytes of the
// object, or -1.
func rangeFrom(h http.Header, offset int64) (size int64, ok bool) {
	v, ok := strings.CutPrefix(h.Get("Content-Range"), "bytes ")
	first, rest, _ := strings.Cut(v, "-")
	at, err := strconv.ParseInt(first, 10, 64)
	if !ok || err != nil || at != offset || h.Get("Content-Encoding") != "" {
		return 0, false
	}
	_, all, _ := strings.Cut(rest, "/")
	if size, err = strconv.ParseInt(all, 10, 64); err != nil {
		size = -1
	}
	return size, true
}

// object is the body of an object.
type object struct {
	io.Reader
	io.Closer
	size int64
}

// Size returns the bytes of the whole object, or -1.
func (o object) Size() int64 { return o.size }

// guardBytes must arrive in each interval of ClientOptions.Timeout.
const guardBytes = 1 << 10

var errTimeout = errors.New("the server sends nothing")

// guard ends a request that makes no progress.
type guard struct {
	timer   *time.Timer
	timeout time.Duration
	cancel  context.CancelCauseFunc
}

// newGuard returns a context that ends if the reply does not begin within timeout and wait.
func newGuard(ctx context.Context, timeout, wait time.Duration) (context.Context, *guard) {
	ctx, cancel := context.WithCancelCause(ctx)
	timer := time.AfterFunc(timeout+wait, func() { cancel(errTimeout) })
	return ctx, &guard{timer, timeout, cancel}
}

// cause returns why a request failed.
func (g *guard) cause(ctx context.Context, err error) error {
	if errors.Is(context.Cause(ctx), errTimeout) {
		return fmt.Errorf("%w for %v: %w", errTimeout, g.timeout, err)
	}
	return err
}

func (g *guard) stop() {
	g.timer.Stop()
	g.cancel(nil)
}

// body is the body of a reply with its guard.
type body struct {
	io.ReadCloser
	ctx   context.Context
	guard *guard
	got   int // since the guard's timer was reset
}

func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.got += n; b.got >= guardBytes {
		b.got = 0
		b.guard.timer.Reset(b.guard.timeout)
	}
	if err != nil && err != io.EOF {
		err = b.guard.cause(b.ctx, err)
	}
	return n, err
}

func (b *body) Close() error {
	b.guard.stop()
	return b.ReadCloser.Close()
}

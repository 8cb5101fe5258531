package web

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/umbel-filters/umbel/internal/pause"
	"github.com/umbel-filters/umbel/internal/sentinel"
	"github.com/umbel-filters/umbel/share"
)

// request is a request for a record or an object.
type request struct {
	path   string
	after  string        // with wait
	wait   time.Duration // 0 means that the server replies at once
	pause  time.Duration // how long it waits at most if the server wants no requests
	header http.Header
}

// maxPause bounds how long a server can delay the next request.
const maxPause = 10 * time.Minute

// get sends a request when the server permits. It returns a reply with status 2xx, 304 or 416. The
// caller closes its body.
func (c *Client) get(ctx context.Context, q request) (*http.Response, error) {
	c.mu.Lock()
	ready := c.ready
	c.mu.Unlock()
	if left := min(time.Until(ready), q.pause); left > 0 {
		pause.For(ctx, left)
	}
	ctx, guard := newGuard(ctx, c.o.Timeout, q.wait)
	u := c.base.JoinPath(q.path)
	if q.wait > 0 {
		values := u.Query()
		values.Set(afterQuery, q.after)
		values.Set(waitQuery, q.wait.String())
		u.RawQuery = values.Encode()
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		guard.stop()
		return nil, err
	}
	if q.header != nil {
		r.Header = q.header
	}
	// Objects are packed, and ranges are those of the bytes that are verified.
	r.Header.Set("Accept-Encoding", "identity")
	r.Header.Set("User-Agent", "umbel")
	reply, err := c.http.Do(r)
	if err != nil {
		if e := (*url.Error)(nil); errors.As(err, &e) {
			err = e.Err // The URL may contain a secret.
		}
		err = guard.cause(ctx, err)
		guard.stop()
		return nil, err // the caller names the record or object
	}
	reply.Body = &body{ReadCloser: reply.Body, ctx: ctx, guard: guard}
	if err := c.check(reply); err != nil {
		reply.Body.Close()
		return nil, err // the caller names the record or object
	}
	return reply, nil
}

// check returns an error for a reply with a status that is not 2xx, 304 or 416.
func (c *Client) check(r *http.Response) error {
	refused := &StatusError{StatusCode: r.StatusCode, Status: r.Status}
	switch s := r.StatusCode; {
	case s/100 == 2, s == http.StatusNotModified, s == http.StatusRequestedRangeNotSatisfiable:
		c.mu.Lock()
		defer c.mu.Unlock()
		c.ready = time.Time{}
		return nil
	case s == http.StatusNotFound, s == http.StatusGone:
		return fmt.Errorf("%w: %w", refused, share.ErrNotFound)
	}
	if refused.RetryAfter = retryAfter(r.Header); refused.RetryAfter > 0 {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.ready = time.Now().Add(refused.RetryAfter)
	}
	return refused
}

// retryAfter returns how long a server wants no requests.
func retryAfter(h http.Header) time.Duration {
	v := h.Get("Retry-After")
	if n, err := strconv.ParseUint(v, 10, 31); err == nil {
		return min(time.Duration(n)*time.Second, maxPause)
	}
	at, err := http.ParseTime(v)
	if err != nil {
		return 0
	}
	now := time.Now()
	if date, err := http.ParseTime(h.Get("Date")); err == nil {
		now = date // The clock of the server is the one that counts.
	}
	return max(0, min(at.Sub(now), maxPause))
}

// decoded returns the body of a reply without the coding that a proxy may have added.
func decoded(r *http.Response) (io.Reader, error) {
	switch coding := r.Header.Get("Content-Encoding"); coding {
	case "", "identity":
		return r.Body, nil
	case "gzip", "x-gzip":
		z, err := gzip.NewReader(r.Body)
		if err != nil {
			return nil, fmt.Errorf("gzip: %w", err)
		}
		return z, nil
	default:
		return nil, sentinel.Errorf(share.ErrCorrupt, "coding %.40q, want none", coding)
	}
}

// StatusError is a reply of a server with a status that is no success. The errors of a [Client] wrap it, for errors.As;
// those with status 404 or 410 wrap share.ErrNotFound as well.
type StatusError struct {
	StatusCode int           // for example 403
	Status     string        // for example "403 Forbidden"
	RetryAfter time.Duration // for which the server accepts no requests, and the client sends none; 0 if that is unknown
}

func (e *StatusError) Error() string {
	if e.RetryAfter > 0 {
		return fmt.Sprintf("%s, retry after %v", e.Status, e.RetryAfter.Round(time.Second))
	}
	return e.Status
}

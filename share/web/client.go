package web

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/internal/pause"
	"github.com/umbel-filters/umbel/internal/sentinel"
	"github.com/umbel-filters/umbel/share"
)

// ClientOptions configure a client. The zero value has the defaults.
type ClientOptions struct {
	// HTTP makes the requests; the default is http.DefaultClient. Its Timeout should be zero,
	// because it would limit the time for an object. If it has no rule for redirects, at most 5
	// are followed.
	HTTP *http.Client
	// Poll is the time between two requests for the head, for servers without long poll; the
	// default is 5 seconds. Each time varies by up to a quarter.
	Poll time.Duration
	// Timeout ends a request if no kilobyte has arrived for this time; the default is 30
	// seconds.
	Timeout time.Duration
}

const (
	maxRedirects = 5
	// maxLongPoll is the time to wait for a head, if the server permits. It is the same for all
	// clients, so that caches see the same URL.
	maxLongPoll = 25 * time.Second
)

// Client reads a publication over HTTP. It is safe for concurrent use.
//
// If the server states when to retry (Retry-After), WatchRecord and Object wait until then, for at most ten minutes.
// Record waits for at most ClientOptions.Poll: a Subscriber calls it when it has no head, or its head has expired.
type Client struct {
	base    *url.URL
	o       ClientOptions
	http    http.Client
	mu      sync.Mutex
	records map[string]record
	ready   time.Time // no request before
}

var (
	_ share.Source  = (*Client)(nil)
	_ share.Watcher = (*Client)(nil)
)

// record is a record as it was received last.
type record struct {
	body []byte
	// tag is the entity tag that the next request may state, or "".
	tag string
	// longPoll is how long a request to the server may wait, 0 if it does not support that.
	longPoll time.Duration
}

// NewClient returns a client of the publication below an http or https URL. If the URL has a query,
// it is part of every request. The error wraps umbel.ErrGoal if base is no such URL.
func NewClient(base string, o ClientOptions) (*Client, error) {
	u, err := parseBase(base)
	if err != nil {
		return nil, goalError{err}
	}
	if o.HTTP == nil {
		o.HTTP = http.DefaultClient
	}
	if o.Poll <= 0 {
		o.Poll = 5 * time.Second
	}
	if o.Timeout <= 0 {
		o.Timeout = 30 * time.Second
	}
	c := &Client{base: u, o: o, http: *o.HTTP, records: make(map[string]record)}
	if c.http.CheckRedirect == nil {
		c.http.CheckRedirect = func(_ *http.Request, via []*http.Request) error {
			if len(via) > maxRedirects {
				return errRedirects
			}
			return nil
		}
	}
	return c, nil
}

// goalError is the error of a wrong URL. It is umbel.ErrGoal, too, which adds nothing to its text.
type goalError struct{ error }

func (e goalError) Unwrap() []error { return []error{e.error, umbel.ErrGoal} }

// example is the URL of a publication in error texts.
const example = "https://filters.example/words"

// parseBase parses the URL of a publication. Errors do not contain a password.
func parseBase(base string) (*url.URL, error) {
	// The scheme is looked at first: net/url takes "host:8780/words" for a scheme or for an error.
	scheme, _, found := strings.Cut(base, "://")
	if !found {
		withoutUser := base[strings.LastIndexByte(base, '@')+1:]
		return nil, fmt.Errorf("the URL of the publication, %.200q, has no scheme: write https:// or http:// before the host, as in %s", withoutUser, example)
	}
	u, err := url.Parse(base)
	switch {
	case err != nil:
		return nil, fmt.Errorf("the URL of the publication: %w", errors.Unwrap(err)) // the outer error would contain a password
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, fmt.Errorf("the URL of the publication, %q, has the scheme %.40q, want https or http, as in %s", u.Redacted(), scheme, example)
	case u.Host == "":
		return nil, fmt.Errorf("the URL of the publication, %q, has no host, as in %s", u.Redacted(), example)
	case u.Fragment != "":
		return nil, fmt.Errorf("the URL of the publication, %q, has a fragment (#), want none, as in %s", u.Redacted(), example)
	}
	return u, nil
}

var errRedirects = errors.New("more than 5 redirects")

// Record returns a record. If the server confirms the one that the client has, it is not sent again.
func (c *Client) Record(ctx context.Context, name string) ([]byte, error) {
	if err := share.CheckRecord(name); err != nil {
		return nil, err
	}
	return c.record(ctx, request{path: name, pause: c.o.Poll}, c.last(name), "")
}

// WatchRecord returns a record when it differs from last. It returns it as it is after at most 25
// seconds from a server with long poll, and after ClientOptions.Poll from others.
func (c *Client) WatchRecord(ctx context.Context, name string, last []byte) ([]byte, error) {
	if err := share.CheckRecord(name); err != nil {
		return nil, err
	}
	begin := time.Now()
	have, after := c.last(name), ""
	if have.longPoll > 0 {
		after = tagOf(last)
	}
	b, err := c.record(ctx, request{path: name, pause: maxPause}, have, after)
	waited := have.longPoll > 0 && time.Since(begin) >= have.longPoll/2
	if err != nil || waited || !bytes.Equal(b, last) {
		return b, err
	}
	// A server with long poll may also reply at once, and so may a cache before it.
	interval := c.o.Poll*3/4 + rand.N(c.o.Poll/2+1)
	pause.For(ctx, interval-time.Since(begin))
	return b, ctx.Err()
}

func (c *Client) last(name string) record {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.records[name]
}

// record requests the record of q, or waits for one with another tag than after unless that is "". The client
// has the given one.
func (c *Client) record(ctx context.Context, q request, have record, after string) ([]byte, error) {
	q.header = make(http.Header)
	if after != "" {
		q.after, q.wait = after, have.longPoll
	}
	if have.tag != "" {
		q.header.Set("If-None-Match", have.tag)
	}
	r, err := c.get(ctx, q)
	if err != nil {
		return nil, err
	}
	defer r.Body.Close()
	got := record{longPoll: longPoll(r.Header), body: have.body, tag: have.tag}
	switch {
	case r.StatusCode == http.StatusNotModified && have.tag != "":
	case r.StatusCode == http.StatusOK:
		if got.body, err = readRecord(r); err != nil {
			return nil, err
		}
		got.tag = reliableTag(r.Header, got.body)
	default:
		return nil, sentinel.Errorf(share.ErrCorrupt, "unexpected status %s", r.Status)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.records[q.path] = got
	return got.body, nil
}

// longPoll returns how long a request to the sender of a reply may wait.
func longPoll(h http.Header) time.Duration {
	seconds, err := strconv.ParseUint(h.Get(longPollHeader), 10, 16)
	if err != nil {
		return 0
	}
	return min(time.Duration(seconds)*time.Second, maxLongPoll)
}

func readRecord(r *http.Response) ([]byte, error) {
	body, err := decoded(r)
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(io.LimitReader(body, share.MaxRecord+1))
	if err == nil && len(b) > share.MaxRecord {
		err = sentinel.Errorf(share.ErrCorrupt, "more than %d bytes", share.MaxRecord)
	}
	return b, err
}

// reliableTag returns the entity tag of a reply if another record would have another tag. Many
// servers make tags from the time of a file in seconds and its size, and two heads often have the
// same size. Such a tag is reliable if the file was more than a second old (RFC 9110, section 8.8.2.2).
func reliableTag(h http.Header, body []byte) string {
	tag := h.Get("Etag")
	modified, err := http.ParseTime(h.Get("Last-Modified"))
	if err != nil || tag == `"`+tagOf(body)+`"` {
		return tag
	}
	if date, err := http.ParseTime(h.Get("Date")); err == nil && date.Sub(modified) > time.Second {
		return tag
	}
	return ""
}

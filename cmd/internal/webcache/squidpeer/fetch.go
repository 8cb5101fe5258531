// Package squidpeer fetches the cache digests of Squids, and relays them to other Squids in a form that all
// releases read without false negatives.
package squidpeer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/umbel-filters/umbel/filter/foreign/squid"
	"github.com/umbel-filters/umbel/internal/hop"
)

const (
	// Path is where a Squid serves its digest.
	Path = "/squid-internal-periodic/store_digest"
	// ContentType is the type of a digest.
	ContentType = "application/cache-digest"
	// DefaultMask is the longest mask in bytes that is fetched by default: 100 million objects at Squid's 5
	// bits per entry.
	DefaultMask = 64 << 20
	// DefaultTimeout is the time for one fetch.
	DefaultTimeout = 30 * time.Second

	// defaultValid is for digests without Expires: Squid's default of digest_rewrite_period.
	defaultValid = time.Hour
	// maxValid bounds how long a digest is believed.
	maxValid = 24 * time.Hour
)

// errNoDigest means that a peer answers and has no digest: it is still building one, or digest_generation is off.
var errNoDigest = errors.New("the peer has no cache digest")

// errNoSquid means that the server of a URL is no Squid.
var errNoSquid = errors.New("give the address of a Squid")

// Fetched is a digest as a peer sent it.
type Fetched struct {
	Bytes    []byte
	Digest   squid.Digest  // shares the memory of Bytes
	Modified time.Time     // zero if the peer did not state it
	Valid    time.Duration // from now on, by the peer's clock; 0 or less if it has expired
}

// Fetcher fetches digests. Its methods are safe for concurrent use.
type Fetcher struct {
	Transport http.RoundTripper // nil: a transport without proxies and compression
	MaxMask   uint64            // bytes; 0: DefaultMask
	Timeout   time.Duration     // 0: DefaultTimeout
}

// transport ignores the environment's proxies: the peer is a proxy itself. Squid doesn't compress digests.
var transport = hop.Prepare(&http.Transport{DisableCompression: true, ResponseHeaderTimeout: DefaultTimeout, IdleConnTimeout: time.Minute})

// URL returns the URL of a peer's digest: where is one, or HOST:PORT or a URL without path for the path of Squid.
func URL(where string) (string, error) {
	if !strings.Contains(where, "://") {
		where = "http://" + where
	}
	u, err := url.Parse(where)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return "", fmt.Errorf("%.80q is neither HOST:PORT nor an http URL of a peer", where)
	}
	if u.Path == "" || u.Path == "/" {
		u.Path = Path
	}
	return u.String(), nil
}

// Fetch fetches the digest at the URL. It reads no more bytes than the limit, and follows no redirection. The
// error wraps errNoDigest if the peer has none, and [squid.ErrOverfull] if the digest is too full; then Fetch
// returns the digest as well. It wraps errNoSquid if the answer is something else.
func (f Fetcher) Fetch(ctx context.Context, url string) (Fetched, error) {
	timeout := f.Timeout
	if timeout == 0 {
		timeout = DefaultTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return Fetched{}, err
	}
	req.Header.Set("Accept", ContentType)
	rt := f.Transport
	if rt == nil {
		rt = transport
	}
	resp, err := hop.Transport(rt).RoundTrip(req) // a redirection is an answer like any other
	if err != nil {
		return Fetched{}, fmt.Errorf("%s: %w", url, err)
	}
	defer resp.Body.Close()
	switch resp.StatusCode {
	case http.StatusOK:
	case http.StatusNotFound:
		return Fetched{}, fmt.Errorf("%s: %w; a Squid builds it some seconds after its start, with digest_generation on", url, errNoDigest)
	default:
		return Fetched{}, fmt.Errorf("%s: the peer answers %s, want 200", url, resp.Status)
	}
	body, err := f.read(resp)
	if err != nil {
		return Fetched{}, fmt.Errorf("%s: %w", url, err)
	}
	d, err := squid.Parse(body, squid.Limits{})
	got := Fetched{Bytes: body, Digest: d, Valid: validity(resp.Header)}
	got.Modified, _ = http.ParseTime(resp.Header.Get("Last-Modified"))
	switch {
	case err == nil:
		return got, nil
	case resp.Header.Get("Content-Type") != ContentType && !errors.Is(err, squid.ErrOverfull):
		answer := "without a Content-Type"
		if kind := resp.Header.Get("Content-Type"); kind != "" {
			answer = fmt.Sprintf("with %.80q", kind)
		}
		return Fetched{}, fmt.Errorf("%s: the server is no Squid: it answers %s instead of a cache digest: %w", url, answer, errNoSquid)
	}
	return got, fmt.Errorf("%s: %w", url, err)
}

// read reads the body within the limit. It allocates in proportion to the bytes that arrive.
func (f Fetcher) read(resp *http.Response) ([]byte, error) {
	limit := f.MaxMask
	if limit == 0 {
		limit = DefaultMask
	}
	limit += squid.BlockBytes
	b, err := io.ReadAll(io.LimitReader(resp.Body, int64(limit)+1))
	if uint64(len(b)) > limit || resp.ContentLength > int64(limit) {
		return nil, fmt.Errorf("the digest has more than %d bytes; permit a longer mask if the peer may have one", limit)
	}
	return b, err
}

// validity returns how long a response stays valid. It compares two times of the peer, whose clock may differ
// from ours.
func validity(h http.Header) time.Duration {
	expires, err := http.ParseTime(h.Get("Expires"))
	if err != nil {
		return defaultValid
	}
	date, err := http.ParseTime(h.Get("Date"))
	if err != nil {
		date = time.Now()
	}
	return min(expires.Sub(date), maxValid)
}

// Source fetches the digest of one Squid, for package siblings.
type Source struct {
	Fetcher Fetcher
	URL     string // of the digest, from URL
}

// Fetch returns the digest as a filter, and the time for which it is valid: see Fetcher.Fetch.
func (s Source) Fetch(ctx context.Context) (*squid.Filter, time.Duration, error) {
	got, err := s.Fetcher.Fetch(ctx, s.URL)
	if err != nil {
		return nil, 0, err
	}
	f, err := got.Digest.Filter()
	return f, got.Valid, err
}

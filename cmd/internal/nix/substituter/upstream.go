package substituter

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/umbel-filters/umbel/cmd/internal/nix/nixcache"
	"github.com/umbel-filters/umbel/filter/foreign/nixbloom"
	"github.com/umbel-filters/umbel/internal/event"
	"github.com/umbel-filters/umbel/internal/faultlog"
	"github.com/umbel-filters/umbel/internal/httptarget"
)

const (
	narinfoSuffix = ".narinfo"
	narPrefix     = "nar/"
	// maxNarinfo is the length of the longest narinfo, in bytes: about 20,000 references.
	maxNarinfo = 1 << 20
	// maxURL is the length of the longest URL of a NAR, in bytes.
	maxURL = 1024
)

// Results of a request to an upstream.
var (
	errAbsent = errors.New("the upstream does not have it")
	errFailed = errors.New("the upstream failed")
)

// upstream is an upstream with its state.
type upstream struct {
	Upstream
	client  *http.Client
	timeout time.Duration
	log     *slog.Logger
	wrong   *faultlog.Limit // of warnings about wrong narinfos: clients repeat their requests
	failing faultlog.Fault  // it does not answer
	via     string
	backOff backOff
	bodies  backOff        // of NARs, which other upstreams may have
	cutting faultlog.Fault // its NARs break off

	skipped, requested, found, missed, unknown, failures atomic.Uint64
}

// has returns what the summary says of a path.
func (u *upstream) has(q Path) Answer {
	if u.Summary == nil {
		return Unknown
	}
	return u.Summary.Has(q)
}

// request sends a request for a file of the cache, unless the upstream is in back-off. target begins with a slash and is sent as it is, below
// the URL of the cache. The header of the reply has status 200, 206 or 416. Otherwise the error wraps errAbsent or errFailed, or is that of ctx.
func (u *upstream) request(ctx context.Context, method, target string, header http.Header) (*http.Response, error) {
	if !u.backOff.ready(u.timeout) {
		return nil, fmt.Errorf("not requested after it has failed: %w", errFailed)
	}
	file, err := httptarget.On(u.URL, strings.TrimSuffix(u.URL.EscapedPath(), "/")+target)
	if err != nil {
		return nil, errAbsent
	}
	file.User = u.URL.User
	r := &http.Request{Method: method, URL: file, Host: file.Host, Header: header.Clone(), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1}
	r.Header.Set("Via", u.via)
	began := time.Now()
	reply, err := u.client.Do(r.WithContext(ctx))
	if err != nil {
		return nil, u.fail(ctx, began, 0, err)
	}
	switch status := reply.StatusCode; status {
	case http.StatusOK, http.StatusPartialContent, http.StatusRequestedRangeNotSatisfiable:
		u.worked(began)
		return reply, nil
	case http.StatusNotFound, http.StatusGone, http.StatusForbidden: // buckets reply with 403 if the names are not public
		reply.Body.Close()
		u.worked(began)
		return nil, errAbsent
	default:
		reply.Body.Close()
		return nil, u.fail(ctx, began, retryAfter(reply.Header), fmt.Errorf("status %s", reply.Status))
	}
}

// retryAfter returns the number of seconds of a header Retry-After, 0 if it has none.
func retryAfter(h http.Header) time.Duration {
	seconds, _ := strconv.ParseUint(h.Get("Retry-After"), 10, 31)
	return time.Duration(seconds) * time.Second
}

// fail notes a failure of the upstream. If the client has gone, it is none.
func (u *upstream) fail(ctx context.Context, began time.Time, wait time.Duration, err error) error {
	if errors.Is(context.Cause(ctx), context.Canceled) {
		return ctx.Err()
	}
	u.failures.Add(1)
	u.backOff.failed(began, wait)
	if e, ok := errors.AsType[*url.Error](err); ok {
		err = e.Err // the message has the URL
	}
	log := u.failing.Failed(u.log).With("url", u.URL.Redacted())
	if u.Sibling {
		log.Warn("sibling failed", event.SiblingFailed, "error", err)
	} else {
		log.Warn("upstream failed", event.UpstreamFailed, "error", err)
	}
	return fmt.Errorf("%w: %w", err, errFailed)
}

// worked notes that the upstream has answered.
func (u *upstream) worked(began time.Time) {
	u.backOff.worked(began)
	if !u.failing.Lasts() {
		return
	}
	log := u.failing.Succeeded(u.log).With("url", u.URL.Redacted())
	if u.Sibling {
		log.Info("sibling answers again", event.SiblingRecovered)
	} else {
		log.Info("upstream answers again", event.UpstreamRecovered)
	}
}

// cut notes that a NAR broke off. If the client has gone, it did not.
func (u *upstream) cut(ctx context.Context, began time.Time, err error) error {
	if errors.Is(context.Cause(ctx), context.Canceled) {
		return ctx.Err()
	}
	u.failures.Add(1)
	u.bodies.failed(began, 0)
	u.cutting.Failed(u.log).Warn("upstream sent a part of a NAR", event.UpstreamIncomplete, "url", u.URL.Redacted(), "error", err)
	return fmt.Errorf("%w: %w", err, errFailed)
}

// whole notes that a NAR has arrived as a whole.
func (u *upstream) whole(began time.Time) {
	u.bodies.worked(began)
	u.cutting.Succeeded(u.log).Info("upstream sends whole NARs again", event.UpstreamComplete, "url", u.URL.Redacted())
}

// narinfo requests the narinfo of a path. It returns the body, and the URL of the NAR, relative to the cache. Errors
// are those of request; a narinfo of another path, or without the URL of a NAR below /nar, is a failure.
func (u *upstream) narinfo(ctx context.Context, q Path) (body []byte, nar string, err error) {
	ctx, cancel := context.WithTimeout(ctx, u.timeout)
	defer cancel()
	began := time.Now()
	reply, err := u.request(ctx, http.MethodGet, "/"+q.Text+narinfoSuffix, http.Header{})
	if err != nil {
		return nil, "", err
	}
	defer reply.Body.Close()
	body, err = io.ReadAll(io.LimitReader(reply.Body, maxNarinfo+1))
	if err != nil {
		return nil, "", u.fail(ctx, began, 0, err)
	}
	if nar, err = checkNarinfo(q, body); err != nil {
		u.failures.Add(1)
		u.wrong.Logger(u.log).Warn("upstream sent a wrong narinfo", event.UpstreamWrong, "url", u.URL.Redacted(), "path", q.Text, "error", err)
		return nil, "", fmt.Errorf("%w: %w", err, errFailed)
	}
	return body, nar, nil
}

// checkNarinfo returns the URL of the NAR in the narinfo of a path.
func checkNarinfo(q Path, body []byte) (nar string, err error) {
	if len(body) > maxNarinfo {
		return "", fmt.Errorf("a narinfo of more than %d bytes", maxNarinfo)
	}
	path := nixcache.Field(body, "StorePath")
	if h, err := nixbloom.ParsePath(path); err != nil || h != q.Hash {
		return "", fmt.Errorf("a narinfo of %.80q, want one of %s", path, q.Text)
	}
	nar = nixcache.Field(body, "URL")
	u, err := url.Parse(nar)
	if err != nil || u.Scheme != "" || u.Host != "" || !isNAR(u.Path) || len(nar) > maxURL {
		return "", fmt.Errorf("the URL of the NAR is %.80q, want one below %s of at most %d bytes", nar, narPrefix, maxURL)
	}
	return (&url.URL{Path: u.Path, RawQuery: u.RawQuery}).String(), nil
}

// isNAR reports whether a path, relative to a cache, is one below nar/ that leads nowhere else.
func isNAR(path string) bool {
	return strings.HasPrefix(path, narPrefix) && fs.ValidPath(path) && !strings.ContainsAny(path, "\\\x00")
}

package httpcache

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/maypok86/otter/v2"
	"github.com/umbel-filters/umbel/internal/event"
	"github.com/umbel-filters/umbel/internal/faultlog"
	"github.com/umbel-filters/umbel/internal/hop"
)

// Options configures a cache. The zero value of each field has a meaning.
type Options struct {
	// Origin is the server behind the cache, for example http://127.0.0.1:8000. Its path is ignored.
	// Without one the cache is a forward proxy.
	Origin *url.URL
	// Upstream sends requests to origins; NewTransport(nil) if it is nil. It gets one request for all clients that
	// wait for a response. It must not decompress.
	Upstream http.RoundTripper
	// Siblings, if it is not nil, returns a transport that may answer requests without Upstream, to which it sends the others.
	Siblings func(upstream http.RoundTripper) http.RoundTripper
	// Reported reports whether a transport of Siblings has logged the error of a body itself. It may be nil.
	Reported func(error) bool
	// Size is the number of bytes of the store, 64 MiB if it is zero.
	Size int64
	// Largest is the size in bytes of the largest body that is stored, an eighth of Size if it is zero.
	Largest int64
	// Directory is where bodies are stored. Without one they are in memory.
	Directory string
	// Disconnected is the time for which a stale response may be used if the origin cannot be reached.
	Disconnected time.Duration
	// Scheme is the scheme with which clients reach the cache, http or https. The origin gets it in X-Forwarded-Proto. If it
	// is empty, it is not stated.
	Scheme string
	// Name is the name of the cache in Cache-Status, "umbel" if it is empty.
	Name string
	// Pseudonym is the name of the cache in Via, which other caches must not have.
	Pseudonym string
	// Observer is informed of what is stored. It may be nil.
	Observer Observer
	// Tunnel serves CONNECT. Without one CONNECT is refused.
	Tunnel http.Handler
	// Log gets faults of origins and of the store. It may be nil.
	Log *slog.Logger
}

// Cache is a shared cache. It is safe for concurrent use.
type Cache struct {
	origin       *url.URL
	prefix       string // of keys, with an origin
	upstream     http.RoundTripper
	index        *index
	bodies       bodies
	files        *files // nil in memory
	disconnected time.Duration
	scheme       string
	name         string
	pseudonym    string
	tunnel       http.Handler
	log          *slog.Logger
	reported     func(error) bool
	origins      *origins        // that can't be reached
	storing      faultlog.Fault  // of the store
	limit        *faultlog.Limit // of other warnings that clients can cause
	stats        Stats

	passing *otter.Cache[string, struct{}] // keys whose responses could not be stored recently

	mu      sync.Mutex
	flights map[string]*flight
	unique  uint64 // number of the last flight that nobody can join

	loaded atomic.Bool // all responses of an earlier process have been found
	unread sync.Map    // until then, the keys that were invalidated: their files may not have been read

	ctx    context.Context // of the work that no client waits for
	cancel context.CancelFunc
	tasks  sync.WaitGroup
}

// passingTime is how long clients do not wait for each other after a response that could not be stored.
const passingTime = 10 * time.Second

// New returns a cache. With a directory, what is stored there is found in the background. The error wraps
// disk.ErrLocked if another process uses the directory. Close must be called.
func New(o Options) (*Cache, error) {
	if o.Size == 0 {
		o.Size = 64 << 20
	}
	if o.Largest == 0 {
		o.Largest = o.Size / 8
	}
	if o.Size < 0 || o.Largest < 0 || o.Largest > o.Size {
		return nil, fmt.Errorf("a store of %d bytes with bodies of up to %d", o.Size, o.Largest)
	}
	c := &Cache{
		origin: o.Origin, upstream: o.Upstream, disconnected: o.Disconnected, scheme: o.Scheme, name: o.Name,
		pseudonym: o.Pseudonym, tunnel: o.Tunnel, log: o.Log, reported: o.Reported,
		origins: newOrigins(), storing: faultlog.Fault{Settle: settle}, limit: faultlog.NewLimit(faultlog.Period, 5),
		flights: map[string]*flight{}, bodies: memory{largest: o.Largest},
	}
	if c.upstream == nil {
		c.upstream = NewTransport(nil)
	}
	c.upstream = watched{hop.Transport(c.upstream), c}
	if o.Siblings != nil {
		c.upstream = o.Siblings(c.upstream)
	}
	if c.name == "" {
		c.name = "umbel"
	}
	if c.pseudonym == "" {
		c.pseudonym = c.name
	}
	if c.log == nil {
		c.log = slog.New(slog.DiscardHandler)
	}
	if c.origin != nil {
		c.prefix = c.origin.Scheme + "://" + canonicalHost(c.origin.Scheme, c.origin.Host)
	}
	if o.Directory != "" {
		f, err := openFiles(o.Directory, o.Largest)
		if err != nil {
			return nil, err
		}
		c.files, c.bodies = f, f
	}
	var err error
	if c.index, err = newIndex(c.bodies, o.Size, o.Observer, &c.stats); err == nil {
		c.passing, err = otter.New(&otter.Options[string, struct{}]{
			MaximumSize: 1 << 16, ExpiryCalculator: otter.ExpiryWriting[string, struct{}](passingTime),
		})
	}
	if err != nil {
		return nil, err
	}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	if c.loaded.Store(c.files == nil); c.files != nil {
		c.tasks.Go(c.load)
	}
	return c, nil
}

// load adds what an earlier process stored.
func (c *Cache) load() {
	err := c.files.load(func(s *stored) bool {
		c.restore(s)
		return c.ctx.Err() == nil
	})
	c.loaded.Store(true)
	c.unread.Clear()
	if err != nil {
		c.log.Warn("could not read all stored responses", event.StoreUnread, "error", err)
	}
}

// restore adds a response that was found on disk, unless an unsafe request has invalidated it since the start.
func (c *Cache) restore(s *stored) {
	c.index.restore(s, func() bool {
		_, invalidated := c.unread.Load(s.key)
		return !invalidated
	})
}

// Stats returns the counters of the cache.
func (c *Cache) Stats() *Stats { return &c.stats }

// Keys returns about the number of keys for which the cache has responses.
func (c *Cache) Keys() int { return c.index.cache.EstimatedSize() }

// Bytes returns about the number of bytes that the store occupies.
func (c *Cache) Bytes() int64 { return int64(c.index.cache.WeightedSize()) * c.bodies.unit() }

// Close ends the requests that no client waits for, and logs the faults that were omitted. The server must have been shut down.
func (c *Cache) Close() error {
	c.cancel()
	c.tasks.Wait()
	c.origins.end(c.log)
	if n := c.storing.Rest(); n > 0 {
		c.log.Warn("responses were not stored until the end", event.StoreFailed, "omitted", n)
	}
	c.index.cache.StopAllGoroutines()
	c.passing.StopAllGoroutines()
	if c.files != nil {
		return c.files.close()
	}
	return nil
}

// ServeHTTP answers a request from the store or from the origin.
func (c *Cache) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodConnect {
		if c.tunnel == nil || c.origin != nil {
			c.fail(w, http.StatusMethodNotAllowed, "this cache has no tunnels")
			return
		}
		c.tunnel.ServeHTTP(w, r)
		return
	}
	if loops(r.Header, c.pseudonym) { // before the target: a proxy that is its own origin gets no whole URL
		c.fail(w, http.StatusLoopDetected, "the request has been here before: the origin sends it back to this cache, or is this cache")
		return
	}
	t, err := c.target(r)
	if err != nil {
		c.fail(w, http.StatusBadRequest, err.Error())
		return
	}
	switch {
	case r.Method == http.MethodTrace:
		c.fail(w, http.StatusMethodNotAllowed, "TRACE is not supported")
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		c.pass(w, r, t, "method")
	case r.ContentLength != 0 || onlyForOrigin(r.Header):
		c.pass(w, r, t, "bypass") // a body could change the answer, but is not part of the key
	default:
		c.serve(w, r, t)
	}
}

// onlyForOrigin reports whether a request has fields that a cache must not interpret (RFC 9111, section 4.3.2).
func onlyForOrigin(h http.Header) bool {
	return len(h["Upgrade"]) > 0 || len(h["Expect"]) > 0 || len(h["If-Match"]) > 0 || len(h["If-Unmodified-Since"]) > 0
}

// serve answers a GET or HEAD.
func (c *Cache) serve(w http.ResponseWriter, r *http.Request, t target) {
	asked := noDirectives
	if len(r.Header["Cache-Control"]) > 0 || len(r.Header["Pragma"]) > 0 {
		asked = requestDirectives(r.Header)
	}
	s, known := c.index.find(t.key, r.Header)
	if s != nil {
		now := time.Now()
		how := s.policy.usable(&asked, now)
		if how == useWhileValidating {
			c.validate(r, t, s)
		}
		if how != useValidated {
			count := &c.stats.Stale
			if how == useFresh {
				count = &c.stats.Hits
			}
			err := c.answer(w, r, s, now, "", count)
			if err == nil {
				return
			}
			if errors.Is(err, errDamaged) {
				c.fault(t, err).Warn("a stored response was damaged, and is removed", event.StoreDamaged)
			}
			s = nil
			_, known = c.index.find(t.key, r.Header) // the response has been removed
		}
	}
	if asked.onlyIfCached {
		w.Header().Set("Cache-Status", c.name+"; detail=only-if-cached")
		w.Header().Set("Cache-Control", "no-store")
		c.fail(w, http.StatusGatewayTimeout, "the cache has no response that may be used without the origin")
		return
	}
	c.forward(w, r, t, &asked, s, known)
}

// fail answers with an error of the cache itself, which other caches must not store.
func (c *Cache) fail(w http.ResponseWriter, status int, text string) {
	if status >= 500 {
		c.stats.Errors.Add(1)
	}
	h := w.Header()
	if len(h["Cache-Status"]) == 0 {
		h.Set("Cache-Status", c.name+"; detail=error")
	}
	h.Set("Cache-Control", "no-store")
	h.Set("Via", "1.1 "+c.pseudonym)
	http.Error(w, text, status)
}

// fault returns the logger for a message about an answer, or one that discards it if the client has gone.
func (c *Cache) fault(t target, err error) *slog.Logger {
	if errors.Is(err, context.Canceled) || c.reported != nil && c.reported(err) {
		return discard
	}
	return c.limit.Logger(c.log).With("url", publicURL(t), "error", err)
}

// publicURL returns the URL of a target without its query, which may have secrets.
func publicURL(t target) string {
	key, _, _ := strings.Cut(t.key, "?")
	return key
}

// unreachable logs that an origin can't be reached, unless the client has gone. It is one fault, whether there was a stale response or not.
func (c *Cache) unreachable(t target, err error, stale bool) {
	if errors.Is(err, context.Canceled) {
		return
	}
	log := c.origins.unreachable(c.log, originOf(t.url), err)
	if stale {
		log.Warn("origin is unreachable; a stale response is used", event.OriginFailed, "url", publicURL(t), "error", err)
	} else {
		log.Warn("origin is unreachable", event.OriginFailed, "url", publicURL(t), "error", err)
	}
}

// Unreachable returns since when the origin of Options can't be reached, and the error of the last request. The error is
// nil if it can be reached as far as is known, and for a forward proxy.
func (c *Cache) Unreachable() (since time.Time, err error) {
	if c.origin == nil {
		return time.Time{}, nil
	}
	return c.origins.since(originOf(c.origin))
}

// originOf returns the scheme and the host of a URL.
func originOf(u *url.URL) string { return u.Scheme + "://" + u.Host }

// unstored notes and logs a failure of the store. On a full disk every response is one.
func (c *Cache) unstored(err error) {
	c.stats.Unwritten.Add(1)
	c.storing.Failed(c.log).Warn("could not store a response", event.StoreFailed, "error", err)
}

// Stats counts what a cache has done since it was made. The fields may be read at any time.
type Stats struct {
	Hits        atomic.Uint64 // answered from the store without the origin
	Validated   atomic.Uint64 // answered from the store after the origin has confirmed the response
	Stale       atomic.Uint64 // answered with a stale response, also because the origin failed
	Misses      atomic.Uint64 // answered by the origin, and the answer may be stored
	Collapsed   atomic.Uint64 // answered by the request of another client
	Passed      atomic.Uint64 // answered by the origin, without the store
	Abandoned   atomic.Uint64 // not answered, because the client went away before the origin answered
	Errors      atomic.Uint64 // answered with an error of the cache: 502, 504 and 508
	Stored      atomic.Uint64 // responses that were stored
	Evicted     atomic.Uint64 // keys that were removed because the store was full
	Invalidated atomic.Uint64 // keys that were removed because of a POST, PUT, DELETE and so on
	Unwritten   atomic.Uint64 // failed writes of the store, for example because the disk was full
	Incomplete  atomic.Uint64 // bodies that were not stored because they ended early or the disk was full
}

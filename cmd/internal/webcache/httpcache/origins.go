package httpcache

import (
	"context"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/umbel-filters/umbel/internal/event"
	"github.com/umbel-filters/umbel/internal/faultlog"
	"github.com/umbel-filters/umbel/internal/hop"
)

const (
	// maxOrigins is the number of origins whose faults are logged separately. Clients of a forward proxy choose them.
	maxOrigins = 256
	// settle is the time without a failure after which a success ends a fault.
	settle = 2 * time.Second
)

// origins are the faults of origins.
type origins struct {
	failed atomic.Bool // an origin has failed at some time
	mu     sync.Mutex
	faults map[string]*fault
	others *faultlog.Limit // of messages about origins beyond maxOrigins
}

// fault is that an origin can't be reached.
type fault struct {
	faultlog.Fault
	last atomic.Pointer[error]
}

func newOrigins() *origins {
	return &origins{faults: map[string]*fault{}, others: faultlog.NewLimit(faultlog.Period, 1)}
}

// unreachable returns the logger for the message that an origin can't be reached because of err.
func (o *origins) unreachable(log *slog.Logger, origin string, err error) *slog.Logger {
	log = log.With("origin", origin)
	o.failed.Store(true)
	o.mu.Lock()
	f := o.faults[origin]
	if f == nil && len(o.faults) >= maxOrigins {
		maps.DeleteFunc(o.faults, func(_ string, f *fault) bool { return !f.Lasts() })
	}
	if f == nil && len(o.faults) < maxOrigins {
		f = &fault{Fault: faultlog.Fault{Settle: settle}}
		o.faults[origin] = f
	}
	o.mu.Unlock()
	if f == nil {
		return o.others.Logger(log)
	}
	f.last.Store(&err)
	return f.Failed(log)
}

// since returns since when an origin can't be reached, and the last error, nil if it can.
func (o *origins) since(origin string) (began time.Time, err error) {
	o.mu.Lock()
	f := o.faults[origin]
	o.mu.Unlock()
	if f == nil {
		return time.Time{}, nil
	}
	began, lasts := f.Since()
	if !lasts {
		return time.Time{}, nil
	}
	return began, *f.last.Load()
}

// watched notes the answers of origins. Transports above it have other answers, such as those of siblings.
type watched struct {
	upstream http.RoundTripper
	cache    *Cache
}

func (w watched) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := w.upstream.RoundTrip(r)
	if c := w.cache; err == nil && c.origins.failed.Load() {
		c.origins.answers(c.log, originOf(r.URL)).Info("origin answers again", event.OriginRecovered)
	}
	return res, err
}

// answers returns the logger for the message that an origin answers again.
func (o *origins) answers(log *slog.Logger, origin string) *slog.Logger {
	o.mu.Lock()
	f := o.faults[origin]
	o.mu.Unlock()
	if f == nil {
		return discard
	}
	return f.Succeeded(log.With("origin", origin))
}

// end logs what was omitted since the last messages.
func (o *origins) end(log *slog.Logger) {
	o.mu.Lock()
	faults := maps.Clone(o.faults)
	o.mu.Unlock()
	for _, origin := range slices.Sorted(maps.Keys(faults)) {
		if n := faults[origin].Rest(); n > 0 {
			log.Warn("requests to the origin failed until the end", event.OriginFailed, "origin", origin, "omitted", n)
		}
	}
	if n := o.others.Rest(); n > 0 {
		log.Warn("requests to other origins failed until the end", event.OriginFailed, "omitted", n)
	}
}

// discard is the logger of messages that are omitted.
var discard = slog.New(slog.DiscardHandler)

// NewTransport returns a transport to origins. It leaves bodies as they are, limits their headers to 256 KiB, and has
// no limit of connections. The dialer may be nil.
func NewTransport(dial func(ctx context.Context, network, address string) (net.Conn, error)) *http.Transport {
	if dial == nil {
		dial = (&net.Dialer{Timeout: 10 * time.Second}).DialContext
	}
	return hop.Prepare(&http.Transport{
		DialContext:            dial,
		DisableCompression:     true,
		MaxIdleConnsPerHost:    64,
		MaxIdleConns:           1024,
		IdleConnTimeout:        time.Minute,
		TLSHandshakeTimeout:    10 * time.Second,
		ResponseHeaderTimeout:  time.Minute,
		ExpectContinueTimeout:  time.Second,
		MaxResponseHeaderBytes: 256 << 10,
		ForceAttemptHTTP2:      true,
	})
}

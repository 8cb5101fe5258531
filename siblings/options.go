package siblings

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/umbel-filters/umbel/internal/hop"
	"github.com/umbel-filters/umbel/share"
)

// Options configure a mesh. Key and Token are required; the other fields have defaults.
type Options struct {
	// Key signs what this node publishes. Its name is the name of the node.
	Key share.Key
	// Token is the secret that all nodes of a mesh share, at least 16 bytes. Only requests with it may read
	// publications, since these answer which URLs the clients of a cache have requested.
	Token string
	// Cache is the address of this node's own cache, as siblings reach it: scheme, host and port.
	Cache *url.URL
	// Peers are the siblings.
	Peers []PeerOptions

	// Host is the host of keys and of requests to siblings and to the origin, for caches that change the Host
	// header. If it is empty, they have the host of the request.
	Host string
	// Freshness is how responses state their remaining lifetime to the cache in front.
	Freshness Freshness
	// Cookies permits trying siblings for requests with cookies, without the cookies. The default is to send them to
	// the origin only. Set it if the cache ignores cookies.
	Cookies bool
	// Deny reports whether responses of a URL must not be published, for example because its query contains
	// a secret. It is called concurrently.
	Deny func(*url.URL) bool

	// Period is the time between two versions of the publication while the cache changes; the default is 1 s. Responses
	// that are fresh for less than two periods are not published.
	Period time.Duration
	// WhenChanged is the share of cells, from 0 to 1, that must have changed since the last version of the publication: a
	// smaller change waits for further ones, for at most a third of ten seconds or, if that is longer, of five periods
	// (share.Feed.WhenChanged). With 0, the default, each change is published. Fewer versions take fewer bytes, and siblings
	// learn later of new responses.
	WhenChanged float64
	// Keep is how long a response is published at most after it was stored; 0 means for its lifetime. Set it to
	// the time after which the cache removes what is not used, such as inactive of nginx.
	Keep time.Duration
	// MaxHeld is the number of responses that are published at most; the default is 1,000,000.
	MaxHeld int
	// Patience is the time that siblings have for the beginning of a response, before the origin is requested; the
	// default is 40 ms.
	Patience time.Duration
	// Rate is the false-positive rate of the publication, between 0 and 0.5; the default is 0.01.
	Rate float64
	// MaxPeerBytes bounds the memory of the publication of one peer; the default is 64 MiB.
	MaxPeerBytes uint64
	// ProbePeriod is the time between two probes of the own cache (Mesh.Probe); 0 means none.
	ProbePeriod time.Duration
	// Reported means that the cache reports all changes of what it stores (Mesh.Changed). Then exactly that is published, and
	// nothing is concluded from what passes through the mesh and from what siblings do not find.
	Reported bool

	// SquidDigest permits Squids to read what is published, as a cache digest at SquidDigestPath (Mesh.Publication). They have
	// no token: everyone who reaches the address can read it. By an estimate it takes 60 bytes of memory per
	// response.
	SquidDigest bool

	// HTTP makes the requests to siblings, for publications and for responses. The default is a transport with the
	// timeouts of http.DefaultTransport, without proxies of the environment.
	HTTP http.RoundTripper
	// RootCAs are the authorities of the certificates of siblings with https URLs; nil means those of the system. With HTTP it has
	// no effect.
	RootCAs *x509.CertPool
	// Log receives which peers are suspended, and why.
	Log *slog.Logger
}

// Freshness is how responses state their remaining lifetime to the cache in front of a mesh.
type Freshness uint8

const (
	// FreshnessAge sets the header Age, as RFC 9111 requires. Squid, Varnish and Apache subtract it from
	// the lifetime.
	FreshnessAge Freshness = iota
	// FreshnessAccel sets X-Accel-Expires too, for nginx, which ignores Age.
	FreshnessAccel
	// FreshnessMaxAge replaces the lifetime in Cache-Control by the remaining one, for other caches that
	// ignore Age.
	FreshnessMaxAge
)

// freshnesses are the names of the values.
var freshnesses = []string{"age", "x-accel-expires", "max-age"}

// ParseFreshness returns the value with a name: age, x-accel-expires or max-age.
func ParseFreshness(name string) (Freshness, error) {
	i := slices.Index(freshnesses, name)
	if i < 0 {
		return 0, fmt.Errorf("freshness %.40q is unknown, want age, x-accel-expires or max-age", name)
	}
	return Freshness(i), nil
}

// String returns the name of f.
func (f Freshness) String() string { return freshnesses[f] }

// maxHeld is the maximum of Options.MaxHeld.
const maxHeld = 100_000_000

// leastToken is the minimum number of bytes of a token.
const leastToken = 16

// complete sets defaults, and returns an error for what no mesh can have.
func (o *Options) complete() error {
	if o.Key.Signer == nil || o.Key.Verifier == nil {
		return errors.New("a mesh needs a key")
	}
	if len(o.Token) < leastToken {
		return fmt.Errorf("the token has %d bytes, want at least %d", len(o.Token), leastToken)
	}
	if err := checkAddress(o.Cache); o.Cache != nil && err != nil {
		return fmt.Errorf("the own cache: %w", err)
	}
	if o.ProbePeriod > 0 && o.Cache == nil {
		return errors.New("probes need the address of the own cache")
	}
	if o.ProbePeriod > 0 && o.Reported {
		return errors.New("probes are for caches that do not report what they store")
	}
	if err := o.completePeers(); err != nil {
		return err
	}
	setDefault(&o.Period, time.Second)
	setDefault(&o.Patience, 40*time.Millisecond)
	setDefault(&o.Rate, 0.01)
	setDefault(&o.MaxHeld, 1_000_000)
	setDefault(&o.MaxPeerBytes, 64<<20)
	if o.Period < 100*time.Millisecond || o.Period > time.Minute {
		return fmt.Errorf("the period is %v, want 100ms to 1m", o.Period)
	}
	if !(o.WhenChanged >= 0 && o.WhenChanged <= 1) {
		return fmt.Errorf("a version is published when a share of %v of the cells has changed, want 0 to 1", o.WhenChanged)
	}
	if o.MaxHeld < 1 || o.MaxHeld > maxHeld {
		return fmt.Errorf("at most %d responses are to be published, want 1 to %d", o.MaxHeld, maxHeld)
	}
	if o.Keep < 0 || o.Keep > 0 && o.Keep <= 2*o.Period {
		return fmt.Errorf("responses are published for %v at most, want more than two periods of %v", o.Keep, o.Period)
	}
	if !(o.Rate >= 1e-6 && o.Rate <= 0.5) {
		return fmt.Errorf("the rate is %v, want 1e-6 to 0.5", o.Rate)
	}
	if o.Deny == nil {
		o.Deny = func(*url.URL) bool { return false }
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.HTTP == nil {
		t := newTransport()
		if o.RootCAs != nil {
			t.TLSClientConfig = &tls.Config{RootCAs: o.RootCAs}
		}
		o.HTTP = t
	}
	o.HTTP = hop.Transport(o.HTTP)
	return nil
}

func setDefault[T comparable](value *T, to T) {
	var zero T
	if *value == zero {
		*value = to
	}
}

// checkAddress returns an error unless u consists of a scheme and a host.
func checkAddress(u *url.URL) error {
	if u == nil {
		return errors.New("the address is missing")
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.Path != "" && u.Path != "/" || u.RawQuery != "" || u.Fragment != "" {
		return fmt.Errorf("the address is %.200q, want a URL without a path such as http://10.0.0.2:8080", u.Redacted())
	}
	return nil
}

// newTransport returns the transport for siblings. Responses are passed on as they are encoded.
func newTransport() *http.Transport {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.Proxy = nil
	t.DisableCompression = true
	t.MaxIdleConnsPerHost = 64
	t.MaxResponseHeaderBytes = 64 << 10
	return hop.Prepare(t)
}

// DenyQuery returns a function for Options.Deny that excludes URLs whose query has a parameter with one of the names, and
// URLs whose query can't be parsed.
func DenyQuery(names []string) func(*url.URL) bool {
	return func(u *url.URL) bool {
		if u.RawQuery == "" || len(names) == 0 {
			return false
		}
		query, err := url.ParseQuery(u.RawQuery)
		if err != nil {
			return true
		}
		for _, name := range names {
			if query.Has(name) {
				return true
			}
		}
		return false
	}
}

package access

import (
	"errors"
	"net/netip"
	"sync"
	"time"
)

const (
	// maxFailures is the number of logins in a row that may fail from one address.
	maxFailures = 20
	// forgiven is the time after which one of them expires.
	forgiven = 3 * time.Second
	// maxAddresses is the number of addresses that are tracked.
	maxAddresses = 1 << 14
)

// failures counts failed logins by address, as a leaky bucket. Its zero value is ready to use.
type failures struct {
	mu sync.Mutex
	// until is the time at which the last failure of an address expires.
	until map[netip.Prefix]time.Time
}

// guard calls login unless too many logins have failed from this address.
func (f *failures) guard(from string, login func() (*User, error)) (*User, error) {
	place, ok := network(from)
	if !ok {
		return login()
	}
	f.mu.Lock()
	full := time.Until(f.until[place]) > (maxFailures-1)*forgiven
	f.mu.Unlock()
	if full {
		return nil, ErrTooMany
	}
	u, err := login()
	if errors.Is(err, ErrWrongPassword) {
		f.count(place, time.Now())
	}
	return u, err
}

// count counts a failure.
func (f *failures) count(place netip.Prefix, now time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.until == nil {
		f.until = map[netip.Prefix]time.Time{}
	}
	if _, known := f.until[place]; !known && len(f.until) >= maxAddresses {
		f.dropExpired(now)
	}
	until := f.until[place]
	if until.Before(now) {
		until = now
	}
	f.until[place] = until.Add(forgiven)
}

// dropExpired makes room. It drops expired addresses first, then arbitrary ones.
func (f *failures) dropExpired(now time.Time) {
	for place, until := range f.until {
		if until.Before(now) {
			delete(f.until, place)
		}
	}
	for place := range f.until {
		if len(f.until) < maxAddresses {
			return
		}
		delete(f.until, place)
	}
}

// network returns the network that is counted: an IPv4 address or an IPv6 /64. ok is false if
// from is not an address.
func network(from string) (p netip.Prefix, ok bool) {
	ap, err := netip.ParseAddrPort(from)
	if err != nil {
		return p, false
	}
	ip, bits := ap.Addr().Unmap().WithZone(""), 64
	if ip.Is4() {
		bits = 32
	}
	p, err = ip.Prefix(bits)
	return p, err == nil
}

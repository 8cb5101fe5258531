package access

import (
	"crypto/sha256"
	"errors"
	"net/netip"
	"sync"
	"time"
)

const (
	// maxFailures is the number of logins in a row that may fail at one place.
	maxFailures = 20
	// forgiven is the time after which one of them expires.
	forgiven = 3 * time.Second
	// maxPlaces is the number of places that are tracked.
	maxPlaces = 1 << 14
)

// place is what failures are counted by: the network of a client and a keyed hash of the user's
// name. A proxy is the network of many clients; one with a wrong password must not lock out others.
type place struct {
	network netip.Prefix
	user    [sha256.Size]byte
}

// failures counts failed logins by place, as a leaky bucket. Its zero value is ready to use.
type failures struct {
	mu sync.Mutex
	// until is the time at which the last failure at a place expires.
	until map[place]time.Time
}

// guard calls login unless too many logins of this user have failed from this address.
func (f *failures) guard(from string, user [sha256.Size]byte, login func() (*User, error)) (*User, error) {
	where, ok := network(from)
	if !ok {
		return login()
	}
	at := place{where, user}
	f.mu.Lock()
	full := time.Until(f.until[at]) > (maxFailures-1)*forgiven
	f.mu.Unlock()
	if full {
		return nil, ErrTooMany
	}
	u, err := login()
	if errors.Is(err, ErrWrongPassword) {
		f.count(at, time.Now())
	}
	return u, err
}

// count counts a failure.
func (f *failures) count(at place, now time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.until == nil {
		f.until = map[place]time.Time{}
	}
	if _, known := f.until[at]; !known && len(f.until) >= maxPlaces {
		f.dropExpired(now)
	}
	until := f.until[at]
	if until.Before(now) {
		until = now
	}
	f.until[at] = until.Add(forgiven)
}

// dropExpired makes room. It drops expired places first, then arbitrary ones.
func (f *failures) dropExpired(now time.Time) {
	for at, until := range f.until {
		if until.Before(now) {
			delete(f.until, at)
		}
	}
	for at := range f.until {
		if len(f.until) < maxPlaces {
			return
		}
		delete(f.until, at)
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

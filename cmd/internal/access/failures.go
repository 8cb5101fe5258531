package access

import (
	"errors"
	"net/netip"
	"sync"
	"time"
)

const (
	// maxFailures is how many logins in a row may fail from one address,
	maxFailures = 20
	// forgiven and how long it takes until one of them is forgotten.
	forgiven = 3 * time.Second
	// maxAddresses is how many addresses are remembered.
	maxAddresses = 1 << 14
)

// failures counts the logins that failed by address: a bucket that leaks. Its zero value is
// ready.
type failures struct {
	mu sync.Mutex
	// until is when the last failure of an address is forgotten.
	until map[netip.Prefix]time.Time
}

// guard calls login unless it failed too often from there.
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
		f.forget(now)
	}
	until := f.until[place]
	if until.Before(now) {
		until = now
	}
	f.until[place] = until.Add(forgiven)
}

// forget makes room: those whose failures are forgotten go first, then any.
func (f *failures) forget(now time.Time) {
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

// network returns the address that is counted: of IPv6 the /64, which is what one client has. ok
// is false for what is no address.
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

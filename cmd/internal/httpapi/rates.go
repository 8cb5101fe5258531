package httpapi

import (
	"container/list"
	"math"
	"net"
	"net/netip"
	"sync"

	"golang.org/x/time/rate"
)

// maxClients is how many clients are told apart. Of more, those that were silent longest
// are forgotten, and may begin anew.
const maxClients = 10_000

// Rates holds how fast each client may ask. Its methods may be called concurrently.
type Rates struct {
	mu        sync.Mutex
	perSecond float64 // 0: no limit
	byAddr    map[netip.Prefix]*list.Element
	recent    *list.List // of *client, the one that asked last in front
}

type client struct {
	addr netip.Prefix
	*rate.Limiter
}

// NewRates returns a table for so many requests a second of each client; 0 is no limit.
func NewRates(perSecond float64) *Rates {
	rs := new(Rates)
	rs.Set(perSecond)
	return rs
}

// Set changes how many requests a second each client has. All begin anew, with the next request or the
// next piece of a stream.
func (rs *Rates) Set(perSecond float64) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	if rs.byAddr != nil && perSecond == rs.perSecond {
		return
	}
	rs.perSecond = perSecond
	rs.byAddr, rs.recent = map[netip.Prefix]*list.Element{}, list.New()
}

// of returns the limiter of the client at an address, nil if there is no limit.
func (rs *Rates) of(remote string) *rate.Limiter {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	if rs.perSecond <= 0 {
		return nil
	}
	addr := network(remote)
	if e := rs.byAddr[addr]; e != nil {
		rs.recent.MoveToFront(e)
		return e.Value.(*client).Limiter
	}
	if rs.recent.Len() >= maxClients {
		last := rs.recent.Back()
		delete(rs.byAddr, last.Value.(*client).addr)
		rs.recent.Remove(last)
	}
	burst := int(math.Ceil(min(rs.perSecond, math.MaxInt32)))
	c := &client{addr, rate.NewLimiter(rate.Limit(rs.perSecond), burst)}
	rs.byAddr[addr] = rs.recent.PushFront(c)
	return c.Limiter
}

// network returns what is taken for one client: an IPv4 address, a /64 of IPv6, and all
// that has neither together.
func network(remote string) netip.Prefix {
	host, _, err := net.SplitHostPort(remote)
	if err != nil {
		host = remote
	}
	addr, err := netip.ParseAddr(host)
	if err != nil {
		return netip.Prefix{}
	}
	addr = addr.Unmap().WithZone("")
	bits := 32
	if addr.Is6() {
		bits = 64
	}
	p, _ := addr.Prefix(bits)
	return p
}

package httpapi

import (
	"container/list"
	"math"
	"net"
	"net/netip"
	"sync"

	"golang.org/x/time/rate"
)

// maxClients is the number of clients with a limiter of their own. The least recently active
// client is dropped first and starts with a full allowance when it returns.
const maxClients = 10_000

// Rates limits the requests of each client. It is safe for concurrent use.
type Rates struct {
	mu        sync.Mutex
	perSecond float64 // 0: no limit
	byAddr    map[netip.Prefix]*list.Element
	recent    *list.List // of *client, most recently active first
}

type client struct {
	addr netip.Prefix
	*rate.Limiter
}

// NewRates returns limiters for perSecond requests per second and client; 0 means no limit.
func NewRates(perSecond float64) *Rates {
	rs := new(Rates)
	rs.Set(perSecond)
	return rs
}

// Set changes the limit. All clients start with a full allowance at their next request or the
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

// of returns the limiter of the client at an address, or nil if there is no limit.
func (rs *Rates) of(remote string) *rate.Limiter {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	if rs.perSecond <= 0 {
		return nil
	}
	addr := clientNetwork(remote)
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

// clientNetwork returns the network that counts as one client: an IPv4 address, or an IPv6 /64.
// All remote addresses that don't parse count as one client.
func clientNetwork(remote string) netip.Prefix {
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

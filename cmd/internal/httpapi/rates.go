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

// rates holds how fast each client may ask.
type rates struct {
	limit rate.Limit
	burst int

	mu     sync.Mutex
	byAddr map[netip.Prefix]*list.Element
	recent *list.List // of *client, the one that asked last in front
}

type client struct {
	addr netip.Prefix
	*rate.Limiter
}

// newRates returns a table for so many requests a second; nil for 0, which has no limit.
func newRates(perSecond float64) *rates {
	if perSecond <= 0 {
		return nil
	}
	return &rates{
		limit:  rate.Limit(perSecond),
		burst:  int(math.Ceil(min(perSecond, math.MaxInt32))),
		byAddr: map[netip.Prefix]*list.Element{},
		recent: list.New(),
	}
}

// of returns the limiter of the client at an address, nil if there is no limit.
func (rs *rates) of(remote string) *rate.Limiter {
	if rs == nil {
		return nil
	}
	addr := network(remote)
	rs.mu.Lock()
	defer rs.mu.Unlock()
	if e := rs.byAddr[addr]; e != nil {
		rs.recent.MoveToFront(e)
		return e.Value.(*client).Limiter
	}
	if rs.recent.Len() >= maxClients {
		last := rs.recent.Back()
		delete(rs.byAddr, last.Value.(*client).addr)
		rs.recent.Remove(last)
	}
	c := &client{addr, rate.NewLimiter(rs.limit, rs.burst)}
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

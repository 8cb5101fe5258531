// Package forward has what a forward proxy needs next to a cache: which destinations it connects to, and tunnels.
package forward

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"syscall"
	"time"
)

// errRefused is wrapped by the errors of connections to addresses that clients must not reach through the proxy.
var errRefused = errors.New("the proxy does not connect to this address")

// Dial connects to a destination of a client.
type Dial func(ctx context.Context, network, address string) (net.Conn, error)

// NewDial returns a Dial. If local is false it refuses the addresses of this machine and of its link, among them those
// of cloud metadata: clients elsewhere could not reach them without the proxy. The check is of the address that a name
// has when the connection is made, so a name cannot get around it.
func NewDial(local bool) Dial {
	d := &net.Dialer{Timeout: 10 * time.Second}
	if !local {
		d.Control = func(_, address string, _ syscall.RawConn) error { return check(address) }
	}
	return d.DialContext
}

// check returns an error wrapping errRefused for an address of this machine or of its link.
func check(address string) error {
	a, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("%w: %s", errRefused, address)
	}
	ip := a.Addr().Unmap()
	if ip.IsLoopback() || ip.IsUnspecified() || ip.IsLinkLocalUnicast() || ip.IsMulticast() || own(ip) {
		return fmt.Errorf("%w: %s", errRefused, ip)
	}
	return nil
}

// own reports whether this machine has an address.
func own(ip netip.Addr) bool {
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		return true
	}
	for _, a := range addresses {
		if p, err := netip.ParsePrefix(a.String()); err == nil && p.Addr().Unmap() == ip {
			return true
		}
	}
	return false
}

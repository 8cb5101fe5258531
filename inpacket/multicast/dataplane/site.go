package dataplane

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/netip"
)

// Site describes a node of the overlay: where it listens, and where its neighbours
// do. Addresses are IP addresses and ports, as in 192.0.2.1:9000 or [2001:db8::1]:9000,
// without zones; in one site's sockets IPv4 and IPv6 aren't mixed.
type Site struct {
	Name string `json:"name"`
	// Listen is the address of the node's socket. Its address may be 0.0.0.0 or ::,
	// its port 0 for any that is free. It may be left out where all neighbours have
	// sockets of their own.
	Listen netip.AddrPort `json:"listen"`
	// Host, if given, is the address of a socket for packets of the node's own host.
	// Whoever can send to it can send from this node: let it be on loopback.
	Host netip.AddrPort `json:"host,omitzero"`
	// Neighbors are in the order of the node's ports.
	Neighbors []Neighbor `json:"neighbors"`
}

// Neighbor is the other end of a link.
type Neighbor struct {
	Name    string         `json:"name,omitempty"` // for readers
	Address netip.AddrPort `json:"address"`
	// Local, if given, is the address of a socket for this link alone, for links
	// that are interfaces of their own.
	Local netip.AddrPort `json:"local,omitzero"`
}

// ErrSite is wrapped by all errors that are a description's fault.
var ErrSite = errors.New("not the description of a node")

// ParseSite reads a site from JSON, as [Site] writes it, and checks it. Unknown fields
// are errors, and so is anything after it.
func ParseSite(b []byte) (Site, error) {
	var s Site
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(&s); err != nil {
		return Site{}, fmt.Errorf("dataplane: %w: %w", ErrSite, err)
	}
	if _, err := d.Token(); err != io.EOF {
		return Site{}, fmt.Errorf("dataplane: %w: there is more after it, at byte %d", ErrSite, d.InputOffset())
	}
	return s, s.Check()
}

// Check says what is wrong with a site: nil if nothing is.
func (s *Site) Check() error {
	if s.Name == "" {
		return s.fault("name it")
	}
	if s.shares() && !s.Listen.IsValid() {
		return s.fault("give the address it listens at, as in \"listen\": \"127.0.0.1:9000\"")
	}
	if s.Listen.Addr().Zone() != "" || s.Host.Addr().Zone() != "" {
		return s.fault("an address with a zone, %v: give one without", s.Listen)
	}
	ports := make(map[netip.AddrPort]int, len(s.Neighbors))
	for i, n := range s.Neighbors {
		local := s.Listen
		if n.Local.IsValid() {
			local = n.Local
		}
		a := n.Address
		switch {
		case !a.IsValid():
			return s.fault("neighbor %d has no address", i)
		case a.Port() == 0 || a.Addr().IsUnspecified():
			return s.fault("neighbor %d: can't send to %v: give the address it is reached at", i, a)
		case a.Addr().Zone() != "" || local.Addr().Zone() != "":
			return s.fault("neighbor %d: an address with a zone, %v: give one without", i, a)
		case plain(a).Addr().Is4() != plain(local).Addr().Is4():
			return s.fault("neighbor %d: %v can't be reached from %v: give both as IPv4 or both as IPv6", i, a, local)
		}
		if first, twice := ports[plain(a)]; twice {
			return s.fault("neighbors %d and %d have the same address %v: packets couldn't be told apart", first, i, a)
		}
		ports[plain(a)] = i
	}
	return nil
}

// shares says whether the node has a socket that is not one neighbour's alone.
func (s *Site) shares() bool {
	for _, n := range s.Neighbors {
		if !n.Local.IsValid() {
			return true
		}
	}
	return len(s.Neighbors) == 0
}

func (s *Site) fault(format string, args ...any) error {
	return fmt.Errorf("dataplane: node %q: %w: %w", s.Name, ErrSite, fmt.Errorf(format, args...))
}

// plain returns an address with IPv4 as IPv4, not as IPv6.
func plain(a netip.AddrPort) netip.AddrPort {
	return netip.AddrPortFrom(a.Addr().Unmap(), a.Port())
}

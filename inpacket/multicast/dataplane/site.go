// Package dataplane forwards packets between nodes over UDP sockets: an overlay
// whose nodes keep no state of groups.
//
// A [Node] is one place of the overlay: a socket, the addresses of its neighbours in
// the order of its ports, and a [multicast.Router] that says where each packet goes.
// A [Site] describes it, in JSON, so that one process may run one node. A [Fleet] is
// all nodes of a topology in one process.
//
// A packet's port of ingress is found from the address it comes from, and packets
// from other addresses are dropped. That is no proof of who sent a packet where
// addresses can be forged. What keeps strangers' packets from going far is that they
// don't know the links' keys, and what routers drop: see package multicast.
//
// UDP loses packets, and so does this plane: nothing is sent again. Where receivers
// are slower than senders, sockets overflow ([Counters] says where), so whoever has
// much to send sends at a pace: a [Pacer] holds a rate, or the number of packets in
// flight. Header and payload of a packet together must fit one datagram, see
// [Options].
package dataplane

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"strings"

	"github.com/umbel-filters/umbel/inpacket/multicast/topology"
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

// Consecutive returns addresses for nodes of one host: the first one's, and those
// with the following port numbers. It is an error if there aren't so many.
func Consecutive(first netip.AddrPort, nodes int) ([]netip.AddrPort, error) {
	if !first.IsValid() || first.Port() == 0 || nodes < 0 || nodes > 1<<16-int(first.Port()) {
		return nil, fmt.Errorf("dataplane: %d nodes from %v: port numbers end at 65535: begin with a lower one", nodes, first)
	}
	all := make([]netip.AddrPort, nodes)
	for i := range all {
		all[i] = netip.AddrPortFrom(first.Addr(), first.Port()+uint16(i))
	}
	return all, nil
}

// longestHost is how many bytes a line of a hosts file may have.
const longestHost = 1 << 12

// ReadHosts reads the addresses of a graph's nodes: lines of a name, blanks and an
// address with a port, in any order. Empty lines and those that begin with # mean
// nothing. Each node must be there once, and no other name.
func ReadHosts(r io.Reader, g *topology.Graph) ([]netip.AddrPort, error) {
	index := make(map[string]int, len(g.Nodes))
	for i, n := range g.Nodes {
		index[strings.Join(strings.Fields(n.Name), " ")] = i
	}
	all := make([]netip.AddrPort, len(g.Nodes))
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, longestHost)
	number := 0
	for lines.Scan() {
		number++
		fields := strings.Fields(lines.Text())
		if len(fields) == 0 || strings.HasPrefix(fields[0], "#") {
			continue
		}
		last := len(fields) - 1
		name := strings.Join(fields[:last], " ")
		i, known := index[name]
		if !known {
			return nil, fmt.Errorf("dataplane: hosts, line %d: no node %q: write a node's name and its address:port", number, name)
		}
		a, err := netip.ParseAddrPort(fields[last])
		if err != nil {
			return nil, fmt.Errorf("dataplane: hosts, line %d: node %q: write its address and port, as in 127.0.0.1:9000: %w", number, name, err)
		}
		if all[i].IsValid() {
			return nil, fmt.Errorf("dataplane: hosts, line %d: node %q again, at %v and %v: leave one", number, name, all[i], a)
		}
		all[i] = a
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("dataplane: hosts, after line %d: %w", number, err)
	}
	for i, a := range all {
		if !a.IsValid() {
			return nil, fmt.Errorf("dataplane: hosts: no address for node %q: add a line", g.Nodes[i].Name)
		}
	}
	return all, nil
}

// Sites returns the sites of all nodes of a graph whose nodes have one address each,
// in the graph's order.
func Sites(g *topology.Graph, addresses []netip.AddrPort) ([]Site, error) {
	if len(addresses) != len(g.Nodes) {
		return nil, fmt.Errorf("dataplane: %d addresses for %d nodes: give one each", len(addresses), len(g.Nodes))
	}
	sites := make([]Site, len(g.Nodes))
	for node, ports := range g.Ports() {
		s := Site{Name: g.Nodes[node].Name, Listen: addresses[node], Neighbors: make([]Neighbor, len(ports))}
		for i, p := range ports {
			s.Neighbors[i] = Neighbor{Name: g.Nodes[p.Neighbor].Name, Address: addresses[p.Neighbor]}
		}
		if err := s.Check(); err != nil {
			return nil, err
		}
		sites[node] = s
	}
	return sites, nil
}

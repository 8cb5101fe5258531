// Package dataplane forwards packets between nodes over UDP sockets: an overlay whose
// nodes keep no state of groups.
//
// A [Node] is one node of the overlay: a socket, the addresses of its neighbors in the
// order of its ports, and a [multicast.Router] that decides where each packet is sent. A
// [NodeConfig] describes it in JSON, so that a process can run one node. A [Cluster] is
// all nodes of a topology in one process.
//
// The port on which a packet arrived follows from its source address, and packets from
// unknown addresses are dropped. This does not authenticate senders where addresses can
// be forged. Forged packets don't get far because their senders don't know the links'
// keys, and because of what routers drop: see package multicast.
//
// UDP loses packets, and nothing is retransmitted. If receivers are slower than senders,
// sockets overflow ([Counters] shows where). So a sender of many packets should limit its
// pace: a [Pacer] limits the rate or the number of packets in flight. Header and payload
// of a packet must fit in one datagram, see [Options].
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

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/internal/sentinel"
	"github.com/umbel-filters/umbel/multicast/topology"
)

// NodeConfig describes a node of the overlay: its address and those of its neighbors.
// Addresses are IP addresses and ports, as in 192.0.2.1:9000 or [2001:db8::1]:9000,
// without zones. The sockets of one node must not mix IPv4 and IPv6.
type NodeConfig struct {
	Name string `json:"name"`
	// Listen is the address of the node's socket. It may be 0.0.0.0 or ::, and its port
	// may be 0 for any free port. It may be absent if all neighbors have their own
	// sockets.
	Listen netip.AddrPort `json:"listen"`
	// Host, if given, is the address of a socket for packets of the node's own host.
	// Anyone who can send to it can send from this node, so it should be a loopback address.
	Host netip.AddrPort `json:"host,omitzero"`
	// Neighbors are in the order of the node's ports.
	Neighbors []Neighbor `json:"neighbors"`
}

// Neighbor is the other end of a link.
type Neighbor struct {
	Name    string         `json:"name,omitempty"` // for readers
	Address netip.AddrPort `json:"address"`
	// Local, if given, is the address of a socket for this link only, for links with
	// their own network interface.
	Local netip.AddrPort `json:"local,omitzero"`
}

// ErrNodeConfig means that a node's description is not valid.
var ErrNodeConfig = errors.New("not the description of a node")

// ParseNodeConfig reads a description from JSON and checks it. Unknown fields and data
// after it are errors. Errors wrap [ErrNodeConfig].
func ParseNodeConfig(b []byte) (NodeConfig, error) {
	var s NodeConfig
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(&s); err != nil {
		return NodeConfig{}, fmt.Errorf("%w: %w", ErrNodeConfig, err)
	}
	if _, err := d.Token(); err != io.EOF {
		return NodeConfig{}, fmt.Errorf("%w: data after it, at byte %d", ErrNodeConfig, d.InputOffset())
	}
	return s, s.Check()
}

// Check returns an error wrapping [ErrNodeConfig] unless the description is valid.
func (s *NodeConfig) Check() error {
	if s.Name == "" {
		return s.fault("want a name")
	}
	if s.shares() && !s.Listen.IsValid() {
		return s.fault("want its address, as in \"listen\": \"127.0.0.1:9000\"")
	}
	if s.Listen.Addr().Zone() != "" || s.Host.Addr().Zone() != "" {
		return s.fault("address %v has a zone, want one without", s.Listen)
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
			return s.fault("neighbor %d: can't send to %v, want the address at which it is reached", i, a)
		case a.Addr().Zone() != "" || local.Addr().Zone() != "":
			return s.fault("neighbor %d: address %v has a zone, want one without", i, a)
		case plain(a).Addr().Is4() != plain(local).Addr().Is4():
			return s.fault("neighbor %d: %v can't be reached from %v, want two IPv4 or two IPv6 addresses", i, a, local)
		}
		if first, twice := ports[plain(a)]; twice {
			return s.fault("neighbors %d and %d have the same address %v, want different ones", first, i, a)
		}
		ports[plain(a)] = i
	}
	return nil
}

// shares reports whether the node has a socket for more than one neighbor.
func (s *NodeConfig) shares() bool {
	for _, n := range s.Neighbors {
		if !n.Local.IsValid() {
			return true
		}
	}
	return len(s.Neighbors) == 0
}

func (s *NodeConfig) fault(format string, args ...any) error {
	return fmt.Errorf("node %q: %w: %w", s.Name, ErrNodeConfig, fmt.Errorf(format, args...))
}

// plain returns an IPv4 address in IPv4 form instead of IPv6.
func plain(a netip.AddrPort) netip.AddrPort {
	return netip.AddrPortFrom(a.Addr().Unmap(), a.Port())
}

// Consecutive returns addresses for the nodes of one host: first, and the same address
// with the following port numbers. It returns an error if there are not enough port
// numbers.
func Consecutive(first netip.AddrPort, nodes int) ([]netip.AddrPort, error) {
	if !first.IsValid() || first.Port() == 0 || nodes < 0 || nodes > 1<<16-int(first.Port()) {
		return nil, sentinel.Errorf(umbel.ErrGoal, "%d nodes from %v need port numbers above 65535; use a lower first one", nodes, first)
	}
	all := make([]netip.AddrPort, nodes)
	for i := range all {
		all[i] = netip.AddrPortFrom(first.Addr(), first.Port()+uint16(i))
	}
	return all, nil
}

// longestHost is the largest number of bytes of a line of a hosts file.
const longestHost = 1 << 12

// ReadHosts reads the addresses of a graph's nodes. Each line contains a name, blanks and
// an address with a port, in any order of nodes. Empty lines and lines that begin with #
// are ignored, and so is a byte order mark. Each node must occur exactly once, and no other name.
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
		text := lines.Text()
		if number == 1 {
			text = strings.TrimPrefix(text, "\ufeff") // a byte order mark
		}
		fields := strings.Fields(text)
		if len(fields) == 0 || strings.HasPrefix(fields[0], "#") {
			continue
		}
		last := len(fields) - 1
		name := strings.Join(fields[:last], " ")
		i, known := index[name]
		if !known {
			return nil, sentinel.Errorf(umbel.ErrGoal, "hosts, line %d: unknown node %q, want a node's name and its address:port", number, name)
		}
		a, err := netip.ParseAddrPort(fields[last])
		if err != nil {
			return nil, fmt.Errorf("hosts, line %d: node %q: want its address and port, as in 127.0.0.1:9000: %w", number, name, err)
		}
		if all[i].IsValid() {
			return nil, sentinel.Errorf(umbel.ErrGoal, "hosts, line %d: repeated node %q, at %v and %v", number, name, all[i], a)
		}
		all[i] = a
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("hosts, after line %d: %w", number, err)
	}
	for i, a := range all {
		if !a.IsValid() {
			return nil, sentinel.Errorf(umbel.ErrGoal, "hosts: no address for node %q", g.Nodes[i].Name)
		}
	}
	return all, nil
}

// NodeConfigs returns the descriptions of all nodes of a graph with one address each, in
// the graph's order.
func NodeConfigs(g *topology.Graph, addresses []netip.AddrPort) ([]NodeConfig, error) {
	if len(addresses) != len(g.Nodes) {
		return nil, sentinel.Errorf(umbel.ErrGoal, "%d addresses for %d nodes, want one per node", len(addresses), len(g.Nodes))
	}
	sites := make([]NodeConfig, len(g.Nodes))
	for node, ports := range g.Ports() {
		s := NodeConfig{Name: g.Nodes[node].Name, Listen: addresses[node], Neighbors: make([]Neighbor, len(ports))}
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

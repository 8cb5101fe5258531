package dataplane

import (
	"bufio"
	"fmt"
	"io"
	"net/netip"
	"strings"

	"github.com/umbel-filters/umbel/inpacket/multicast/topology"
)

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

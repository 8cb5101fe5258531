// Package bier encodes receivers into packets as bits, as BIER (RFC 8279 and 8296) and
// BIER-TE (RFC 9262) do. Filters in packets are compared with them.
//
// In a [Domain] each bit is a receiver, and each router knows the neighbor on the
// shortest path to it. In a [TE] domain, that of BIER-TE, each bit is a link of the tree
// or a receiver at its end. Packets of both begin with a [Header].
//
// These routers differ from those of filters in one respect: a packet may leave through
// the port on which it arrived, if it has bits for that side. No sender makes such a
// packet, and no loop results, because each hop brings a bit closer to its receiver. The
// RFC has no rule against it, so there is none here.
package bier

import (
	"fmt"
	"math"

	"github.com/umbel-filters/umbel/multicast"
	"github.com/umbel-filters/umbel/multicast/tree"
)

// Domain is a network with BIER: RFC 8279. Node i is the router with BFR-id i+1, bit
// i%BSL of set i/BSL. A domain and its routers are not safe for concurrent use.
type Domain struct {
	known, present *multicast.Network
	routes         routes
	length         int
	routers        []*Router
}

// New returns the domain of a network. The tables of its routers contain the shortest
// paths of the known network. The routers send over the links of the present network,
// which has the same nodes. After routing has converged, the two are the same.
//
// The bit strings are the shortest that have a bit for each node, if that is at most the
// options' MaxBSL. Otherwise they have MaxBSL bits, nodes are divided into sets, and a
// packet reaches one set. New returns an error wrapping [ErrTooLarge] if there are more
// than 256 sets or paths of more than 255 hops. The routes take two bytes for each pair
// of nodes: 200 MB for 10 000.
func New(known, present *multicast.Network, o Options) (*Domain, error) {
	longest, err := o.longest()
	if err != nil {
		return nil, err
	}
	if err := sameNodes(known, present); err != nil {
		return nil, err
	}
	nodes := len(known.Graph.Nodes)
	length := min(fitting(nodes), longest)
	// A BFR-id has 16 bits, and 0 is not valid.
	if most := min(maxSets*length, 1<<16-1); nodes > most {
		return nil, fmt.Errorf("bier: %d nodes, but %d sets of %d bits are enough for %d: %w", nodes, maxSets, length, most, ErrTooLarge)
	}
	r, err := findRoutes(known, o.Metric)
	if err != nil {
		return nil, err
	}
	return &Domain{known, present, r, length, make([]*Router, nodes)}, nil
}

// BSL returns the length of the bit strings in bits.
func (d *Domain) BSL() int { return d.length }

// Sets returns the number of sets of nodes.
func (d *Domain) Sets() int { return (len(d.routers) + d.length - 1) / d.length }

// Plan returns the headers of packets from a source to receivers, one for each set that
// contains receivers, in ascending order, and the total length of their bit strings. It
// ignores the source among the receivers. Errors wrap tree.ErrNode, tree.ErrNoReceivers
// or tree.ErrDisconnected.
func (d *Domain) Plan(source int, receivers []int) (headers [][]byte, bits int, err error) {
	strings := make([][]byte, d.Sets())
	for _, r := range receivers {
		if err := d.reaches(source, r); err != nil {
			return nil, 0, err
		}
		if r == source {
			continue
		}
		s := &strings[r/d.length]
		if *s == nil {
			*s = make([]byte, d.length/8)
		}
		setBit(*s, r%d.length)
	}
	for i, s := range strings {
		if s == nil {
			continue
		}
		h := Header{BIFT: bift(d.length, plain, i), S: true, TTL: maxTTL, BFIR: uint16(source + 1), Bits: s}
		b, err := h.AppendBinary(nil)
		if err != nil {
			return nil, 0, err
		}
		headers = append(headers, b)
		bits += d.length
	}
	if headers == nil {
		return nil, 0, fmt.Errorf("bier: %d receivers, and none other than the source %d: %w", len(receivers), source, tree.ErrNoReceivers)
	}
	return headers, bits, nil
}

// reaches returns an error unless a path leads from source to receiver.
func (d *Domain) reaches(source, receiver int) error {
	for _, node := range []int{source, receiver} {
		if node < 0 || node >= len(d.routers) {
			return fmt.Errorf("bier: node %d, want 0 to %d: %w", node, len(d.routers)-1, tree.ErrNode)
		}
	}
	if source != receiver && d.routes[receiver][source] == none {
		return fmt.Errorf("bier: no path from node %d to %d; remove that receiver: %w", source, receiver, tree.ErrDisconnected)
	}
	return nil
}

// Router returns the router of a node, always the same one. It panics if there is no such
// node.
func (d *Domain) Router(node int) multicast.Router {
	if d.routers[node] == nil {
		d.routers[node] = d.newRouter(node)
	}
	return d.routers[node]
}

// newRouter makes the tables of a node from the routes: RFC 8279, section 6.4.
func (d *Domain) newRouter(node int) *Router {
	r := &Router{
		scratch: newScratch(bift(d.length, plain, 0), d.Sets(), d.length),
		tables:  make([]table, d.Sets()),
		set:     node / d.length,
		word:    node % d.length >> 6,
		own:     1 << (node & 63),
	}
	ports := portsAt(d.known, d.present, node)
	for s := range r.tables {
		t := &r.tables[s]
		t.rows = make([]uint16, d.length)
		t.masks = make([]uint64, len(ports)*d.length/64)
		t.routed = make([]uint64, d.length/64)
		t.ports = ports
		for bit := range min(d.length, len(d.routers)-s*d.length) {
			port := d.routes[s*d.length+bit][node]
			if port == none {
				continue
			}
			t.rows[bit] = port
			t.mask(int(port))[bit>>6] |= 1 << (bit & 63)
			t.routed[bit>>6] |= 1 << (bit & 63)
		}
	}
	return r
}

// routes are the next hops of shortest paths: routes[to][node] is the port of node on the
// path to to, or none.
//
// In a real domain each router computes its own routes from the shared topology. Here
// this is done once, from the receivers' ends: see [tree.Finder.Toward].
type routes [][]uint16

const none = math.MaxUint16

// findRoutes returns the routes of a network by a metric. It returns an error wrapping
// ErrTooLarge if a path has more hops than a packet may take.
func findRoutes(n *multicast.Network, m tree.Metric) (routes, error) {
	for i, l := range n.Graph.Links {
		if m == tree.Weights && !(l.Weight > 0 && l.Weight <= math.MaxFloat64) {
			return nil, fmt.Errorf("bier: link %d has the weight %v, want a finite weight above 0", i, l.Weight)
		}
	}
	nodes := len(n.Graph.Nodes)
	port := make([]uint16, 2*len(n.Graph.Links)) // by arc
	for u := range nodes {
		for i, p := range n.Ports(u) {
			port[p.Arc] = uint16(i)
		}
	}
	r := make(routes, nodes)
	finder := tree.NewFinder(n.Graph, m)
	for to := range r {
		r[to] = make([]uint16, nodes)
		arcs, hops := finder.Toward(to)
		for u, a := range arcs {
			if hops[u] > maxTTL {
				return nil, fmt.Errorf("bier: the path from %d to %d has %d hops, want at most %d: %w", u, to, hops[u], maxTTL, ErrTooLarge)
			}
			r[to][u] = none
			if a >= 0 {
				r[to][u] = port[a]
			}
		}
	}
	return r, nil
}

// portsAt returns, for each port of a node in the known network, the port to the same
// neighbor in the present network, or -1 if there is none.
func portsAt(known, present *multicast.Network, node int) []int {
	ports := make([]int, len(known.Ports(node)))
	for i, p := range known.Ports(node) {
		ports[i] = -1
		for j, q := range present.Ports(node) {
			if q.Neighbor == p.Neighbor {
				ports[i] = j
			}
		}
	}
	return ports
}

// sameNodes returns an error unless both networks have the same number of nodes.
func sameNodes(known, present *multicast.Network) error {
	if a, b := len(known.Graph.Nodes), len(present.Graph.Nodes); a != b {
		return fmt.Errorf("bier: %d known and %d present nodes, want the same nodes", a, b)
	}
	return nil
}

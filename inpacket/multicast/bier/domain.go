// Package bier writes receivers into packets as bits, as BIER (RFC 8279 and 8296)
// and BIER-TE (RFC 9262) do: what filters in packets are compared with.
//
// In a [Domain] a bit is a receiver, and each router knows by which neighbor the
// shortest path to it leads. In an [Engineered] domain, BIER-TE's, a bit is a link of
// the tree or a receiver at the end of it. Packets of both begin with a [Header].
//
// Routers here differ from those of filters in one thing: a packet may leave by the
// port it came in on, if there are bits for that side. No sender's packet has any, and
// no loop can come of it, since a bit only ever gets nearer to its receiver; the RFC
// has no rule against it, so there is none here.
package bier

import (
	"fmt"
	"math"

	"github.com/umbel-filters/umbel/inpacket/multicast"
	"github.com/umbel-filters/umbel/inpacket/multicast/tree"
)

// Domain is a network with BIER: RFC 8279. Node i is the router with BFR-id i+1, bit
// i%BSL of set i/BSL. It belongs to one goroutine, with its routers.
type Domain struct {
	known, present *multicast.Network
	routes         routes
	length         int
	routers        []*Router
}

// New returns the domain of a network. Its routers' tables are those of the shortest
// paths of the network as it is known; they meet the links of the network as it is at
// present, with the same nodes. Where routing has caught up, the two are the same.
//
// The bit strings are the shortest that hold all nodes, if that isn't beyond the
// options' MaxBSL; otherwise they are as long as that, and nodes are divided into
// sets, of which a packet reaches one. The error is ErrTooLarge if there are more
// than 256 sets, or paths of more than 255 hops. The routes take two bytes for each
// pair of nodes: 200 MB for 10 000.
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
	// A BFR-id is 16 bits, and 0 is none.
	if most := min(maxSets*length, 1<<16-1); nodes > most {
		return nil, fmt.Errorf("bier: %d nodes, and %d sets of %d bits hold %d: %w", nodes, maxSets, length, most, ErrTooLarge)
	}
	r, err := findRoutes(known, o.Metric)
	if err != nil {
		return nil, err
	}
	return &Domain{known, present, r, length, make([]*Router, nodes)}, nil
}

// BSL returns the length of the bit strings in bits.
func (d *Domain) BSL() int { return d.length }

// Sets returns how many sets the nodes are divided into.
func (d *Domain) Sets() int { return (len(d.routers) + d.length - 1) / d.length }

// Plan returns the headers of packets from a source to receivers, one for each set
// that has any of them, in ascending order, and the bits of their bit strings. The
// source among the receivers means nothing: its host has the packet. Errors wrap
// tree.ErrNode, tree.ErrNoReceivers and tree.ErrDisconnected.
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
		return nil, 0, fmt.Errorf("bier: of %d named, none but the source %d: %w", len(receivers), source, tree.ErrNoReceivers)
	}
	return headers, bits, nil
}

// reaches says what keeps packets of a source from a receiver, if anything does.
func (d *Domain) reaches(source, receiver int) error {
	for _, node := range []int{source, receiver} {
		if node < 0 || node >= len(d.routers) {
			return fmt.Errorf("bier: node %d, want 0 to %d: %w", node, len(d.routers)-1, tree.ErrNode)
		}
	}
	if source != receiver && d.routes[receiver][source] == none {
		return fmt.Errorf("bier: no path from node %d to %d, leave it out: %w", source, receiver, tree.ErrDisconnected)
	}
	return nil
}

// Router returns the router of a node, always the same one. It panics if there is no
// such node.
func (d *Domain) Router(node int) multicast.Router {
	if d.routers[node] == nil {
		d.routers[node] = d.newRouter(node)
	}
	return d.routers[node]
}

// newRouter makes a node's tables from the routes: RFC 8279, section 6.4.
func (d *Domain) newRouter(node int) *Router {
	r := &Router{
		desk:   newDesk(bift(d.length, plain, 0), d.Sets(), d.length),
		tables: make([]table, d.Sets()),
		set:    node / d.length,
		word:   node % d.length >> 6,
		own:    1 << (node & 63),
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

// routes are the next hops of shortest paths: routes[to][node] is the port of node
// that leads on to to, or none.
//
// Each router of a domain computes its own from what all know, the network: here
// the same is done once, from the receivers' ends, see [tree.Finder.Toward].
type routes [][]uint16

const none = math.MaxUint16

// findRoutes returns the routes of a network by a metric. The error is ErrTooLarge if a
// path has more hops than a packet may take.
func findRoutes(n *multicast.Network, m tree.Metric) (routes, error) {
	for i, l := range n.Graph.Links {
		if m == tree.Weights && !(l.Weight > 0 && l.Weight <= math.MaxFloat64) {
			return nil, fmt.Errorf("bier: link %d has the weight %v, want above 0 and finite", i, l.Weight)
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
				return nil, fmt.Errorf("bier: the path from %d to %d has %d hops, and packets may take %d: %w", u, to, hops[u], maxTTL, ErrTooLarge)
			}
			r[to][u] = none
			if a >= 0 {
				r[to][u] = port[a]
			}
		}
	}
	return r, nil
}

// portsAt returns, for each port of a node of the known network, the port to the
// same neighbor in the present one, or -1 if there is none any more.
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

// sameNodes says whether two networks have the same nodes, as far as their numbers go.
func sameNodes(known, present *multicast.Network) error {
	if a, b := len(known.Graph.Nodes), len(present.Graph.Nodes); a != b {
		return fmt.Errorf("bier: %d nodes known and %d present, want the same", a, b)
	}
	return nil
}

package bier

import (
	"fmt"
	"math/bits"

	"github.com/umbel-filters/umbel/multicast"
	"github.com/umbel-filters/umbel/multicast/tree"
)

// TE is a network with BIER-TE: RFC 9262. A TE domain and its routers are not safe for
// concurrent use.
//
// It uses the smallest number of bits with which the RFC supports any network and any
// tree. Each link has one bit for both directions, which routers clear before they send
// (section 5.1.1). Each node through which packets may pass has one bit, which marks it
// as a receiver. All leaves, the nodes with at most one link, share one bit, because
// every packet that arrives at a leaf is for it (section 5.1.3). Methods that save more
// bits restrict the trees (rings, hubs, LANs) or leave part of the path to other routing;
// they are not used.
//
// Copies can't loop forever, because each has fewer links left than its packet. But a
// packet with all bits set takes all paths, whose number grows without bound in a mesh:
// routers can't distinguish it from a planned packet.
type TE struct {
	known, present *multicast.Network
	bits, length   int
	decap          []int // the bit of each node
	leaves         int   // the bit that the leaves share
	routers        []*TERouter
}

// NewTE returns the BIER-TE domain of a network. The links of the known network determine
// the bits; the routers send over the links of the present network, which has the same
// nodes. It returns an error wrapping [ErrTooLarge] if more bits than the options' MaxBSL
// are necessary.
func NewTE(known, present *multicast.Network, o Options) (*TE, error) {
	longest, err := o.longest()
	if err != nil {
		return nil, err
	}
	if err := sameNodes(known, present); err != nil {
		return nil, err
	}
	g := known.Graph
	if len(g.Nodes) > 1<<16-1 {
		return nil, fmt.Errorf("bier: %d nodes, want at most %d: %w", len(g.Nodes), 1<<16-1, ErrTooLarge)
	}
	d := &TE{
		known: known, present: present, bits: len(g.Links),
		decap: make([]int, len(g.Nodes)), routers: make([]*TERouter, len(g.Nodes)),
	}
	leaves := 0
	for node := range g.Nodes {
		if d.isLeaf(node) {
			leaves++
			continue
		}
		d.decap[node] = d.bits
		d.bits++
	}
	d.leaves = d.bits
	if leaves > 0 {
		d.bits++
	}
	d.length = fitting(d.bits)
	if d.length > longest {
		return nil, fmt.Errorf("bier: %d links and %d nodes take %d bits, want at most %d: %w", len(g.Links), len(g.Nodes), d.bits, longest, ErrTooLarge)
	}
	for node := range g.Nodes {
		if d.isLeaf(node) {
			d.decap[node] = d.leaves
		}
	}
	return d, nil
}

// isLeaf reports whether a node has at most one link, so that no packet passes through
// it.
func (d *TE) isLeaf(node int) bool { return len(d.known.Ports(node)) < 2 }

// Bits returns the number of bits of links and receivers, at most BSL.
func (d *TE) Bits() int { return d.bits }

// BSL returns the length of the bit strings in bits.
func (d *TE) BSL() int { return d.length }

// Plan returns the header of packets along a tree of the known network, and the length of
// its bit string. It returns an error if the tree fails its Check: a branch that ends at
// a leaf which is not a receiver would deliver the packet there. It returns an error
// wrapping ErrTooLarge if the tree is deeper than 255 hops.
func (d *TE) Plan(t *tree.Tree) (headers [][]byte, bits int, err error) {
	if err := d.check(t); err != nil {
		return nil, 0, err
	}
	s := make([]byte, d.length/8)
	for _, step := range t.Steps {
		setBit(s, step.Arc.Link())
	}
	for _, r := range t.Receivers {
		setBit(s, d.decap[r])
	}
	h := Header{BIFT: bift(d.length, engineered, 0), S: true, TTL: maxTTL, BFIR: uint16(t.Source + 1), Bits: s}
	b, err := h.AppendBinary(nil)
	if err != nil {
		return nil, 0, err
	}
	return [][]byte{b}, d.length, nil
}

// check returns an error unless the tree is valid.
func (d *TE) check(t *tree.Tree) error {
	if t.Graph != d.known.Graph {
		return fmt.Errorf("bier: a tree of the graph %q, want one of the known network, %q", t.Graph.Name, d.known.Graph.Name)
	}
	if err := t.Check(); err != nil {
		return fmt.Errorf("bier: %w", err)
	}
	if depth := t.Depth(); depth > maxTTL {
		return fmt.Errorf("bier: a tree of %d hops, want at most %d: %w", depth, maxTTL, ErrTooLarge)
	}
	return nil
}

// Router returns the router of a node, always the same one. It panics if there is no such
// node.
func (d *TE) Router(node int) multicast.Router {
	if d.routers[node] == nil {
		d.routers[node] = d.newRouter(node)
	}
	return d.routers[node]
}

// newRouter makes the table of a node: the bits of its links and its own bit.
func (d *TE) newRouter(node int) *TERouter {
	words := d.length / 64
	r := &TERouter{
		scratch: newScratch(bift(d.length, engineered, 0), 1, d.length),
		links:   make([]uint64, words),
		first:   make([]int, words),
		ports:   portsAt(d.known, d.present, node),
		word:    d.decap[node] >> 6,
		own:     1 << (d.decap[node] & 63),
		leaf:    d.isLeaf(node),
	}
	known := d.known.Ports(node)
	for _, p := range known {
		r.links[p.Arc.Link()>>6] |= 1 << (p.Arc.Link() & 63)
	}
	for w := range r.first {
		for _, p := range known {
			if p.Arc.Link()>>6 < w {
				r.first[w]++
			}
		}
	}
	return r
}

// TERouter is the router of a node in a [TE] domain. Its table is sparse: ports are in
// the order of their links, so the rank of a link's bit among the bits of the node's
// links is its port.
type TERouter struct {
	scratch
	links []uint64 // the bits of the node's links
	first []int    // for each word, the rank of its first bit
	ports []int    // by rank: the port in the present network, -1 if the link is gone

	word int // the position of its own bit, which marks the node as a receiver
	own  uint64
	leaf bool // the own bit is shared with all leaves
}

// Route sends a copy over each link of the node whose bit the packet has. It clears the
// bits of all these links and its own bit in the copies (RFC 9262, section 4.4), and
// delivers the packet if it has its own bit. A leaf does not clear the shared bit in
// packets of its own host, which are for other leaves.
//
// It drops packets for the same reasons as [Router.Route].
func (r *TERouter) Route(dst []multicast.Copy, b []byte, in int) ([]multicast.Copy, multicast.Verdict) {
	_, ttl, wrong := r.open(b, in)
	if wrong != multicast.None {
		return dst, multicast.Verdict{Drop: wrong}
	}
	var v multicast.Verdict
	if !r.leaf || in != multicast.Host {
		v.Deliver = r.bits[r.word]&r.own != 0
		r.bits[r.word] &^= r.own
	}
	copies := r.split()
	if copies > 0 && ttl == 0 {
		v.Drop = multicast.Expired
		return dst, v
	}
	before := len(dst)
	for w, word := range r.bits {
		for ; word != 0; word &= word - 1 {
			copies--
			below := word&-word - 1
			port := r.ports[r.first[w]+bits.OnesCount64(r.links[w]&below)]
			if port >= 0 {
				dst = append(dst, multicast.Copy{Port: port, Packet: r.copy(b, ttl, copies == 0)})
			}
		}
	}
	if len(dst) == before && !v.Deliver {
		v.Drop = multicast.Unknown
	}
	return dst, v
}

// split keeps the bits of the node's links in r.bits, moves the others to r.out, and
// returns the number that it keeps.
func (r *TERouter) split() int {
	n := 0
	for i, m := range r.links {
		r.out[i] = r.bits[i] &^ m
		r.bits[i] &= m
		n += bits.OnesCount64(r.bits[i])
	}
	return n
}

package bier

import (
	"fmt"
	"math/bits"

	"github.com/umbel-filters/umbel/inpacket/multicast"
	"github.com/umbel-filters/umbel/inpacket/multicast/tree"
)

// Engineered is a network with BIER-TE: RFC 9262. It belongs to one goroutine, with
// its routers.
//
// Bits are given out as sparingly as the RFC has it for any network and any tree:
// one to a link, for both directions, which its routers clear before they send
// (section 5.1.1); one to each node that packets may pass through, to say that they
// are for it too; and one to all leaves, nodes with no more than a single link, for whose routers
// any packet is (section 5.1.3). What saves more binds the trees (rings, hubs, LANs)
// or leaves part of the way to other routing, and isn't done.
//
// Copies can't go in circles, since each has fewer links left than the packet it is
// made of. But a packet with all bits goes over all ways there are, without number in
// a mesh: routers can't tell it from one that was planned.
type Engineered struct {
	known, present *multicast.Network
	bits, length   int
	decap          []int // of each node its bit, or shared
	leaves         int   // the bit that leaves share
	routers        []*EngineeredRouter
}

// NewEngineered returns the BIER-TE domain of a network. Bits are those of the links
// of the network as it is known; routers meet the links of the network as it is at
// present, with the same nodes. The error is ErrTooLarge if there are more bits than
// the options' MaxBSL.
func NewEngineered(known, present *multicast.Network, o Options) (*Engineered, error) {
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
	d := &Engineered{
		known: known, present: present, bits: len(g.Links),
		decap: make([]int, len(g.Nodes)), routers: make([]*EngineeredRouter, len(g.Nodes)),
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
		return nil, fmt.Errorf("bier: %d links and %d nodes take %d bits, and bit strings have up to %d: %w", len(g.Links), len(g.Nodes), d.bits, longest, ErrTooLarge)
	}
	for node := range g.Nodes {
		if d.isLeaf(node) {
			d.decap[node] = d.leaves
		}
	}
	return d, nil
}

// isLeaf returns whether a node has no two links, so that no packet passes through.
func (d *Engineered) isLeaf(node int) bool { return len(d.known.Ports(node)) < 2 }

// Bits returns how many bits links and receivers have, at most BSL.
func (d *Engineered) Bits() int { return d.bits }

// BSL returns the length of the bit strings in bits.
func (d *Engineered) BSL() int { return d.length }

// Plan returns the header of packets along a tree of the known network, and the bits
// of its bit string. It is an error if the tree doesn't pass its Check: a way in it
// that ended at a leaf which receives nothing would deliver there. It is ErrTooLarge
// if the tree is deeper than 255 hops.
func (d *Engineered) Plan(t *tree.Tree) (headers [][]byte, bits int, err error) {
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

// check says what is wrong with a tree, if anything is.
func (d *Engineered) check(t *tree.Tree) error {
	if t.Graph != d.known.Graph {
		return fmt.Errorf("bier: a tree of the graph %q, want one of the known network's, %q", t.Graph.Name, d.known.Graph.Name)
	}
	if err := t.Check(); err != nil {
		return fmt.Errorf("bier: %w", err)
	}
	if depth := t.Depth(); depth > maxTTL {
		return fmt.Errorf("bier: a tree of %d hops, and packets may take %d: %w", depth, maxTTL, ErrTooLarge)
	}
	return nil
}

// Router returns the router of a node, always the same one. It panics if there is no
// such node.
func (d *Engineered) Router(node int) multicast.Router {
	if d.routers[node] == nil {
		d.routers[node] = d.newRouter(node)
	}
	return d.routers[node]
}

// newRouter makes a node's table: the bits of its links and its own.
func (d *Engineered) newRouter(node int) *EngineeredRouter {
	words := d.length / 64
	r := &EngineeredRouter{
		desk:  newDesk(bift(d.length, engineered, 0), 1, d.length),
		links: make([]uint64, words),
		first: make([]int, words),
		ports: portsAt(d.known, d.present, node),
		word:  d.decap[node] >> 6,
		own:   1 << (d.decap[node] & 63),
		leaf:  d.isLeaf(node),
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

// EngineeredRouter is a node's router in an [Engineered] domain. Its table is sparse:
// ports are in the order of their links, so the rank of a link's bit among those of
// all the node's links is its port.
type EngineeredRouter struct {
	desk
	links []uint64 // the bits of the node's links
	first []int    // of each word, the rank of the first of its bits
	ports []int    // by rank, in the present network, -1 where the link is gone

	word int // where its own bit is, which says that packets are for it
	own  uint64
	leaf bool // its own bit is shared with all leaves
}

// Route sends a copy over each of the node's links whose bit the packet has, with the
// bits of all of them, and its own, cleared (RFC 9262, section 4.4), and delivers if
// the packet has its own bit. A leaf leaves the bit that it shares alone in packets
// of its own host, which are for other leaves.
//
// Dropped are packets as by [Router.Route].
func (r *EngineeredRouter) Route(dst []multicast.Copy, b []byte, in int) ([]multicast.Copy, multicast.Verdict) {
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

// split leaves in r.bits those of the node's links, puts the others into r.out, and
// returns how many stay.
func (r *EngineeredRouter) split() int {
	n := 0
	for i, m := range r.links {
		r.out[i] = r.bits[i] &^ m
		r.bits[i] &= m
		n += bits.OnesCount64(r.bits[i])
	}
	return n
}

package scheme

import (
	"fmt"
	"slices"

	"github.com/umbel-filters/umbel/multicast"
	"github.com/umbel-filters/umbel/multicast/inpacket"
	"github.com/umbel-filters/umbel/multicast/topology"
	"github.com/umbel-filters/umbel/multicast/tree"
)

// Routers are the options of routers of all schemes with filters.
type Routers struct {
	// Window is the number of sources whose sequence numbers a router remembers; see
	// [multicast.Config]. Default: none.
	Window int
	// OnlySequenced makes routers drop packets without a sequence number; see
	// [multicast.Config]. Plans have none; the sender adds it.
	OnlySequenced bool
	// DropFalseMatch, unless 0, is the false-match rate above which routers drop a
	// packet, and DropTTL the TTL: see MaxFalseMatch and MaxTTL of [multicast.Config].
	// Umbel plans within the former. For filters with stored codewords the rate is their
	// fill ratio.
	DropFalseMatch float64
	DropTTL        uint8
	// Repair gives each router a detour around each of its links, with the fewest hops in
	// the present network, for use when the link is down. Headers need a TTL with slack
	// for it and, for umbel, a form to which links can be added: Single or Folded.
	Repair bool
}

// filters is the common part of domains of filters: their networks and routers.
type filters struct {
	known, present *multicast.Network
	routers        Routers
	anyFill        bool
	stored         *stored      // nil: routers use the codewords of links directly
	finder         *tree.Finder // of detours; nil: no detours
	nodes          []*multicast.Node
	members        map[uint32][]int
}

func newFilters(known, present *multicast.Network, r Routers, anyFill bool, s *stored) (*filters, error) {
	if err := sameNodes(known.Graph, present.Graph); err != nil {
		return nil, err
	}
	if known.Epoch != present.Epoch {
		return nil, fmt.Errorf("scheme: the known network has epoch %d, the present one %d, want the same", known.Epoch, present.Epoch)
	}
	f := &filters{known: known, present: present, routers: r, anyFill: anyFill, stored: s,
		nodes: make([]*multicast.Node, len(present.Graph.Nodes)), members: map[uint32][]int{}}
	if r.Repair {
		f.finder = tree.NewFinder(present.Graph, tree.Hops)
	}
	// Invalid options are invalid for every node, so check them here.
	if _, err := multicast.NewNode(multicast.Config{Window: r.Window, OnlySequenced: r.OnlySequenced, MaxFalseMatch: r.DropFalseMatch}); err != nil {
		return nil, err
	}
	return f, nil
}

// sameNodes returns an error unless two graphs have the same nodes, in the same order.
func sameNodes(known, present *topology.Graph) error {
	if len(known.Nodes) != len(present.Nodes) {
		return fmt.Errorf("scheme: the known network has %d nodes, the present one %d; only links may differ", len(known.Nodes), len(present.Nodes))
	}
	for i, n := range known.Nodes {
		if m := present.Nodes[i]; n.Name != m.Name {
			return fmt.Errorf("scheme: node %d is %q in the known network, %q in the present one; only links may differ", i, n.Name, m.Name)
		}
	}
	return nil
}

// Router implements Domain.
func (f *filters) Router(node int) multicast.Router { return f.node(node) }

func (f *filters) node(node int) *multicast.Node {
	if f.nodes[node] == nil {
		n, err := multicast.NewNode(f.config(node))
		if err != nil {
			panic(err) // newFilters has checked the options
		}
		f.nodes[node] = n
	}
	return f.nodes[node]
}

// config returns the configuration of a node.
func (f *filters) config(node int) multicast.Config {
	keys := f.present.Keys(node)
	if f.finder != nil {
		keys.Detours = f.present.Detours(node, f.finder)
	}
	if f.stored != nil {
		f.stored.replace(&keys)
	}
	return multicast.Config{ID: uint32(node), Ports: len(f.present.Ports(node)), Keys: []multicast.Keys{keys},
		Window: f.routers.Window, OnlySequenced: f.routers.OnlySequenced, AnyFill: f.anyFill,
		MaxFalseMatch: f.routers.DropFalseMatch, MaxTTL: f.routers.DropTTL}
}

// Receive implements Domain.
func (f *filters) Receive(group uint32, nodes []int) {
	for _, n := range f.members[group] {
		f.node(n).Leave(group)
	}
	for _, n := range nodes {
		f.node(n).Join(group)
	}
	if len(nodes) == 0 {
		delete(f.members, group)
	} else {
		f.members[group] = slices.Clone(nodes)
	}
}

// check returns an error unless the tree is one of the known network and its TTL fits.
func (f *filters) check(t *tree.Tree, ttl int) error {
	if t.Graph != f.known.Graph {
		return fmt.Errorf("scheme: a tree of the graph %q, want one of the known network, %q", t.Graph.Name, f.known.Graph.Name)
	}
	if err := t.Check(); err != nil {
		return fmt.Errorf("scheme: %w", err)
	}
	if ttl > 255 {
		return fmt.Errorf("scheme: a tree of %d hops needs a TTL of %d, want at most 255", t.Depth(), ttl)
	}
	return nil
}

// adjacent returns the arcs next to a tree that are tested for a packet with a TTL, by
// hop.
func adjacent(t *tree.Tree, ttl int) [][]topology.Arc {
	arcs := t.Adjacent()
	if ttl > t.Depth() {
		arcs = append(arcs, t.Fringe())
	}
	return arcs
}

// finish returns the encoded header as the only one of a plan.
func (f *filters) finish(h inpacket.Header, group uint32) ([][]byte, error) {
	h.Epoch, h.Group = f.known.Epoch, group
	b, err := h.AppendBinary(nil)
	if err != nil {
		return nil, err
	}
	return [][]byte{b}, nil
}

// stored computes the codewords that routers store, and caches them, because planners
// need the same ones many times.
type stored struct {
	bits, sets int
	draw       func(c inpacket.Codeword, set int) inpacket.BitString
	made       map[inpacket.Codeword][]inpacket.BitString
}

func newStored(bits, sets int, draw func(inpacket.Codeword, int) inpacket.BitString) *stored {
	return &stored{bits, sets, draw, map[inpacket.Codeword][]inpacket.BitString{}}
}

// of returns the codewords of a link, one of each set.
func (s *stored) of(c inpacket.Codeword) []inpacket.BitString {
	all, ok := s.made[c]
	if !ok {
		for set := range s.sets {
			all = append(all, s.draw(c, set))
		}
		s.made[c] = all
	}
	return all
}

// replace replaces codewords by the stored codewords derived from them.
func (s *stored) replace(k *multicast.Keys) {
	k.DenseBits = s.bits
	k.Dense = make([][]inpacket.BitString, s.sets)
	for set := range k.Dense {
		k.Dense[set] = make([]inpacket.BitString, 0, len(k.Ports))
		for _, c := range k.Ports {
			k.Dense[set] = append(k.Dense[set], s.of(c)[set])
		}
	}
	k.Ports = nil
	for i := range k.Detours {
		d := &k.Detours[i]
		if d.Hops == 0 {
			continue
		}
		d.Dense = make([]inpacket.BitString, s.sets)
		for set := range d.Dense {
			d.Dense[set] = s.union(d.Arcs, set)
		}
		d.Arcs = nil
	}
}

// union returns the OR of the links' codewords of a set.
func (s *stored) union(links []inpacket.Codeword, set int) inpacket.BitString {
	u := make(inpacket.BitString, (s.bits+63)/64)
	for _, c := range links {
		for w, v := range s.of(c)[set] {
			u[w] |= v
		}
	}
	return u
}

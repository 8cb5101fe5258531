package scheme

import (
	"fmt"
	"slices"

	"github.com/umbel-filters/umbel/inpacket"
	"github.com/umbel-filters/umbel/inpacket/multicast"
	"github.com/umbel-filters/umbel/inpacket/multicast/topology"
	"github.com/umbel-filters/umbel/inpacket/multicast/tree"
)

// Routers are what routers of all schemes with filters may do besides.
type Routers struct {
	// Window is how many sources a router remembers sequences of; see
	// [multicast.Config]. 0: none.
	Window int
	// OnlySequenced routers drop headers without a sequence; see [multicast.Config]. Plans
	// have none: whoever sends puts it in.
	OnlySequenced bool
	// DropStray, unless 0, is the stray chance above which routers drop a header, and DropTTL
	// the TTL: what they are for is told at [multicast.Config], MaxStray and MaxTTL. Umbel
	// plans by the first; filters with codewords that are stored are judged by their fill.
	DropStray float64
	DropTTL   uint8
	// Repair gives each router a way around each of its links, with the fewest hops in
	// the present network, for when it is down. Headers need TTL to spare for it, and
	// with umbel a form that takes links in: Single or Folded.
	Repair bool
}

// filters is what domains of filters have in common: their networks and routers.
type filters struct {
	known, present *multicast.Network
	routers        Routers
	anyFill        bool
	stored         *stored      // nil: routers have codewords of links
	finder         *tree.Finder // of ways around links; nil: none
	nodes          []*multicast.Node
	members        map[uint32][]int
}

func newFilters(known, present *multicast.Network, r Routers, anyFill bool, s *stored) (*filters, error) {
	if err := sameNodes(known.Graph, present.Graph); err != nil {
		return nil, err
	}
	if known.Epoch != present.Epoch {
		return nil, fmt.Errorf("scheme: headers of epoch %d for routers of epoch %d: make both networks of one epoch", known.Epoch, present.Epoch)
	}
	f := &filters{known: known, present: present, routers: r, anyFill: anyFill, stored: s,
		nodes: make([]*multicast.Node, len(present.Graph.Nodes)), members: map[uint32][]int{}}
	if r.Repair {
		f.finder = tree.NewFinder(present.Graph, tree.Hops)
	}
	// What is wrong with the options is wrong with any node: find it now.
	if _, err := multicast.NewNode(multicast.Config{Window: r.Window, OnlySequenced: r.OnlySequenced, MaxStray: r.DropStray}); err != nil {
		return nil, err
	}
	return f, nil
}

// sameNodes returns an error unless two graphs have the same nodes, in one order.
func sameNodes(known, present *topology.Graph) error {
	if len(known.Nodes) != len(present.Nodes) {
		return fmt.Errorf("scheme: the known network has %d nodes, the present one %d: only links may differ", len(known.Nodes), len(present.Nodes))
	}
	for i, n := range known.Nodes {
		if m := present.Nodes[i]; n.Name != m.Name {
			return fmt.Errorf("scheme: node %d is %q in the known network, %q in the present one: only links may differ", i, n.Name, m.Name)
		}
	}
	return nil
}

// Router is the method of Domain.
func (f *filters) Router(node int) multicast.Router { return f.node(node) }

func (f *filters) node(node int) *multicast.Node {
	if f.nodes[node] == nil {
		n, err := multicast.NewNode(f.config(node))
		if err != nil {
			panic(err) // all that may be wrong was asked for by newFilters
		}
		f.nodes[node] = n
	}
	return f.nodes[node]
}

// config is what a node is made of.
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
		MaxStray: f.routers.DropStray, MaxTTL: f.routers.DropTTL}
}

// Receive is the method of Domain.
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

// check returns an error unless a tree is one of the known network that a TTL can
// reach the end of.
func (f *filters) check(t *tree.Tree, ttl int) error {
	if t.Graph != f.known.Graph {
		return fmt.Errorf("scheme: a tree over the graph %q, headers are planned over %q", t.Graph.Name, f.known.Graph.Name)
	}
	if err := t.Check(); err != nil {
		return fmt.Errorf("scheme: %w", err)
	}
	if ttl > 255 {
		return fmt.Errorf("scheme: a tree of %d hops needs a TTL of %d, a header has at most 255", t.Depth(), ttl)
	}
	return nil
}

// beside returns the arcs next to a tree that are tested by a packet with a TTL, by
// hop.
func beside(t *tree.Tree, ttl int) [][]topology.Arc {
	arcs := t.Adjacent()
	if ttl > t.Depth() {
		arcs = append(arcs, t.Fringe())
	}
	return arcs
}

// finish makes a plan of a header.
func (f *filters) finish(h inpacket.Header, group uint32) ([][]byte, error) {
	h.Epoch, h.Group = f.known.Epoch, group
	b, err := h.AppendBinary(nil)
	if err != nil {
		return nil, err
	}
	return [][]byte{b}, nil
}

// stored makes codewords that routers store, and keeps those it has made: planners
// ask for the same ones again and again.
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

// replace puts stored codewords in the place of those they are made from.
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

// union returns the OR of links' codewords of a set.
func (s *stored) union(links []inpacket.Codeword, set int) inpacket.BitString {
	u := make(inpacket.BitString, (s.bits+63)/64)
	for _, c := range links {
		for w, v := range s.of(c)[set] {
			u[w] |= v
		}
	}
	return u
}

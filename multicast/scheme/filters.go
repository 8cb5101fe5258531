package scheme

import (
	"slices"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/internal/sentinel"
	"github.com/umbel-filters/umbel/multicast"
	"github.com/umbel-filters/umbel/multicast/inpacket"
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
	if err := CheckNodes(known, present); err != nil {
		return nil, err
	}
	if known.Epoch != present.Epoch {
		return nil, sentinel.Errorf(umbel.ErrGoal, "the known network has epoch %d, the present one %d, want the same", known.Epoch, present.Epoch)
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

// CheckNodes returns an error wrapping umbel.ErrGoal unless two networks have the same nodes, in the same order; their links may
// differ. The methods Domain of schemes call it.
func CheckNodes(known, present *multicast.Network) error {
	if k, p := len(known.Graph.Nodes), len(present.Graph.Nodes); k != p {
		return sentinel.Errorf(umbel.ErrGoal, "the known network has %d nodes, the present one %d; only links may differ", k, p)
	}
	for i, n := range known.Graph.Nodes {
		if m := present.Graph.Nodes[i]; n.Name != m.Name {
			return sentinel.Errorf(umbel.ErrGoal, "node %d is %q in the known network, %q in the present one; only links may differ", i, n.Name, m.Name)
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
		return sentinel.Errorf(umbel.ErrGoal, "a tree of the graph %q, want one of the known network, %q", t.Graph.Name, f.known.Graph.Name)
	}
	if err := t.Check(); err != nil {
		return err
	}
	if ttl > 255 {
		return sentinel.Errorf(umbel.ErrGoal, "a tree of %d hops needs a TTL of %d, want at most 255", t.Depth(), ttl)
	}
	return nil
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

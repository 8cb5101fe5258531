package sim_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"testing"

	"github.com/umbel-filters/umbel/multicast"
	"github.com/umbel-filters/umbel/multicast/inpacket"
	"github.com/umbel-filters/umbel/multicast/scheme"
	"github.com/umbel-filters/umbel/multicast/topology"
	"github.com/umbel-filters/umbel/multicast/tree"
)

// listed is a scheme whose packets list arcs of the known network, one bit each, after a TTL and
// a group. It has no false matches and is easy to follow by hand.
type listed struct {
	ttl   byte // 0: the tree's depth
	extra func(t *tree.Tree) []topology.Arc
	most  int // trees with more receivers can't be written; 0: all can
}

func (l listed) Name() string { return "listed" }

func (l listed) Domain(known, present *multicast.Network) (scheme.Domain, error) {
	return &listedDomain{listed: l, known: known, present: present, routers: map[int]multicast.Router{}, groups: map[uint32]map[int]bool{}}, nil
}

type listedDomain struct {
	listed
	known, present *multicast.Network
	routers        map[int]multicast.Router
	groups         map[uint32]map[int]bool
}

var errTooMany = errors.New("listed: too many receivers")

func (d *listedDomain) Plan(t *tree.Tree, group uint32) (scheme.Plan, error) {
	if d.most > 0 && len(t.Receivers) > d.most {
		return scheme.Plan{}, errTooMany
	}
	b := make([]byte, 5+(2*len(d.known.Graph.Links)+7)/8)
	b[0] = d.ttl
	if b[0] == 0 {
		b[0] = byte(t.Depth())
	}
	binary.BigEndian.PutUint32(b[1:], group)
	for _, s := range t.Steps {
		mark(b, s.Arc)
	}
	if d.extra != nil {
		for _, a := range d.extra(t) {
			mark(b, a)
		}
	}
	ones := 0
	for _, x := range b[5:] {
		ones += bits.OnesCount8(x)
	}
	return scheme.Plan{Headers: [][]byte{b}, Bits: ones, Form: "listed"}, nil
}

func mark(b []byte, a topology.Arc) { b[5+a/8] |= 1 << (a & 7) }

func (d *listedDomain) Receive(group uint32, nodes []int) {
	delete(d.groups, group)
	if len(nodes) == 0 {
		return
	}
	d.groups[group] = map[int]bool{}
	for _, n := range nodes {
		d.groups[group][n] = true
	}
}

func (d *listedDomain) Router(node int) multicast.Router {
	r, ok := d.routers[node]
	if !ok {
		lr := &listedRouter{domain: d, node: node}
		for number, p := range d.present.Ports(node) {
			lr.arcs = append(lr.arcs, -1)
			for _, q := range d.known.Ports(node) {
				if q.Neighbor == p.Neighbor {
					lr.arcs[number] = q.Arc
				}
			}
		}
		r = lr
		d.routers[node] = r
	}
	return r
}

type listedRouter struct {
	domain *listedDomain
	node   int
	arcs   []topology.Arc // of the known network, by port; -1: it has none
}

func (r *listedRouter) Route(dst []multicast.Copy, b []byte, in int) ([]multicast.Copy, multicast.Verdict) {
	if len(b) < 5 {
		return dst, multicast.Verdict{Drop: multicast.Malformed}
	}
	if b[0] == 0 {
		return dst, multicast.Verdict{Drop: multicast.Expired}
	}
	if in != multicast.Host {
		b[0]--
	}
	if b[0] > 0 {
		for number, a := range r.arcs {
			if a >= 0 && b[5+a/8]>>(a&7)&1 == 1 && number != in {
				dst = append(dst, multicast.Copy{Port: number, Packet: b})
			}
		}
	}
	group := binary.BigEndian.Uint32(b[1:])
	return dst, multicast.Verdict{Deliver: in != multicast.Host && r.domain.groups[group][r.node]}
}

// everywhere returns all arcs of the tree's graph.
func everywhere(t *tree.Tree) []topology.Arc {
	all := make([]topology.Arc, 2*len(t.Graph.Links))
	for i := range all {
		all[i] = topology.Arc(i)
	}
	return all
}

// graph returns a graph of n nodes, A, B, C and so on, with links between the given pairs.
func graph(n int, pairs ...[2]int) *topology.Graph {
	g := &topology.Graph{Name: "small"}
	for i := range n {
		g.Nodes = append(g.Nodes, topology.Node{Name: name(i)})
	}
	for _, p := range pairs {
		g.Links = append(g.Links, topology.Link{A: min(p[0], p[1]), B: max(p[0], p[1]), Weight: 1})
	}
	return g
}

func name(i int) string {
	if i < 26 {
		return string(rune('A' + i))
	}
	return fmt.Sprintf("N%d", i)
}

func line(n int) *topology.Graph {
	var pairs [][2]int
	for i := 1; i < n; i++ {
		pairs = append(pairs, [2]int{i - 1, i})
	}
	return graph(n, pairs...)
}

func ring(n int) *topology.Graph {
	g := line(n)
	g.Links = append(g.Links, topology.Link{A: 0, B: n - 1, Weight: 1})
	return g
}

func network(g *topology.Graph) *multicast.Network {
	return multicast.NewNetwork(g, inpacket.Key{1}, 0)
}

// arc returns an arc of the graph from one node to another.
func arc(t testing.TB, g *topology.Graph, from, to int) topology.Arc {
	t.Helper()
	for _, p := range g.Ports()[from] {
		if p.Neighbor == to {
			return p.Arc
		}
	}
	t.Fatalf("no arc from %d to %d", from, to)
	return 0
}

// treeOf returns the shortest-path tree of a graph.
func treeOf(t testing.TB, g *topology.Graph, source int, receivers ...int) *tree.Tree {
	t.Helper()
	tr, err := tree.ShortestPath(g, source, receivers, tree.Hops)
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// planned returns a domain over a network, with the tree's receivers, and the plan.
func planned(t testing.TB, s scheme.Scheme, known, present *multicast.Network, tr *tree.Tree) (scheme.Domain, scheme.Plan) {
	t.Helper()
	d, err := s.Domain(known, present)
	if err != nil {
		t.Fatal(err)
	}
	d.Receive(7, tr.Receivers)
	p, err := d.Plan(tr, 7)
	if err != nil {
		t.Fatal(err)
	}
	return d, p
}

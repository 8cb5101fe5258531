package scheme

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/umbel-filters/umbel/multicast"
	"github.com/umbel-filters/umbel/multicast/inpacket"
	"github.com/umbel-filters/umbel/multicast/topology"
	"github.com/umbel-filters/umbel/multicast/tree"
)

// walked is the result of walk.
type walked struct {
	arcs      map[topology.Arc]int // how often a copy went over each
	delivered map[int]int          // how often each node's host got one
	copies    int
	drops     int
}

// walk carries a plan's packets over a network until no copy is left or there are too many.
func walk(t testing.TB, d Domain, n *multicast.Network, source int, p Plan) walked {
	t.Helper()
	type copied struct {
		node, in int
		packet   []byte
	}
	w := walked{arcs: map[topology.Arc]int{}, delivered: map[int]int{}}
	var queue []copied
	for _, h := range p.Headers {
		queue = append(queue, copied{source, multicast.Host, append(slices.Clone(h), "payload"...)})
	}
	for ; len(queue) > 0 && w.copies < 20000; queue = queue[1:] {
		c := queue[0]
		out, v := d.Router(c.node).Route(nil, c.packet, c.in)
		if v.Deliver {
			w.delivered[c.node]++
		}
		if v.Drop != multicast.None {
			w.drops++
		}
		for _, o := range out {
			arc := n.Ports(c.node)[o.Port].Arc
			next := n.Ports(c.node)[o.Port].Neighbor
			in := slices.IndexFunc(n.Ports(next), func(q topology.Port) bool { return q.Arc == arc.Reverse() })
			w.arcs[arc]++
			w.copies++
			queue = append(queue, copied{next, in, slices.Clone(o.Packet)})
		}
	}
	return w
}

// network returns the network of a valid graph.
func network(t testing.TB, g *topology.Graph, err error) *multicast.Network {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return multicast.NewNetwork(g, inpacket.Key{1, 2, 3}, 7)
}

// networks are the networks on which all schemes are tested.
func networks(t testing.TB) map[string]*multicast.Network {
	grid, err := topology.Grid(6, 6)
	all := map[string]*multicast.Network{"grid": network(t, grid, err)}
	random, err := topology.BarabasiAlbert(50, 2, 11)
	all["random"] = network(t, random, err)
	return all
}

// trees draws shortest-path trees of 1 to most receivers.
func trees(t testing.TB, n *multicast.Network, count, most int) []*tree.Tree {
	t.Helper()
	r := rand.New(rand.NewPCG(8, 9))
	f := tree.NewFinder(n.Graph, tree.Hops)
	var all []*tree.Tree
	for len(all) < count {
		nodes := r.Perm(len(n.Graph.Nodes))
		tr, err := f.ShortestPath(nodes[0], nodes[1:2+r.IntN(most)])
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, tr)
	}
	return all
}

func domain(t testing.TB, s Scheme, known, present *multicast.Network) Domain {
	t.Helper()
	d, err := s.Domain(known, present)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func plan(t testing.TB, d Domain, tr *tree.Tree, group uint32) Plan {
	t.Helper()
	p, err := d.Plan(tr, group)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// onlyTree returns an error if a walk used arcs outside the tree, or one twice, or if nodes
// other than its receivers got a packet, or one got two.
func onlyTree(w walked, tr *tree.Tree) error {
	if w.copies != len(tr.Steps) {
		return fmt.Errorf("%d copies, want %d", w.copies, len(tr.Steps))
	}
	for _, s := range tr.Steps {
		if w.arcs[s.Arc] != 1 {
			return fmt.Errorf("%d copies over arc %d, want 1", w.arcs[s.Arc], s.Arc)
		}
	}
	if len(w.delivered) != len(tr.Receivers) {
		return fmt.Errorf("delivered to %d nodes, want %d", len(w.delivered), len(tr.Receivers))
	}
	return everyReceiver(w, tr, true)
}

// everyReceiver returns an error if a receiver got no packet or, if one is set, several.
func everyReceiver(w walked, tr *tree.Tree, one bool) error {
	for _, r := range tr.Receivers {
		if got := w.delivered[r]; got < 1 || one && got > 1 {
			return fmt.Errorf("receiver %d got %d packets", r, got)
		}
	}
	return nil
}

package bier

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/umbel-filters/umbel/multicast"
	"github.com/umbel-filters/umbel/multicast/inpacket"
	"github.com/umbel-filters/umbel/multicast/topology"
)

func network(g *topology.Graph) *multicast.Network {
	return multicast.NewNetwork(g, inpacket.Key{1}, 0)
}

// graph returns a graph of links of weight 1 between numbered nodes.
func graph(nodes int, links ...[2]int) *topology.Graph {
	g := &topology.Graph{Name: "test"}
	for i := range nodes {
		g.Nodes = append(g.Nodes, topology.Node{Name: fmt.Sprint(i)})
	}
	for _, l := range links {
		g.Links = append(g.Links, topology.Link{A: min(l[0], l[1]), B: max(l[0], l[1]), Weight: 1})
	}
	return g
}

// randomGraph returns a connected graph: a random tree and further links. Weights are small
// whole numbers, so that many paths are equally long.
func randomGraph(r *rand.Rand, nodes, more int) *topology.Graph {
	var links [][2]int
	add := func(a, b int) {
		if a != b && !slices.Contains(links, [2]int{min(a, b), max(a, b)}) {
			links = append(links, [2]int{min(a, b), max(a, b)})
		}
	}
	for i := 1; i < nodes; i++ {
		add(i, r.IntN(i))
	}
	for range more {
		add(r.IntN(nodes), r.IntN(nodes))
	}
	r.Shuffle(len(links), func(i, j int) { links[i], links[j] = links[j], links[i] })
	g := graph(nodes, links...)
	for i := range g.Links {
		g.Links[i].Weight = float64(1 + r.IntN(4))
	}
	return g
}

// pick draws some of the numbers below n, in any order.
func pick(r *rand.Rand, n, some int) []int { return r.Perm(n)[:some] }

// journey is the result of sending a packet.
type journey struct {
	delivered []int          // to each node, how often
	arcs      []topology.Arc // over which copies went, in order
	drops     [multicast.Reasons]int
}

type hop struct {
	node, in int
	packet   []byte
	links    []int // that it came over
}

// send sends a packet from a node's host through all routers until no copy is left. It fails if
// a copy crosses a link twice in the same direction, or if there are too many copies.
func send(t testing.TB, n *multicast.Network, router func(int) multicast.Router, source int, packet []byte) journey {
	t.Helper()
	j := journey{delivered: make([]int, len(n.Graph.Nodes))}
	waiting := []hop{{source, multicast.Host, slices.Clone(packet), nil}}
	var copies []multicast.Copy
	for len(waiting) > 0 {
		at := waiting[0]
		waiting = waiting[1:]
		var v multicast.Verdict
		copies, v = router(at.node).Route(copies[:0], at.packet, at.in)
		if v.Deliver {
			j.delivered[at.node]++
		}
		if v.Drop != multicast.None {
			j.drops[v.Drop]++
		}
		for _, c := range copies {
			port := n.Ports(at.node)[c.Port]
			if slices.Contains(at.links, int(port.Arc)) {
				t.Fatalf("a copy goes over arc %d again", port.Arc)
			}
			in := slices.IndexFunc(n.Ports(port.Neighbor), func(p topology.Port) bool { return p.Arc == port.Arc.Reverse() })
			j.arcs = append(j.arcs, port.Arc)
			waiting = append(waiting, hop{port.Neighbor, in, slices.Clone(c.Packet), append(slices.Clone(at.links), int(port.Arc))})
		}
		if len(j.arcs) > 100_000 {
			t.Fatal("more than 100,000 copies")
		}
	}
	return j
}

// wantOnce fails unless exactly these nodes got the packet, once each.
func wantOnce(t *testing.T, j journey, nodes []int) {
	t.Helper()
	for node, got := range j.delivered {
		want := 0
		if slices.Contains(nodes, node) {
			want = 1
		}
		if got != want {
			t.Errorf("node %d had the packet %d times, want %d", node, got, want)
		}
	}
}

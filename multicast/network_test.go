package multicast

import (
	"slices"
	"testing"

	"github.com/umbel-filters/umbel/multicast/inpacket"
	"github.com/umbel-filters/umbel/multicast/topology"
	"github.com/umbel-filters/umbel/multicast/tree"
)

// square is a ring of four nodes, 0-1-2-3, and node 4, which is connected to node 2.
func square() *topology.Graph {
	return &topology.Graph{
		Nodes: []topology.Node{{Name: "a"}, {Name: "b"}, {Name: "c"}, {Name: "d"}, {Name: "e"}},
		Links: []topology.Link{{A: 0, B: 1, Weight: 1}, {A: 1, B: 2, Weight: 1}, {A: 2, B: 3, Weight: 1}, {A: 0, B: 3, Weight: 1}, {A: 2, B: 4, Weight: 1}},
	}
}

// across is the tree a-b-c of square.
func across(g *topology.Graph) *tree.Tree {
	return &tree.Tree{Graph: g, Source: 0, Receivers: []int{2}, Steps: []tree.Step{{Arc: topology.ArcOf(0, false), Hop: 0}, {Arc: topology.ArcOf(1, false), Hop: 1}}}
}

func TestTasks(t *testing.T) {
	g := square()
	n := NewNetwork(g, inpacket.Key{1}, 2)
	c := func(link int, back bool) inpacket.Codeword { return n.Codeword(topology.ArcOf(link, back)) }
	task, slack := n.Task(across(g)), n.SlackTask(across(g))
	held := [][]inpacket.Codeword{{c(0, false)}, {c(1, false)}}
	others := [][]inpacket.Codeword{{c(3, false)}, {}, {c(2, false), c(4, false)}}
	same := func(a, b [][]inpacket.Codeword) bool { return slices.EqualFunc(a, b, slices.Equal) }
	if !same(task.Tree, held) || !same(slack.Tree, held) {
		t.Errorf("trees %v and %v, want %v", task.Tree, slack.Tree, held)
	}
	if !same(task.Others, others[:2]) || !same(slack.Others, others) {
		t.Errorf("next to them %v, and with slack %v, want %v", task.Others, slack.Others, others)
	}
}

func TestKeysAndDetours(t *testing.T) {
	g := square()
	n := NewNetwork(g, inpacket.Key{1}, 2)
	k := n.Keys(2) // its ports: to b, d and e
	want := []inpacket.Codeword{n.Codeword(topology.ArcOf(1, true)), n.Codeword(topology.ArcOf(2, false)), n.Codeword(topology.ArcOf(4, false))}
	if k.Epoch != 2 || !slices.Equal(k.Ports, want) || k.Dense != nil || k.Detours != nil {
		t.Errorf("keys %+v, want epoch 2, codewords %v and nothing else", k, want)
	}
	d := n.Detours(2, tree.NewFinder(g, tree.Hops))
	around := []inpacket.Codeword{want[1], n.Codeword(topology.ArcOf(3, true)), n.Codeword(topology.ArcOf(0, false))}
	if len(d) != 3 || d[0].Port != 1 || d[0].Hops != 3 || !slices.Equal(d[0].Arcs, around) {
		t.Errorf("way around the port to b %+v, want port 1 and the arcs by d and a", d[0])
	}
	if d[1].Port != 0 || d[1].Hops != 3 || d[2].Hops != 0 {
		t.Errorf("ways around the others %+v, want one by b, and none to e", d[1:])
	}
}

// TestKeysOutliveLinks: if links of a network change, the other links keep their codewords.
func TestKeysOutliveLinks(t *testing.T) {
	g := square()
	before := NewNetwork(g, inpacket.Key{1}, 2)
	less := *g
	less.Links = g.Links[1:]
	after := NewNetwork(&less, inpacket.Key{1}, 2)
	seen := map[inpacket.Codeword]bool{before.Codeword(0): true, before.Codeword(1): true}
	for a := range topology.Arc(2 * len(less.Links)) {
		if before.Codeword(a+2) != after.Codeword(a) {
			t.Errorf("arc %d has another codeword without link 0", a)
		}
		if seen[after.Codeword(a)] {
			t.Errorf("arc %d has the codeword of another", a)
		}
		seen[after.Codeword(a)] = true
	}
	if other := NewNetwork(g, inpacket.Key{1}, 3); other.Codeword(0) == before.Codeword(0) {
		t.Error("one codeword in two epochs")
	}
}

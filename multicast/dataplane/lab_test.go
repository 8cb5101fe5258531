package dataplane_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/umbel-filters/umbel/multicast"
	"github.com/umbel-filters/umbel/multicast/dataplane"
	"github.com/umbel-filters/umbel/multicast/inpacket"
	"github.com/umbel-filters/umbel/multicast/topology"
	"github.com/umbel-filters/umbel/multicast/tree"
)

// lab is a network with a tree and receivers that check their packets.
type lab struct {
	network *multicast.Network
	routers []*multicast.Node
	tree    *tree.Tree
	header  []byte

	mu      sync.Mutex
	got     map[int][]bool // by receiver: which packets
	strange []string       // what shouldn't have been
}

const group = 7

// newLab plans a tree over a graph, in a form, for the given number of numbered packets.
func newLab(t testing.TB, g *topology.Graph, form inpacket.Form, source int, receivers []int, packets int) *lab {
	t.Helper()
	n := multicast.NewNetwork(g, inpacket.Key{1, 2, 3}, 5)
	l := &lab{network: n, got: make(map[int][]bool)}
	for i := range g.Nodes {
		l.routers = append(l.routers, newRouter(t, n, i))
	}
	var err error
	if l.tree, err = tree.ShortestPath(g, source, receivers, tree.Hops); err != nil {
		t.Fatal(err)
	}
	for _, r := range receivers {
		l.routers[r].Join(group)
		l.got[r] = make([]bool, packets)
	}
	l.header = newHeader(t, n, l.tree, form)
	return l
}

func newRouter(t testing.TB, n *multicast.Network, node int) *multicast.Node {
	t.Helper()
	r, err := multicast.NewNode(multicast.Config{ID: uint32(node), Ports: len(n.Ports(node)), Keys: []multicast.Keys{n.Keys(node)}})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// newHeader returns a header in a form that contains the arcs of a tree and no adjacent ones.
func newHeader(t testing.TB, n *multicast.Network, way *tree.Tree, form inpacket.Form) []byte {
	t.Helper()
	f, err := inpacket.Search(n.Task(way), inpacket.Options{Forms: []inpacket.Form{form}})
	if err != nil {
		t.Fatal(err)
	}
	h := inpacket.Header{TTL: uint8(way.Depth()), Form: f.Form, K: f.K, Seed: f.Seed, Bits: f.Bits, Filter: f.Filter, Epoch: n.Epoch, Group: group}
	b, err := h.AppendBinary(nil)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// packet returns a packet with a number as its payload.
func (l *lab) packet(number int) []byte {
	return binary.BigEndian.AppendUint32(slices.Clone(l.header), uint32(number))
}

// deliver accepts a packet at a node.
func (l *lab) deliver(node int, packet []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	got, member := l.got[node]
	if len(packet) != len(l.header)+4 {
		l.strange = append(l.strange, fmt.Sprintf("node %d got %d bytes, want %d", node, len(packet), len(l.header)+4))
		return
	}
	number := int(binary.BigEndian.Uint32(packet[len(l.header):]))
	switch {
	case !member || number >= len(got):
		l.strange = append(l.strange, fmt.Sprintf("node %d got packet %d", node, number))
	case got[number]:
		l.strange = append(l.strange, fmt.Sprintf("node %d got packet %d twice", node, number))
	default:
		got[number] = true
	}
}

// check fails unless each receiver got each packet once, and the packets crossed each
// arc of the tree once and no other.
func (l *lab) check(t *testing.T, counted []arcCount) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	packets := 0
	for node, got := range l.got {
		packets = len(got)
		missing := 0
		for _, ok := range got {
			if !ok {
				missing++
			}
		}
		if missing > 0 {
			t.Errorf("node %d lacks %d of %d packets", node, missing, packets)
		}
	}
	for _, s := range l.strange[:min(len(l.strange), 5)] {
		t.Error(s)
	}
	want := make([]arcCount, len(counted))
	for _, s := range l.tree.Steps {
		want[s.Arc] = arcCount{uint64(packets), uint64(packets)}
	}
	for a := range counted {
		if counted[a] != want[a] {
			from, to := l.network.Graph.Ends(topology.Arc(a))
			t.Errorf("from node %d to %d: sent and received %v packets, want %v", from, to, counted[a], want[a])
		}
	}
}

// arcs returns the counts of the nodes' ports, by arc.
func (l *lab) arcs(nodes []*dataplane.Node) []arcCount {
	counted := make([]arcCount, 2*len(l.network.Graph.Links))
	for i, n := range nodes {
		for port, c := range n.Counters().Ports {
			a := l.network.Ports(i)[port].Arc
			counted[a].Sent = c.Sent
			counted[a.Reverse()].Received = c.Received
		}
	}
	return counted
}

// runAll runs nodes and returns a function that stops them.
func runAll(t *testing.T, nodes []*dataplane.Node) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	for _, n := range nodes {
		running.Go(func() {
			if err := n.Run(ctx); err != nil {
				t.Error(err)
			}
		})
	}
	return func() {
		cancel()
		running.Wait()
	}
}

// graph returns a generated graph.
func graph(t testing.TB) func(g *topology.Graph, err error) *topology.Graph {
	return func(g *topology.Graph, err error) *topology.Graph {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
}

package dataplane_test

import (
	"context"
	"encoding/json"
	"net/netip"
	"runtime"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/umbel-filters/umbel/multicast"
	"github.com/umbel-filters/umbel/multicast/dataplane"
	"github.com/umbel-filters/umbel/multicast/inpacket"
	"github.com/umbel-filters/umbel/multicast/topology"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// arcCount is the number of packets on an arc, as counted at its two ends.
type arcCount = dataplane.ArcCounters

// packetsSent is the number of packets in a run.
const packetsSent = 10_000

// noLoss is the patience where no packet is lost: a machine that is busy may deliver nothing for a second.
const noLoss = time.Minute

// TestCluster sends packets from one corner of a grid to eight nodes, with a window of packets
// in flight. Each is delivered once, over the arcs of the tree only.
func TestCluster(t *testing.T) {
	for name, form := range map[string]inpacket.Form{
		"single": inpacket.Single, "staged": inpacket.Staged, "folded": inpacket.Folded, "linear": inpacket.Linear,
	} {
		t.Run(name, func(t *testing.T) { testCluster(t, form) })
	}
}

func testCluster(t *testing.T, form inpacket.Form) {
	g := graph(t)(topology.Grid(4, 5))
	receivers := []int{3, 4, 9, 10, 12, 15, 17, 19}
	l := newLab(t, g, form, 0, receivers, packetsSent)
	pacer, err := dataplane.NewPacer(dataplane.Pace{Window: 256, Receivers: len(receivers), Patience: noLoss})
	if err != nil {
		t.Fatal(err)
	}
	f, err := dataplane.StartCluster(t.Context(), dataplane.ClusterConfig{
		Graph:  g,
		Router: func(node int) multicast.Router { return l.routers[node] },
		Deliver: func(node int, packet []byte) {
			l.deliver(node, packet)
			pacer.Delivered()
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	l.send(t.Context(), t, f.Node(0), pacer)
	if err := f.Stop(); err != nil {
		t.Error(err)
	}
	l.check(t, f.Arcs())
	c := f.Counters()
	if want := uint64(packetsSent * len(l.tree.Steps)); c.Sent != want || c.Received != want {
		t.Errorf("sent %d and received %d copies, want %d", c.Sent, c.Received, want)
	}
	if want := uint64(packetsSent * len(receivers)); c.Delivered != want || c.Injected != packetsSent {
		t.Errorf("%d packets in and %d out, want %d and %d", c.Injected, c.Delivered, packetsSent, want)
	}
}

// send sends all packets from a node at a pace, and waits until none is in flight.
func (l *lab) send(ctx context.Context, t *testing.T, n *dataplane.Node, p *dataplane.Pacer) {
	t.Helper()
	if err := n.Send(ctx, p, packetsSent, l.packet); err != nil {
		t.Fatal(err)
	}
	if err := p.Drain(ctx); err != nil {
		t.Fatal(err)
	}
	if p.Lost() != 0 {
		t.Errorf("%d deliveries were waited for in vain", p.Lost())
	}
}

// TestClusterLossy drops copies deliberately and accounts for each.
func TestClusterLossy(t *testing.T) {
	g := graph(t)(topology.Line(5))
	// As many packets as the smallest usual buffer of a socket holds, since packets that are given up are in flight too.
	const packets = 400
	l := newLab(t, g, inpacket.Linear, 0, []int{4}, packets)
	pacer, err := dataplane.NewPacer(dataplane.Pace{Window: 200, Receivers: 1, Patience: 50 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	f, err := dataplane.StartCluster(t.Context(), dataplane.ClusterConfig{
		Graph:   g,
		Router:  func(node int) multicast.Router { return l.routers[node] },
		Deliver: func(int, []byte) { pacer.Delivered() },
		Options: dataplane.Options{Fault: dataplane.Fault{Loss: 0.1, Seed: 1}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Node(0).Send(t.Context(), pacer, packets, l.packet); err != nil {
		t.Fatal(err)
	}
	if err := pacer.Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	// What was given up may still be on its way.
	for c := f.Counters(); c.Delivered+c.Faults < packets; c = f.Counters() {
		runtime.Gosched()
	}
	if err := f.Stop(); err != nil {
		t.Fatal(err)
	}
	c := f.Counters()
	if c.Faults == 0 || c.Delivered+c.Faults != packets {
		t.Errorf("%d delivered and %d lost, want some lost and %d in all", c.Delivered, c.Faults, packets)
	}
	// Deliveries that were given up and came after all are in both numbers.
	if lost := uint64(pacer.Lost()); lost < c.Faults {
		t.Errorf("waited in vain for %d deliveries, want %d or more", lost, c.Faults)
	}
}

// TestClusterAddresses runs a cluster at given addresses twice: the first run releases them.
func TestClusterAddresses(t *testing.T) {
	g := graph(t)(topology.Ring(4))
	l := newLab(t, g, inpacket.Single, 0, []int{2}, 1)
	config := dataplane.ClusterConfig{Graph: g, Router: func(node int) multicast.Router { return l.routers[node] }}
	for range g.Nodes {
		config.Addresses = append(config.Addresses, free(t))
	}
	f, err := dataplane.StartCluster(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := dataplane.StartCluster(t.Context(), config); err == nil {
		t.Fatal("two clusters have the same addresses")
	}
	if err := f.Stop(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	if f, err = dataplane.StartCluster(ctx, config); err != nil {
		t.Fatal(err)
	}
	if got := f.Node(3).Config().Listen; got != config.Addresses[3] {
		t.Errorf("node 3 listens at %v, want %v", got, config.Addresses[3])
	}
	cancel()
	<-f.Done()
	if err := f.Stop(); err != nil {
		t.Error(err)
	}
}

func TestStartClusterRefuses(t *testing.T) {
	g := graph(t)(topology.Ring(4))
	r := func(int) multicast.Router { return routed(onward) }
	for name, c := range map[string]dataplane.ClusterConfig{
		"no graph":          {Router: r},
		"no nodes":          {Graph: &topology.Graph{}, Router: r},
		"no routers":        {Graph: g},
		"a node without":    {Graph: g, Router: func(int) multicast.Router { return nil }},
		"few addresses":     {Graph: g, Router: r, Addresses: []netip.AddrPort{anywhere}},
		"addresses missing": {Graph: g, Router: r, Addresses: make([]netip.AddrPort, 4)},
		"one's missing":     {Graph: &topology.Graph{Nodes: []topology.Node{{Name: "a"}}}, Router: r, Addresses: make([]netip.AddrPort, 1)},
		"a bad fault":       {Graph: g, Router: r, Options: dataplane.Options{Fault: dataplane.Fault{Loss: 2}}},
	} {
		t.Run(name, func(t *testing.T) {
			f, err := dataplane.StartCluster(t.Context(), c)
			if err == nil {
				f.Stop()
				t.Error("taken")
			}
		})
	}
}

// TestProcesses runs nodes as in separate processes: they know only their descriptions.
func TestProcesses(t *testing.T) {
	g := graph(t)(topology.Ring(4))
	l := newLab(t, g, inpacket.Staged, 0, []int{2, 3}, packetsSent)
	addresses := make([]netip.AddrPort, len(g.Nodes))
	for i := range addresses {
		addresses[i] = free(t)
	}
	sites, err := dataplane.NodeConfigs(g, addresses)
	if err != nil {
		t.Fatal(err)
	}
	pacer, err := dataplane.NewPacer(dataplane.Pace{Window: 128, Receivers: 2, Patience: noLoss})
	if err != nil {
		t.Fatal(err)
	}
	nodes := make([]*dataplane.Node, len(sites))
	for i, s := range sites {
		description, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		site, err := dataplane.ParseNodeConfig(description)
		if err != nil {
			t.Fatal(err)
		}
		if nodes[i], err = dataplane.Open(dataplane.Config{Node: site, Router: l.routers[i], Deliver: func(packet []byte) {
			l.deliver(i, packet)
			pacer.Delivered()
		}}); err != nil {
			t.Fatal(err)
		}
	}
	stop := runAll(t, nodes)
	l.send(t.Context(), t, nodes[0], pacer)
	stop()
	l.check(t, l.arcs(nodes))
}

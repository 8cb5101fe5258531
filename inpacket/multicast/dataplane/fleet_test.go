package dataplane_test

import (
	"context"
	"testing"

	"go.uber.org/goleak"

	"github.com/umbel-filters/umbel/inpacket"
	"github.com/umbel-filters/umbel/inpacket/multicast"
	"github.com/umbel-filters/umbel/inpacket/multicast/dataplane"
	"github.com/umbel-filters/umbel/inpacket/multicast/topology"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// arcCount is what went over an arc, as its two ends counted it.
type arcCount = dataplane.ArcCounters

// packetsSent is how many packets runs send.
const packetsSent = 10_000

// TestFleet sends packets from one corner of a grid to eight nodes, a window of them on
// their way, and finds each delivered once, over the arcs of the tree alone.
func TestFleet(t *testing.T) {
	for name, form := range map[string]inpacket.Form{
		"single": inpacket.Single, "staged": inpacket.Staged, "folded": inpacket.Folded, "linear": inpacket.Linear,
	} {
		t.Run(name, func(t *testing.T) { testFleet(t, form) })
	}
}

func testFleet(t *testing.T, form inpacket.Form) {
	g := graph(t)(topology.Grid(4, 5))
	receivers := []int{3, 4, 9, 10, 12, 15, 17, 19}
	l := newLab(t, g, form, 0, receivers, packetsSent)
	pacer, err := dataplane.NewPacer(dataplane.Pace{Window: 256, Receivers: len(receivers)})
	if err != nil {
		t.Fatal(err)
	}
	f, err := dataplane.StartFleet(t.Context(), dataplane.FleetConfig{
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

// send sends all packets from a node, at a pace, and waits until none is on its way.
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

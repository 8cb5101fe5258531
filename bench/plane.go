package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/umbel-filters/umbel/inpacket/multicast"
	"github.com/umbel-filters/umbel/inpacket/multicast/dataplane"
	"github.com/umbel-filters/umbel/inpacket/multicast/scheme"
	"github.com/umbel-filters/umbel/inpacket/multicast/sim"
	"github.com/umbel-filters/umbel/inpacket/multicast/tree"
)

const (
	planePath      = "multicast/plane"
	planeRule      = "waxman:100"
	planeReceivers = 8
	planePayload   = 64 // bytes
	planeWindow    = 256
	planePackets   = 20_000 // of a round
)

// planeSchemes are those whose packets keep to their trees, so that it is known how many
// deliveries there are to wait for.
var planeSchemes = []scheme.Scheme{scheme.Umbel{}, scheme.BIER{}, scheme.BIERTE{}}

// runPlane measures how many packets a second the routers of a network take along a
// tree, each with a socket of its own, all on this machine.
func runPlane(packets int, o options, p *progress) (*Table, error) {
	p.scope = planePath
	t := &Table{
		Section: "multicast", Path: planePath, Unit: "A second; sent, received and delivered are counts of all rounds",
		Figures: []string{"sent", "received", "delivered"}, Columns: []string{"packets", "copies"},
	}
	g, err := network(planeRule)
	if err != nil {
		return nil, err
	}
	e := sim.Experiment{Graph: g, Key: networkKey, Receivers: planeReceivers, Trees: 1, Seed: 1, Scheme: scheme.Umbel{}}
	along, err := e.Tree(0)
	if err != nil {
		return nil, err
	}
	t.Title = fmt.Sprintf("%d packets along a tree of %d links to %d receivers on %s, payload %d bytes, over loopback",
		packets, len(along.Steps), planeReceivers, planeRule, planePayload)
	for _, s := range planeSchemes {
		row := &Row{Name: rowName(s), Figures: map[string]float64{}}
		if !o.only.MatchString(planePath + "/" + row.Name) {
			continue
		}
		p.show("%s", row.Name)
		if err := planeRow(row, s, along, packets, o.rounds); err != nil {
			return nil, fmt.Errorf("%s: %s: %w", planePath, row.Name, err)
		}
		t.Rows = append(t.Rows, row)
	}
	if len(t.Rows) == 0 {
		return nil, nil
	}
	t.invert()
	return t, nil
}

// planeRow sends the packets of a scheme, in a round to warm up and so many that count.
func planeRow(row *Row, s scheme.Scheme, along *tree.Tree, packets, rounds int) error {
	pl, err := newPlane(s, along)
	if err != nil {
		return err
	}
	defer pl.fleet.Stop()
	var perPacket, perCopy []float64
	for round := range rounds + 1 {
		before := pl.fleet.Counters()
		took, err := pl.send(packets)
		if err != nil {
			return err
		}
		if round == 0 {
			continue
		}
		c := pl.fleet.Counters()
		row.Figures["sent"] += float64(c.Sent - before.Sent)
		row.Figures["received"] += float64(c.Received - before.Received)
		row.Figures["delivered"] += float64(c.Delivered - before.Delivered)
		perPacket = append(perPacket, took.Seconds()/float64(packets))
		perCopy = append(perCopy, took.Seconds()/float64(c.Sent-before.Sent))
	}
	row.set("packets", summary(perPacket))
	row.set("copies", summary(perCopy))
	return pl.fleet.Stop()
}

// plane is a network at work, and a packet for it.
type plane struct {
	fleet  *dataplane.Fleet
	pacer  *dataplane.Pacer
	source int
	packet []byte
}

func newPlane(s scheme.Scheme, along *tree.Tree) (*plane, error) {
	n := multicast.NewNetwork(along.Graph, networkKey, 0)
	d, err := s.Domain(n, n)
	if err != nil {
		return nil, err
	}
	const group = 1
	plan, err := d.Plan(along, group)
	if err != nil {
		return nil, err
	}
	d.Receive(group, along.Receivers)
	pacer, err := dataplane.NewPacer(dataplane.Pace{Window: planeWindow, Receivers: len(along.Receivers)})
	if err != nil {
		return nil, err
	}
	fleet, err := dataplane.StartFleet(context.Background(), dataplane.FleetConfig{
		Graph: along.Graph, Router: d.Router,
		Deliver: func(int, []byte) { pacer.Delivered() },
	})
	if err != nil {
		return nil, err
	}
	return &plane{fleet, pacer, along.Source, append(slices.Clone(plan.Headers[0]), make([]byte, planePayload)...)}, nil
}

// send sends packets and returns how long it took until all were delivered, or, of
// those that the system lost, given up.
func (p *plane) send(packets int) (took time.Duration, err error) {
	took = timed(func() {
		err = p.fleet.Node(p.source).Send(context.Background(), p.pacer, packets, func(int) []byte { return p.packet })
		if err == nil {
			err = p.pacer.Drain(context.Background())
		}
	})
	return took, err
}

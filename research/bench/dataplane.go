package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/umbel-filters/umbel/multicast"
	"github.com/umbel-filters/umbel/multicast/dataplane"
	"github.com/umbel-filters/umbel/multicast/scheme"
	"github.com/umbel-filters/umbel/multicast/sim"
	"github.com/umbel-filters/umbel/multicast/tree"
	"github.com/umbel-filters/umbel/research/competitors"
)

const (
	planePath      = "multicast/plane"
	planeRule      = "waxman:100"
	planeReceivers = 8
	planePayload   = 64 // bytes
	planeWindow    = 256
	planePackets   = 20_000 // per round
)

// planeSchemes contains schemes whose packets stay on their trees, so the number of
// deliveries is known.
var planeSchemes = []scheme.Scheme{scheme.Umbel{}, competitors.BIER{}, competitors.BIERTE{}}

// runPlane measures how many packets per second the routers of a network forward along a
// tree. All routers run on this machine, each with its own socket. The networks of the
// schemes exist at the same time and forward packets alternately.
func runPlane(packets int, o options, p *progress) (*Table, error) {
	p.scope = planePath
	schemes := slices.DeleteFunc(slices.Clone(planeSchemes), func(s scheme.Scheme) bool { return !o.only.MatchString(planePath + "/" + rowName(s)) })
	if len(schemes) == 0 {
		return nil, nil
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
	t := &Table{
		Section: "multicast", Path: planePath,
		Title: fmt.Sprintf("Packets along a tree of %d links to %d receivers on %s, payload %d bytes, over loopback",
			len(along.Steps), planeReceivers, planeRule, planePayload),
		Unit:    fmt.Sprintf("Sent, received and delivered are totals of all rounds of %d packets; the other columns are per second", packets),
		Figures: []string{"sent", "received", "delivered"}, Columns: []string{"packets", "copies"},
	}
	planes := make([]*plane, len(schemes))
	for i, s := range schemes {
		if planes[i], err = newPlane(s, along); err != nil {
			return nil, fmt.Errorf("%s: %s: %w", planePath, rowName(s), err)
		}
		defer planes[i].fleet.Stop()
	}
	for round := range o.rounds + 1 {
		for i, one := range planes {
			p.show("round %d of %d: %s", round, o.rounds, rowName(schemes[i]))
			if err := one.round(packets, round > 0); err != nil {
				return nil, fmt.Errorf("%s: %s: %w", planePath, rowName(schemes[i]), err)
			}
		}
	}
	for i, one := range planes {
		t.Rows = append(t.Rows, one.row(rowName(schemes[i])))
		if err := one.fleet.Stop(); err != nil {
			return nil, fmt.Errorf("%s: %s: %w", planePath, rowName(schemes[i]), err)
		}
	}
	t.invert()
	return t, nil
}

// plane is a running network, a packet for it, and the counters of its packets.
type plane struct {
	fleet  *dataplane.Cluster
	pacer  *dataplane.Pacer
	source int
	packet []byte

	sent, received, delivered uint64
	perPacket, perCopy        []float64 // seconds per packet and per copy, one for each round
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
	fleet, err := dataplane.StartCluster(context.Background(), dataplane.ClusterConfig{
		Graph: along.Graph, Router: d.Router,
		Deliver: func(int, []byte) { pacer.Delivered() },
	})
	if err != nil {
		return nil, err
	}
	packet := append(slices.Clone(plan.Headers[0]), make([]byte, planePayload)...)
	return &plane{fleet: fleet, pacer: pacer, source: along.Source, packet: packet}, nil
}

// round sends packets. If counted is true, it adds them to the counters.
func (p *plane) round(packets int, counted bool) error {
	before := p.fleet.Counters()
	took, err := p.send(packets)
	if err != nil || !counted {
		return err
	}
	c := p.fleet.Counters()
	sent := c.Sent - before.Sent
	p.sent += sent
	p.received += c.Received - before.Received
	p.delivered += c.Delivered - before.Delivered
	p.perPacket = append(p.perPacket, took.Seconds()/float64(packets))
	p.perCopy = append(p.perCopy, took.Seconds()/float64(sent))
	return nil
}

// row returns the counters and the times.
func (p *plane) row(name string) *Row {
	row := &Row{Name: name, Figures: map[string]float64{
		"sent": float64(p.sent), "received": float64(p.received), "delivered": float64(p.delivered),
	}}
	row.set("packets", summary(p.perPacket))
	row.set("copies", summary(p.perCopy))
	return row
}

// send sends packets and returns the time until all of them were delivered, or given up
// because the system lost them.
func (p *plane) send(packets int) (took time.Duration, err error) {
	took = timed(func() {
		err = p.fleet.Node(p.source).Send(context.Background(), p.pacer, packets, func(int) []byte { return p.packet })
		if err == nil {
			err = p.pacer.Drain(context.Background())
		}
	})
	return took, err
}

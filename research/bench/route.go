package main

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/umbel-filters/umbel/multicast"
	"github.com/umbel-filters/umbel/multicast/inpacket"
	"github.com/umbel-filters/umbel/multicast/scheme"
	"github.com/umbel-filters/umbel/multicast/topology"
	"github.com/umbel-filters/umbel/multicast/tree"
	"github.com/umbel-filters/umbel/research/competitors"
	"github.com/umbel-filters/umbel/research/competitors/bier"
)

const (
	routePath = "multicast/decide/packet"
	// routeNodes is the number of nodes of the network. Bit strings of BIER have 256 bits.
	routeNodes     = 250
	routeReceivers = 16
	routePayload   = 64 // bytes
)

// routed contains the schemes whose routers are compared.
var routed = []writer{
	{"umbel single", scheme.Umbel{Forms: []inpacket.Form{inpacket.Single}}},
	{"umbel staged", scheme.Umbel{Forms: []inpacket.Form{inpacket.Staged}}},
	{"umbel folded", scheme.Umbel{Forms: []inpacket.Form{inpacket.Folded}}},
	{"umbel linear", scheme.Umbel{Forms: []inpacket.Form{inpacket.Linear}}},
	{rowName(competitors.Lipsin{}), competitors.Lipsin{}},
	{rowName(&scheme.Adaptive{}), &scheme.Adaptive{}},
	{rowName(competitors.BIER{}), competitors.BIER{Options: bier.Options{MaxBSL: 256}}},
	{rowName(competitors.BIERTE{}), competitors.BIERTE{}},
}

// runRoute measures the work of a router for a packet that arrives over a link: it parses
// the header, checks it, decides, and makes copies. The time includes copying the packet
// into the router's buffer. All schemes encode the same trees, to receivers behind the
// other links of the node.
func runRoute(nodes []int, headers int, o options, p *progress) (*Table, error) {
	p.scope = routePath
	t := &Table{
		Section: "multicast", Path: routePath,
		Title:   fmt.Sprintf("The whole router, packets to %d receivers with a payload of %d bytes, by number of links of the node", routeReceivers, routePayload),
		Unit:    "Header bits and copies per packet are averages over the nodes; ns per packet",
		Figures: []string{"bits", "copies"},
	}
	for _, n := range nodes {
		t.Columns = append(t.Columns, linksColumn(n))
	}
	var tasks []task
	for _, w := range routed {
		if !o.only.MatchString(t.Path + "/" + w.name) {
			continue
		}
		row := &Row{Name: w.name, Figures: map[string]float64{}}
		t.Rows = append(t.Rows, row)
		for _, n := range nodes {
			p.show("headers for %d links: %s", n, w.name)
			d, err := newRouting(w.scheme, n, headers)
			if err != nil {
				return nil, fmt.Errorf("%s: %s, %d links: %w", t.Path, w.name, n, err)
			}
			row.Figures["bits"] += d.bits / float64(len(nodes))
			row.Figures["copies"] += float64(d.route(headers)) / float64(headers*len(nodes))
			tasks = append(tasks, task{row, linksColumn(n), func(int) (float64, error) {
				return timed(func() { sink.Add(int64(d.route(decidePackets))) }).Seconds() * 1e9 / decidePackets, nil
			}})
		}
	}
	if len(tasks) == 0 {
		return nil, nil
	}
	return t, interleave(o.rounds, max(1, o.timedNear/decidePackets), p, tasks, func() {})
}

// routing is a router with packets for it, whose number is a power of two.
type routing struct {
	router  multicast.Router
	packets [][]byte
	buffer  []byte // for one packet
	copies  []multicast.Copy
	bits    float64 // mean bits of a header
}

// newRouting returns the router of a node with the given number of links in the middle of a
// network. The source of the packets is behind port 0. The other ports lead to nodes that
// are connected with all remaining nodes.
func newRouting(s scheme.Scheme, links, headers int) (*routing, error) {
	const middle, source = 0, 1
	g := hub(routeNodes, links)
	n := multicast.NewNetwork(g, networkKey, 0)
	domain, err := s.Domain(n, n)
	if err != nil {
		return nil, err
	}
	d := &routing{router: domain.Router(middle), copies: make([]multicast.Copy, 0, links)}
	finder := tree.NewFinder(g, tree.Hops)
	r := rand.New(rand.NewPCG(1, uint64(links)))
	for range headers {
		receivers := r.Perm(routeNodes - links - 1)[:routeReceivers]
		for i := range receivers {
			receivers[i] += links + 1
		}
		t, err := finder.ShortestPath(source, receivers)
		if err != nil {
			return nil, err
		}
		plan, err := domain.Plan(t, 1)
		if err != nil {
			return nil, err
		}
		d.bits += float64(plan.Bits) / float64(headers)
		packet := append(slices.Clone(plan.Headers[0]), make([]byte, routePayload)...)
		copies, v := domain.Router(source).Route(nil, packet, multicast.Host)
		if len(copies) != 1 {
			return nil, fmt.Errorf("the source sent %d copies with verdict %v, want 1 copy", len(copies), v)
		}
		d.packets = append(d.packets, slices.Clone(copies[0].Packet))
		d.buffer = make([]byte, max(len(d.buffer), len(packet)))
	}
	return d, nil
}

// hub returns a network whose node 0 has the given number of links, to nodes 1 and up. All
// remaining nodes are connected with these, except with node 1.
func hub(nodes, links int) *topology.Graph {
	g := &topology.Graph{Name: "hub"}
	for i := range nodes {
		g.Nodes = append(g.Nodes, topology.Node{Name: fmt.Sprint(i)})
		switch {
		case i > links:
			g.Links = append(g.Links, topology.Link{A: 2 + i%(links-1), B: i, Weight: 1})
		case i > 0:
			g.Links = append(g.Links, topology.Link{A: 0, B: i, Weight: 1})
		}
	}
	return g
}

// route copies packets into the buffer, routes them, and returns the number of copies that
// the router made.
func (d *routing) route(packets int) (sum int) {
	for i := range packets {
		n := copy(d.buffer, d.packets[i&(len(d.packets)-1)])
		d.copies, _ = d.router.Route(d.copies[:0], d.buffer[:n], 0)
		sum += len(d.copies)
	}
	return sum
}

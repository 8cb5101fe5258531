package dataplane

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"sync"

	"github.com/umbel-filters/umbel/inpacket/multicast"
	"github.com/umbel-filters/umbel/inpacket/multicast/topology"
)

// FleetConfig is what all nodes of a topology in one process are made of.
type FleetConfig struct {
	Graph *topology.Graph
	// Addresses are those of the nodes, see [Consecutive] and [ReadHosts]; nil means
	// 127.0.0.1 with any ports that are free.
	Addresses []netip.AddrPort
	Router    func(node int) multicast.Router
	// Deliver, if given, is called as [Config.Deliver] is, with the node, by the
	// goroutines of all nodes.
	Deliver func(node int, packet []byte)
	Options
}

// Fleet is all nodes of a topology, in one process. Its methods may be called by any
// number of goroutines.
type Fleet struct {
	graph *topology.Graph
	ports [][]topology.Port
	nodes []*Node
	stop  context.CancelFunc
	done  chan struct{}
	err   error // of the nodes; when done is closed
}

// StartFleet opens the sockets of all nodes and forwards packets, one goroutine a node,
// until Stop is called or the context is done.
func StartFleet(ctx context.Context, c FleetConfig) (*Fleet, error) {
	if c.Graph == nil || len(c.Graph.Nodes) == 0 || c.Router == nil {
		return nil, errors.New("dataplane: a fleet without nodes or routers: give a graph that has nodes, and a router for each")
	}
	f := &Fleet{graph: c.Graph, ports: c.Graph.Ports(), nodes: make([]*Node, 0, len(c.Graph.Nodes)), done: make(chan struct{})}
	if err := f.open(c); err != nil {
		for _, n := range f.nodes {
			n.Close()
		}
		return nil, err
	}
	ctx, f.stop = context.WithCancel(ctx)
	go f.run(ctx)
	return f, nil
}

// open opens all sockets before it makes nodes: neighbours must know their ports.
func (f *Fleet) open(c FleetConfig) error {
	addresses, buffer := c.Addresses, c.Buffer
	if addresses == nil {
		addresses = make([]netip.AddrPort, len(c.Graph.Nodes))
		for i := range addresses {
			addresses[i] = netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), 0)
		}
	}
	if buffer == 0 {
		buffer = usualBuffer
	}
	var conns []*net.UDPConn
	defer func() {
		for _, conn := range conns {
			conn.Close()
		}
	}()
	bound := make([]netip.AddrPort, len(addresses))
	for i, a := range addresses {
		conn, err := listen(a, buffer)
		if err != nil {
			return err
		}
		conns = append(conns, conn)
		bound[i] = conn.LocalAddr().(*net.UDPAddr).AddrPort()
	}
	sites, err := Sites(c.Graph, bound)
	if err != nil {
		return err
	}
	for i, s := range sites {
		config := Config{Site: s, Router: c.Router(i), Options: c.Options}
		if c.Deliver != nil {
			config.Deliver = func(packet []byte) { c.Deliver(i, packet) }
		}
		main := conns[0]
		conns = conns[1:]
		n, err := open(config, main)
		if err != nil {
			return err
		}
		f.nodes = append(f.nodes, n)
	}
	return nil
}

// run runs all nodes. When one fails, all end.
func (f *Fleet) run(ctx context.Context) {
	defer close(f.done)
	errs := make([]error, len(f.nodes))
	var running sync.WaitGroup
	for i, n := range f.nodes {
		running.Go(func() {
			defer f.stop()
			errs[i] = n.Run(ctx)
		})
	}
	running.Wait()
	f.err = errors.Join(errs...)
}

// Stop ends all nodes, waits until their goroutines are gone and their sockets closed,
// and returns what went wrong with them. It may be called again, but not by Deliver,
// which it would wait for.
func (f *Fleet) Stop() error {
	f.stop()
	<-f.done
	return f.err
}

// Done is closed when all nodes have ended.
func (f *Fleet) Done() <-chan struct{} { return f.done }

// Node returns a node of the fleet.
func (f *Fleet) Node(i int) *Node { return f.nodes[i] }

// Counters returns the sum of all nodes' counters, without those of ports.
func (f *Fleet) Counters() Counters {
	var sum Counters
	for _, n := range f.nodes {
		c := n.Counters()
		sum.add(&c)
	}
	return sum
}

// ArcCounters are what went over one link in one direction, as its two ends have seen
// it. What was sent and isn't received was lost, or is on its way.
type ArcCounters struct{ Sent, Received uint64 }

// Arcs returns the counters of all arcs of the graph, by arc.
func (f *Fleet) Arcs() []ArcCounters {
	arcs := make([]ArcCounters, 2*len(f.graph.Links))
	for i, n := range f.nodes {
		for port, c := range n.Counters().Ports {
			a := f.ports[i][port].Arc
			arcs[a].Sent = c.Sent
			arcs[a.Reverse()].Received = c.Received
		}
	}
	return arcs
}

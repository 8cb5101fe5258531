package dataplane

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"sync"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/internal/sentinel"
	"github.com/umbel-filters/umbel/multicast"
	"github.com/umbel-filters/umbel/multicast/topology"
)

// ClusterConfig is the configuration of a [Cluster].
type ClusterConfig struct {
	Graph *topology.Graph
	// Addresses are the addresses of the nodes, see [Consecutive] and [ReadHosts]. The
	// default is 127.0.0.1 with free ports.
	Addresses []netip.AddrPort
	Router    func(node int) multicast.Router
	// Deliver, if not nil, is called like [Config.Deliver], with the node, by the
	// goroutines of all nodes.
	Deliver func(node int, packet []byte)
	Options
}

// Cluster is all nodes of a topology in one process. It is safe for concurrent use.
type Cluster struct {
	graph *topology.Graph
	ports [][]topology.Port
	nodes []*Node
	stop  context.CancelFunc
	done  chan struct{}
	err   error // of the nodes; valid after done is closed
}

// StartCluster opens the sockets of all nodes and forwards packets, with one goroutine
// per node, until Stop is called or the context is done.
func StartCluster(ctx context.Context, c ClusterConfig) (*Cluster, error) {
	if c.Graph == nil || len(c.Graph.Nodes) == 0 || c.Router == nil {
		return nil, sentinel.Errorf(umbel.ErrGoal, "a cluster needs a graph with nodes, and a router for each")
	}
	f := &Cluster{graph: c.Graph, ports: c.Graph.Ports(), nodes: make([]*Node, 0, len(c.Graph.Nodes)), done: make(chan struct{})}
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

// open opens all sockets before it makes nodes, because neighbors must know their ports.
func (f *Cluster) open(c ClusterConfig) error {
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
	sites, err := NodeConfigs(c.Graph, bound)
	if err != nil {
		return err
	}
	for i, s := range sites {
		config := Config{Node: s, Router: c.Router(i), Options: c.Options}
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

// run runs all nodes. If one fails, all end.
func (f *Cluster) run(ctx context.Context) {
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

// Stop ends all nodes, waits until their goroutines have ended and their sockets are
// closed, and returns their errors. It may be called again, but not by Deliver, because
// it waits for Deliver to return.
func (f *Cluster) Stop() error {
	f.stop()
	<-f.done
	return f.err
}

// Done returns a channel that is closed when all nodes have ended.
func (f *Cluster) Done() <-chan struct{} { return f.done }

// Node returns a node of the cluster.
func (f *Cluster) Node(i int) *Node { return f.nodes[i] }

// Counters returns the sum of all nodes' counters, without those of ports.
func (f *Cluster) Counters() Counters {
	var sum Counters
	for _, n := range f.nodes {
		c := n.Counters()
		sum.add(&c)
	}
	return sum
}

// ArcCounters are the packets on one arc, as counted at its two ends. Packets that were
// sent and not received were lost or are in transit.
type ArcCounters struct{ Sent, Received uint64 }

// Arcs returns the counters of all arcs of the graph, by arc.
func (f *Cluster) Arcs() []ArcCounters {
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

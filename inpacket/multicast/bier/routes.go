package bier

import (
	"fmt"
	"math"

	"github.com/umbel-filters/umbel/inpacket/multicast"
	"github.com/umbel-filters/umbel/inpacket/multicast/tree"
)

// routes are the next hops of shortest paths: routes[to][node] is the port of node
// that leads on to to, or none.
//
// Each router of a domain computes its own from what all know, the network: here
// the same is done once, from the receivers' ends, see [tree.Finder.Toward].
type routes [][]uint16

const none = math.MaxUint16

// findRoutes returns the routes of a network by a metric. The error is ErrTooLarge if a
// path has more hops than a packet may take.
func findRoutes(n *multicast.Network, m tree.Metric) (routes, error) {
	for i, l := range n.Graph.Links {
		if m == tree.Weights && !(l.Weight > 0 && l.Weight <= math.MaxFloat64) {
			return nil, fmt.Errorf("bier: link %d has the weight %v, want above 0 and finite", i, l.Weight)
		}
	}
	nodes := len(n.Graph.Nodes)
	port := make([]uint16, 2*len(n.Graph.Links)) // by arc
	for u := range nodes {
		for i, p := range n.Ports(u) {
			port[p.Arc] = uint16(i)
		}
	}
	r := make(routes, nodes)
	finder := tree.NewFinder(n.Graph, m)
	for to := range r {
		r[to] = make([]uint16, nodes)
		arcs, hops := finder.Toward(to)
		for u, a := range arcs {
			if hops[u] > maxTTL {
				return nil, fmt.Errorf("bier: the path from %d to %d has %d hops, and packets may take %d: %w", u, to, hops[u], maxTTL, ErrTooLarge)
			}
			r[to][u] = none
			if a >= 0 {
				r[to][u] = port[a]
			}
		}
	}
	return r, nil
}

// portsAt returns, for each port of a node of the known network, the port to the
// same neighbor in the present one, or -1 if there is none any more.
func portsAt(known, present *multicast.Network, node int) []int {
	ports := make([]int, len(known.Ports(node)))
	for i, p := range known.Ports(node) {
		ports[i] = -1
		for j, q := range present.Ports(node) {
			if q.Neighbor == p.Neighbor {
				ports[i] = j
			}
		}
	}
	return ports
}

// sameNodes says whether two networks have the same nodes, as far as their numbers go.
func sameNodes(known, present *multicast.Network) error {
	if a, b := len(known.Graph.Nodes), len(present.Graph.Nodes); a != b {
		return fmt.Errorf("bier: %d nodes known and %d present, want the same", a, b)
	}
	return nil
}

package multicast

import (
	"github.com/umbel-filters/umbel/inpacket"
	"github.com/umbel-filters/umbel/inpacket/multicast/topology"
)

// Network is a topology whose links have keys, in one epoch. It isn't changed, and
// may be used by any number of goroutines.
//
// The key of an arc derives from the network's and from the names of its nodes, so
// that a link keeps its key when others come and go.
type Network struct {
	Graph *topology.Graph
	Epoch uint16
	key   inpacket.Key
	ports [][]topology.Port
	arcs  []inpacket.Codeword
}

// NewNetwork returns the network of a graph with a key, in an epoch.
func NewNetwork(g *topology.Graph, key inpacket.Key, epoch uint16) *Network {
	n := &Network{Graph: g, Epoch: epoch, key: key, ports: g.Ports(), arcs: make([]inpacket.Codeword, 2*len(g.Links))}
	for a := range n.arcs {
		n.arcs[a] = n.ArcKey(topology.Arc(a)).Codeword(epoch)
	}
	return n
}

// ArcKey returns the key of an arc: the network's key derives it from the names of
// the nodes it leads from and to, each followed by a zero byte.
func (n *Network) ArcKey(a topology.Arc) inpacket.Key {
	from, to := n.Graph.Ends(a)
	label := append([]byte(n.Graph.Nodes[from].Name), 0)
	label = append(append(label, n.Graph.Nodes[to].Name...), 0)
	return n.key.Derive(label)
}

// Codeword returns the codeword of an arc in the network's epoch.
func (n *Network) Codeword(a topology.Arc) inpacket.Codeword { return n.arcs[a] }

// Ports returns the ports of a node; don't change them.
func (n *Network) Ports(node int) []topology.Port { return n.ports[node] }

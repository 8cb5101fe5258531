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
// the same is done once, from the receivers' ends. A path is the shorter for its
// cost, then for its hops, and of equal next hops the neighbor with the lowest
// number is taken. So from hop to hop the hops that are left get fewer, whatever
// the rounding of costs does, and packets can't go in circles.
type routes [][]uint16

const none = math.MaxUint16

// findRoutes returns the routes of a network by a metric. The error is ErrTooLarge if a path has
// more hops than a packet may take.
func findRoutes(n *multicast.Network, m tree.Metric) (routes, error) {
	costs := make([]float64, len(n.Graph.Links))
	for i, l := range n.Graph.Links {
		costs[i] = 1
		if m == tree.Weights {
			costs[i] = l.Weight
		}
		if !(costs[i] > 0 && costs[i] <= math.MaxFloat64) {
			return nil, fmt.Errorf("bier: link %d has the weight %v, want above 0 and finite", i, l.Weight)
		}
	}
	nodes := len(n.Graph.Nodes)
	r := make(routes, nodes)
	s := search{net: n, costs: costs, at: make([]distance, nodes), done: make([]bool, nodes)}
	for to := range r {
		s.run(to)
		r[to] = make([]uint16, nodes)
		for u := range r[to] {
			if s.done[u] && s.at[u].hops > maxTTL {
				return nil, fmt.Errorf("bier: the path from %d to %d has %d hops, and packets may take %d: %w", u, to, s.at[u].hops, maxTTL, ErrTooLarge)
			}
			r[to][u] = s.next(u)
		}
	}
	return r, nil
}

// distance orders paths.
type distance struct {
	cost float64
	hops int
}

func (d distance) less(e distance) bool {
	return d.cost < e.cost || d.cost == e.cost && d.hops < e.hops
}

// search finds the distances of all nodes from one: Dijkstra 1959.
type search struct {
	net   *multicast.Network
	costs []float64 // of links
	at    []distance
	done  []bool
	heap  []waiting
}

// waiting is a node that has been reached, perhaps not yet by its shortest path.
type waiting struct {
	at   distance
	node int
}

func (s *search) run(from int) {
	clear(s.done)
	for u := range s.at {
		s.at[u] = distance{math.Inf(1), 0}
	}
	s.reach(waiting{distance{}, from})
	for len(s.heap) > 0 {
		u := s.pop().node
		if s.done[u] {
			continue
		}
		s.done[u] = true
		for _, p := range s.net.Ports(u) {
			s.reach(waiting{s.over(u, p.Arc.Link()), p.Neighbor})
		}
	}
}

// over returns the distance of the far end of a link of u.
func (s *search) over(u, link int) distance {
	return distance{s.at[u].cost + s.costs[link], s.at[u].hops + 1}
}

// reach notes a path to a node if it is shorter than those known.
func (s *search) reach(w waiting) {
	if !w.at.less(s.at[w.node]) {
		return
	}
	s.at[w.node] = w.at
	s.heap = append(s.heap, w)
	i := len(s.heap) - 1
	for ; i > 0 && w.at.less(s.heap[(i-1)/2].at); i = (i - 1) / 2 {
		s.heap[i] = s.heap[(i-1)/2]
	}
	s.heap[i] = w
}

// pop takes the nearest of the nodes that wait.
func (s *search) pop() waiting {
	top := s.heap[0]
	last := s.heap[len(s.heap)-1]
	s.heap = s.heap[:len(s.heap)-1]
	if len(s.heap) == 0 {
		return top
	}
	i := 0
	for {
		child := 2*i + 1
		if child+1 < len(s.heap) && s.heap[child+1].at.less(s.heap[child].at) {
			child++
		}
		if child >= len(s.heap) || !s.heap[child].at.less(last.at) {
			break
		}
		s.heap[i] = s.heap[child]
		i = child
	}
	s.heap[i] = last
	return top
}

// next returns the port of u that leads on to where the search began.
func (s *search) next(u int) uint16 {
	best, port := math.MaxInt, none
	for i, p := range s.net.Ports(u) {
		if s.done[u] && s.over(p.Neighbor, p.Arc.Link()) == s.at[u] && p.Neighbor < best {
			best, port = p.Neighbor, i
		}
	}
	return uint16(port)
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

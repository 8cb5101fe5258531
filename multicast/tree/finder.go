package tree

import (
	"fmt"
	"math"
	"slices"

	"github.com/umbel-filters/umbel/multicast/topology"
)

// maxCached is the largest number of nodes and arcs for which a Finder keeps paths: about
// 16 MiB.
const maxCached = 1 << 20

// Finder finds trees in one graph. It caches the shortest paths from sources, so that
// further trees from the same source cost little. It is not safe for concurrent use.
type Finder struct {
	graph  *topology.Graph
	metric Metric
	ports  [][]topology.Port
	kept   map[int]*paths
	shortest
}

// NewFinder returns a finder of trees in a graph whose paths are shortest by a metric.
func NewFinder(g *topology.Graph, m Metric) *Finder {
	return &Finder{graph: g, metric: m, ports: g.Ports(), kept: map[int]*paths{}}
}

// from returns the paths from a source, from the cache if possible.
func (f *Finder) from(source int) *paths {
	w, ok := f.kept[source]
	if !ok {
		if (len(f.kept)+1)*(len(f.graph.Nodes)+len(f.graph.Links)) > maxCached {
			clear(f.kept)
		}
		w = pathsFrom(f.graph, f.ports, f.metric, []int{source}, nil)
		f.kept[source] = w
	}
	return w
}

// Distance returns the length of the shortest path between two nodes by the finder's
// metric, or +Inf if there is none. It panics if the graph doesn't have these nodes.
func (f *Finder) Distance(from, to int) float64 { return f.from(from).length[to] }

// wanted returns the receivers, sorted and without repetitions and the source. It returns
// an error if a node doesn't exist or can't be reached.
func (f *Finder) wanted(source int, receivers []int) ([]int, error) {
	if source < 0 || source >= len(f.graph.Nodes) {
		return nil, fmt.Errorf("%w: source %d, the graph has nodes 0 to %d", ErrNode, source, len(f.graph.Nodes)-1)
	}
	for _, r := range receivers {
		if r < 0 || r >= len(f.graph.Nodes) {
			return nil, fmt.Errorf("%w: receiver %d, the graph has nodes 0 to %d", ErrNode, r, len(f.graph.Nodes)-1)
		}
	}
	rs := slices.DeleteFunc(slices.Clone(receivers), func(r int) bool { return r == source })
	slices.Sort(rs)
	rs = slices.Compact(rs)
	if len(rs) == 0 {
		return nil, fmt.Errorf("%w: %d receivers, and none other than the source %d", ErrNoReceivers, len(receivers), source)
	}
	rank := f.from(source).rank
	for _, r := range rs {
		if rank[r] < 0 {
			return nil, fmt.Errorf("%w: no path from %q to %q; use the graph's largest component", ErrDisconnected,
				f.graph.Nodes[source].Name, f.graph.Nodes[r].Name)
		}
	}
	return rs, nil
}

// paths are all shortest paths from the nearest of several starts to every node. They
// form an acyclic graph, which has for each node the last arcs of its shortest paths.
type paths struct {
	length []float64      // length of the path to each node, +Inf if there is none
	order  []int32        // nodes that have a path, by ascending length
	rank   []int32        // index of each node in order, -1 without a path
	first  []int32        // the last arcs of the paths to node v are last[first[v]:first[v+1]]
	last   []topology.Arc // toward the node, in the order of the node's ports
}

// into returns the last arcs of the shortest paths to a node, or none for a start.
func (w *paths) into(node int) []topology.Arc { return w.last[w.first[node]:w.first[node+1]] }

// pathsFrom finds all shortest paths from the starts. It doesn't use arcs for which skip
// returns true; skip may be nil.
func pathsFrom(g *topology.Graph, ports [][]topology.Port, m Metric, starts []int, skip func(topology.Arc) bool) *paths {
	n := len(g.Nodes)
	w := &paths{length: make([]float64, n), order: make([]int32, 0, n), rank: make([]int32, n)}
	for v := range n {
		w.length[v], w.rank[v] = math.Inf(1), -1
	}
	var open frontier
	for _, s := range starts {
		w.length[s] = 0
		open.push(0, int32(s))
	}
	for len(open) > 0 {
		at := open.pop()
		v := int(at.node)
		if w.rank[v] >= 0 {
			continue
		}
		w.rank[v] = int32(len(w.order))
		w.order = append(w.order, at.node)
		for _, p := range ports[v] {
			if skip != nil && skip(p.Arc) {
				continue
			}
			if l := at.length + m.of(g.Links[p.Arc.Link()]); l < w.length[p.Neighbor] {
				w.length[p.Neighbor] = l
				open.push(l, int32(p.Neighbor))
			}
		}
	}
	w.fillLast(g, ports, m, skip)
	return w
}

// fillLast finds the last arcs of shortest paths. It also requires that the node before
// an arc comes earlier in order, because a tiny weight may vanish in a sum.
func (w *paths) fillLast(g *topology.Graph, ports [][]topology.Port, m Metric, skip func(topology.Arc) bool) {
	w.first = make([]int32, len(ports)+1)
	for v, ps := range ports {
		for _, p := range ps {
			back, u := p.Arc.Reverse(), p.Neighbor
			if w.rank[u] >= 0 && w.rank[u] < w.rank[v] && (skip == nil || !skip(back)) &&
				w.length[u]+m.of(g.Links[back.Link()]) == w.length[v] {
				w.last = append(w.last, back)
			}
		}
		w.first[v+1] = int32(len(w.last))
	}
	w.last = slices.Clip(w.last)
}

// reached is a node on the frontier of a search, with the length of a path to it.
type reached struct {
	length float64
	node   int32
}

func (r reached) before(s reached) bool {
	return r.length < s.length || r.length == s.length && r.node < s.node
}

// frontier is a binary heap with the shortest path on top; among equal ones, that to the
// node with the lowest number.
type frontier []reached

func (f *frontier) push(length float64, node int32) {
	*f = append(*f, reached{length, node})
	h := *f
	for i := len(h) - 1; i > 0; {
		up := (i - 1) / 2
		if !h[i].before(h[up]) {
			return
		}
		h[i], h[up] = h[up], h[i]
		i = up
	}
}

func (f *frontier) pop() reached {
	h := *f
	top := h[0]
	h[0] = h[len(h)-1]
	h = h[:len(h)-1]
	*f = h
	for i := 0; ; {
		down := 2*i + 1
		if down >= len(h) {
			return top
		}
		if down+1 < len(h) && h[down+1].before(h[down]) {
			down++
		}
		if !h[down].before(h[i]) {
			return top
		}
		h[i], h[down] = h[down], h[i]
		i = down
	}
}

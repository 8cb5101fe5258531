package tree

import (
	"fmt"
	"slices"

	"github.com/umbel-filters/umbel/inpacket/multicast/topology"
)

// keptWays is how many nodes and arcs a Finder keeps ways of: 16 MiB or so.
const keptWays = 1 << 20

// Finder finds trees over one graph. It keeps the shortest ways from sources, so that
// further trees from the same cost little; it belongs to one goroutine.
type Finder struct {
	graph  *topology.Graph
	metric Metric
	ports  [][]topology.Port
	kept   map[int]*ways
	shortest
}

// NewFinder returns a finder of trees over a graph, whose ways are short by a metric.
func NewFinder(g *topology.Graph, m Metric) *Finder {
	return &Finder{graph: g, metric: m, ports: g.Ports(), kept: map[int]*ways{}}
}

// from returns the ways from a source, found or kept.
func (f *Finder) from(source int) *ways {
	w, ok := f.kept[source]
	if !ok {
		if (len(f.kept)+1)*(len(f.graph.Nodes)+len(f.graph.Links)) > keptWays {
			clear(f.kept)
		}
		w = waysFrom(f.graph, f.ports, f.metric, []int{source}, nil)
		f.kept[source] = w
	}
	return w
}

// Distance returns the length of the shortest way between two nodes by the finder's
// metric, +Inf if there is none. It panics if the graph hasn't these nodes.
func (f *Finder) Distance(from, to int) float64 { return f.from(from).length[to] }

// wanted returns the receivers sorted, each once, without the source, after a check
// that there are such nodes and ways to them.
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
		return nil, fmt.Errorf("%w: of %d named, none but the source %d", ErrNoReceivers, len(receivers), source)
	}
	rank := f.from(source).rank
	for _, r := range rs {
		if rank[r] < 0 {
			return nil, fmt.Errorf("%w: no way from %q to %q; take its largest component", ErrDisconnected,
				f.graph.Nodes[source].Name, f.graph.Nodes[r].Name)
		}
	}
	return rs, nil
}

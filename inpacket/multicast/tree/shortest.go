package tree

import (
	"cmp"
	"slices"

	"github.com/umbel-filters/umbel/inpacket/multicast/topology"
)

// ShortestPath returns a tree that leads from a source to each receiver on a shortest
// way. See Finder.ShortestPath; a Finder is faster for more than one tree.
func ShortestPath(g *topology.Graph, source int, receivers []int, m Metric) (*Tree, error) {
	return NewFinder(g, m).ShortestPath(source, receivers)
}

// shortest is what ShortestPath needs of memory: by node.
type shortest struct {
	in      []bool         // the tree
	by      []topology.Arc // that the tree comes to the node by, -1 as long as none is chosen
	waiting []int32        // nodes of the tree without an arc, that the node could be before
	depth   []int32

	// of the other order
	joined []bool
	via    []topology.Arc // that the cheapest way to the node ends with
	price  []int32        // links that it adds to the tree
}

// ShortestPath returns a tree that leads from a source to each receiver on a shortest
// way. Of several shortest ways it takes those that share links. To find the fewest
// links is hard (it is covering sets with sets), so there are two heuristics, of which
// the better one's tree is taken: the greedy cover, from the receivers back to the
// source, and the other order, in which the receiver that costs the fewest new links
// is joined next. The tree is the same for the same graph, source and set of
// receivers. Receivers may come twice and hold the source. Errors wrap ErrNode,
// ErrNoReceivers and ErrDisconnected.
func (f *Finder) ShortestPath(source int, receivers []int) (*Tree, error) {
	rs, err := f.wanted(source, receivers)
	if err != nil {
		return nil, err
	}
	if f.in == nil {
		n := len(f.ports)
		f.shortest = shortest{
			make([]bool, n), make([]topology.Arc, n), make([]int32, n), make([]int32, n),
			make([]bool, n), make([]topology.Arc, n), make([]int32, n),
		}
	}
	w := f.from(source)
	in, by := f.in, f.by
	count := f.cover(w, source, rs)
	if joined := f.join(w, source, rs); joined < count {
		count, in, by = joined, f.joined, f.via
	}
	t := &Tree{Graph: f.graph, Source: source, Receivers: rs, Steps: make([]Step, 0, count)}
	f.depth[source] = 0
	for _, v := range w.order {
		if in[v] && int(v) != source {
			from, _ := f.graph.Ends(by[v])
			f.depth[v] = f.depth[from] + 1
			t.Steps = append(t.Steps, Step{by[v], int(f.depth[from])})
		}
	}
	t.sort()
	return t, nil
}

// cover finds a tree from the receivers back to the source, and returns the number of
// its links. The tree is in and by.
func (f *Finder) cover(w *ways, source int, receivers []int) (count int) {
	clear(f.in)
	clear(f.waiting)
	f.in[source] = true
	for _, r := range receivers {
		count += f.enter(w, r)
	}
	for _, v := range slices.Backward(w.order) {
		if f.in[v] && int(v) != source && f.by[v] < 0 {
			count += f.choose(w, int(v))
		}
	}
	return count
}

// enter takes a node into the tree, and those before it as long as there is no choice,
// and returns how many.
func (f *Finder) enter(w *ways, v int) (count int) {
	for !f.in[v] {
		count++
		f.in[v] = true
		arcs := w.into(v)
		if len(arcs) == 1 {
			f.by[v] = arcs[0]
			v, _ = f.graph.Ends(arcs[0])
			continue
		}
		f.by[v] = -1
		for _, a := range arcs {
			from, _ := f.graph.Ends(a)
			f.waiting[from]++
		}
	}
	return count
}

// choose decides on the arc by which a node is reached: from a node of the tree if
// there is one, otherwise from that which most nodes wait for. Of equal ones it is the
// node with the fewest links, since links next to the tree lengthen a filter.
func (f *Finder) choose(w *ways, v int) (count int) {
	arcs := w.into(v)
	f.by[v] = slices.MinFunc(arcs, func(a, b topology.Arc) int {
		x, _ := f.graph.Ends(a)
		y, _ := f.graph.Ends(b)
		if f.in[x] != f.in[y] {
			if f.in[x] {
				return -1
			}
			return 1
		}
		return cmp.Or(cmp.Compare(f.waiting[y], f.waiting[x]), cmp.Compare(len(f.ports[x]), len(f.ports[y])))
	})
	for _, a := range arcs {
		from, _ := f.graph.Ends(a)
		f.waiting[from]--
	}
	from, _ := f.graph.Ends(f.by[v])
	return f.enter(w, from)
}

// Toward returns, of each node, the arc with which its shortest way to a node begins, by
// the finder's metric, and the number of arcs of that way: -1 and -1 without a way, -1
// and 0 of the node itself. Of ways that are as short it is that of the fewest arcs, and
// of several arcs then the one to the neighbor of the lowest number.
//
// Whoever follows the arcs gets nearer to the node with each, and never in a circle,
// whatever the rounding of sums does. What it finds isn't kept. It panics if the graph
// hasn't the node.
func (f *Finder) Toward(to int) (arcs []topology.Arc, hops []int) {
	w := waysFrom(f.graph, f.ports, f.metric, []int{to}, nil)
	arcs, hops = make([]topology.Arc, len(f.ports)), make([]int, len(f.ports))
	for v := range arcs {
		arcs[v], hops[v] = -1, -1
	}
	hops[to] = 0
	for _, v := range w.order {
		nearest := -1
		for _, a := range w.into(int(v)) { // a link carries both ways for the same
			u, _ := f.graph.Ends(a)
			if nearest < 0 || hops[u] < hops[nearest] || hops[u] == hops[nearest] && u < nearest {
				nearest, arcs[v], hops[v] = u, a.Reverse(), hops[u]+1
			}
		}
	}
	return arcs, hops
}

// Backup returns the way with the fewest arcs from where an arc comes from to where it
// leads, without its link: what a packet takes when the link has failed. It reports
// false if there is none, the link being the only way, or no such arc.
func Backup(g *topology.Graph, a topology.Arc) ([]topology.Arc, bool) {
	return NewFinder(g, Hops).Backup(a)
}

// Backup is the function of this name, by the finder's metric. What it finds isn't
// kept.
func (f *Finder) Backup(a topology.Arc) ([]topology.Arc, bool) {
	if a < 0 || a.Link() >= len(f.graph.Links) {
		return nil, false
	}
	from, to := f.graph.Ends(a)
	w := waysFrom(f.graph, f.ports, f.metric, []int{from}, func(b topology.Arc) bool { return b.Link() == a.Link() })
	if w.rank[to] < 0 {
		return nil, false
	}
	var way []topology.Arc
	for to != from {
		last := w.into(to)[0]
		way = append(way, last)
		to, _ = f.graph.Ends(last)
	}
	slices.Reverse(way)
	return way, true
}

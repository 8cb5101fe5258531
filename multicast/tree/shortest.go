package tree

import (
	"cmp"
	"slices"

	"github.com/umbel-filters/umbel/multicast/topology"
)

// ShortestPath returns a tree with a shortest path from a source to each receiver. See
// Finder.ShortestPath; a Finder is faster for more than one tree.
func ShortestPath(g *topology.Graph, source int, receivers []int, m Metric) (*Tree, error) {
	return NewFinder(g, m).ShortestPath(source, receivers)
}

// shortest is the working memory of ShortestPath, by node.
type shortest struct {
	in      []bool         // in the tree
	by      []topology.Arc // the arc by which the tree reaches the node, -1 if none is chosen yet
	waiting []int32        // number of nodes of the tree without an arc that could be reached from the node
	depth   []int32

	// For the second heuristic.
	joined []bool
	via    []topology.Arc // the last arc of the cheapest path to the node
	price  []int32        // number of links that this path adds to the tree
}

// ShortestPath returns a tree with a shortest path from a source to each receiver. Among
// several shortest paths it prefers those that share links. The minimum number of links
// is NP-hard to find (it is set cover), so it uses two heuristics and returns the tree
// with fewer links: a greedy cover, from the receivers back to the source; and the
// opposite order, in which the receiver that adds the fewest links is joined next. The
// tree is the same for the same graph, source and set of receivers. Receivers may repeat
// and may contain the source. Errors wrap ErrNode, ErrNoReceivers or ErrDisconnected.
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

// cover finds a tree from the receivers back to the source, in f.in and f.by, and returns
// its number of links.
func (f *Finder) cover(w *paths, source int, receivers []int) (count int) {
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

// enter adds a node to the tree, and its predecessors as long as there is no choice, and
// returns the number of nodes added.
func (f *Finder) enter(w *paths, v int) (count int) {
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

// choose selects the arc by which a node is reached: from a node of the tree if possible,
// otherwise from the node for which most nodes wait. Among equal ones it prefers the node
// with the fewest links, because links next to the tree make filters longer.
func (f *Finder) choose(w *paths, v int) (count int) {
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

// Toward returns, for each node, the first arc of its shortest path to node to by the
// finder's metric, and the number of arcs of that path. Both are -1 if there is no path;
// for the node itself they are -1 and 0. Among equally short paths it returns the one
// with the fewest arcs, and among these the one via the neighbor with the lowest number.
//
// Each arc leads closer to the node, without cycles, for any rounding of sums. The
// result is not cached. It panics if the graph doesn't have the node.
func (f *Finder) Toward(to int) (arcs []topology.Arc, hops []int) {
	w := pathsFrom(f.graph, f.ports, f.metric, []int{to}, nil)
	arcs, hops = make([]topology.Arc, len(f.ports)), make([]int, len(f.ports))
	for v := range arcs {
		arcs[v], hops[v] = -1, -1
	}
	hops[to] = 0
	for _, v := range w.order {
		nearest := -1
		for _, a := range w.into(int(v)) { // both directions of a link have the same cost
			u, _ := f.graph.Ends(a)
			if nearest < 0 || hops[u] < hops[nearest] || hops[u] == hops[nearest] && u < nearest {
				nearest, arcs[v], hops[v] = u, a.Reverse(), hops[u]+1
			}
		}
	}
	return arcs, hops
}

// Backup returns the shortest path, by the finder's metric, from the start of an arc to its end
// without its link: the path of packets if the link has failed. It returns false if there
// is no such path or no such arc. The result is not cached.
func (f *Finder) Backup(a topology.Arc) ([]topology.Arc, bool) {
	if a < 0 || a.Link() >= len(f.graph.Links) {
		return nil, false
	}
	from, to := f.graph.Ends(a)
	w := pathsFrom(f.graph, f.ports, f.metric, []int{from}, func(b topology.Arc) bool { return b.Link() == a.Link() })
	if w.rank[to] < 0 {
		return nil, false
	}
	var path []topology.Arc
	for to != from {
		last := w.into(to)[0]
		path = append(path, last)
		to, _ = f.graph.Ends(last)
	}
	slices.Reverse(path)
	return path, true
}

package topology

// Graph is a network: nodes, and links that join two of them and carry packets both
// ways. Between two nodes there is at most one link, and none from a node to itself.
// A graph isn't changed once it is used.
type Graph struct {
	Name  string
	Nodes []Node
	Links []Link
}

// Node is a node of a graph.
type Node struct {
	Name   string  // unique in the graph
	X, Y   float64 // where it is drawn: longitude and latitude in files that have them
	Placed bool    // whether X and Y are known
}

// Link joins nodes A and B, indexes below len(Nodes), A < B.
type Link struct {
	A, B   int
	Weight float64 // cost of the way over it, above 0
}

// Arc is a link in one direction: 2·l from A to B of link l, 2·l+1 from B to A.
type Arc int

// Port is a link seen from one of its nodes.
type Port struct {
	Arc      Arc // outward
	Neighbor int
}

// ArcOf returns the arc of a link from its A to its B, or back.
func ArcOf(link int, back bool) Arc {
	if back {
		return Arc(2*link + 1)
	}
	return Arc(2 * link)
}

// Link returns the link of an arc.
func (a Arc) Link() int { return int(a) >> 1 }

// Reverse returns the arc of the same link in the other direction.
func (a Arc) Reverse() Arc { return a ^ 1 }

// Ends returns the nodes that arc a leads from and to.
func (g *Graph) Ends(a Arc) (from, to int) {
	l := g.Links[a.Link()]
	if a&1 == 0 {
		return l.A, l.B
	}
	return l.B, l.A
}

// Ports returns the ports of all nodes, those of a node in the order of its links
// in the graph: the index of a port in a node's list is its number. It makes the
// lists anew; keep them.
func (g *Graph) Ports() [][]Port {
	all := make([]Port, 2*len(g.Links))
	ports := make([][]Port, len(g.Nodes))
	for v, d := range g.Degrees() {
		ports[v], all = all[:0:d], all[d:]
	}
	for i, l := range g.Links {
		ports[l.A] = append(ports[l.A], Port{ArcOf(i, false), l.B})
		ports[l.B] = append(ports[l.B], Port{ArcOf(i, true), l.A})
	}
	return ports
}

// Package topology reads networks from files and makes them by rule: nodes, and links
// between them.
//
// Files of the Internet Topology Zoo, TopoHub (SNDlib) and Rocketfuel are read as they
// are; what a Graph can't have is changed, and counted in Notes. Links between the
// same two nodes become one, of the lowest weight, and links from a node to itself
// none. Keys of links are made of the names of nodes, so each node gets one of its
// own: control characters become spaces, which are cut at both ends; a node without a
// name has its id in GML and GraphML, and is "node 7" in a table, by its index in the
// graph; a name that an earlier node has is followed by " (2)", " (3)" and so on. So
// names depend on the order of nodes in the file, and a file in which nodes of the
// same name change places gives their links other keys.
//
// A graph may be in several parts. LargestComponent is what most studies take.
package topology

import (
	"slices"
)

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

// Find returns the node of a name, and whether there is one.
func (g *Graph) Find(name string) (int, bool) {
	i := slices.IndexFunc(g.Nodes, func(n Node) bool { return n.Name == name })
	return i, i >= 0
}

// Degrees returns how many links each node has.
func (g *Graph) Degrees() []int {
	degrees := make([]int, len(g.Nodes))
	for _, l := range g.Links {
		degrees[l.A]++
		degrees[l.B]++
	}
	return degrees
}

// Components returns, for each node, the number of the part of the graph that it is
// in, and how many nodes each part has. Nodes with a way between them are in one part;
// parts are numbered from 0 in the order of their first nodes.
func (g *Graph) Components() (part, sizes []int) {
	joined := newParts(len(g.Nodes))
	for _, l := range g.Links {
		joined.join(l.A, l.B)
	}
	part = make([]int, len(g.Nodes))
	for i := range part {
		if first := joined.first(i); first == i {
			part[i] = len(sizes)
			sizes = append(sizes, 1)
		} else {
			part[i] = part[first]
			sizes[part[i]]++
		}
	}
	return part, sizes
}

// Connected reports whether there is a way between any two nodes.
func (g *Graph) Connected() bool {
	_, sizes := g.Components()
	return len(sizes) <= 1
}

// LargestComponent returns the part of the graph with the most nodes, the first of
// several: g itself if it is connected, otherwise a new graph whose nodes and links
// are in the order of g's.
func (g *Graph) LargestComponent() *Graph {
	part, sizes := g.Components()
	if len(sizes) <= 1 {
		return g
	}
	largest := slices.Index(sizes, slices.Max(sizes))
	c := &Graph{Name: g.Name}
	index := make([]int, len(g.Nodes))
	for i, n := range g.Nodes {
		if part[i] == largest {
			index[i] = len(c.Nodes)
			c.Nodes = append(c.Nodes, n)
		}
	}
	for _, l := range g.Links {
		if part[l.A] == largest {
			c.Links = append(c.Links, Link{index[l.A], index[l.B], l.Weight})
		}
	}
	return c
}

// parts are sets of nodes that grow together. Each node has one of its part, with a
// lower number, in whose place it can be asked for the part's first.
type parts []int

func newParts(n int) parts {
	p := make(parts, n)
	for i := range p {
		p[i] = i
	}
	return p
}

// first returns the first node of a node's part.
func (p parts) first(i int) int {
	for p[i] != i {
		p[i] = p[p[i]]
		i = p[i]
	}
	return i
}

// join makes the parts of two nodes one, and reports whether they were two.
func (p parts) join(a, b int) bool {
	a, b = p.first(a), p.first(b)
	p[max(a, b)] = min(a, b)
	return a != b
}

// Distances are lengths of shortest ways, in links, between nodes that reach each
// other.
type Distances struct {
	Diameter int     // the longest
	Mean     float64 // over all pairs of two nodes, 0 if no nodes are linked
}

// Distances finds the ways between all nodes, in time nodes · links.
func (g *Graph) Distances() Distances {
	ports := g.Ports()
	var d Distances
	var sum, pairs float64
	hops := make([]int, len(g.Nodes))
	queue := make([]int, 0, len(g.Nodes))
	for source := range g.Nodes {
		for i := range hops {
			hops[i] = -1
		}
		hops[source] = 0
		queue = append(queue[:0], source)
		for at := 0; at < len(queue); at++ {
			node := queue[at]
			for _, p := range ports[node] {
				if hops[p.Neighbor] < 0 {
					hops[p.Neighbor] = hops[node] + 1
					queue = append(queue, p.Neighbor)
				}
			}
		}
		d.Diameter = max(d.Diameter, hops[queue[len(queue)-1]])
		for _, node := range queue[1:] {
			sum += float64(hops[node])
			pairs++
		}
	}
	if pairs > 0 {
		d.Mean = sum / pairs
	}
	return d
}

// Package topology reads networks from files and generates them: nodes, and links between
// them.
//
// It reads files of the Internet Topology Zoo, TopoHub (SNDlib) and Rocketfuel. What a
// Graph can't represent is changed, and counted in Notes. Parallel links become one, with
// the lowest weight, and links from a node to itself are dropped. Keys of links derive
// from the names of nodes, so names are made unique, in the order of nodes in the file.
// Control characters become spaces, and spaces are removed at both ends. A node without a
// name is named after its id in GML and GraphML, and otherwise "node 7" if its index in
// the graph is 7. A name that an earlier node has is followed by " (2)", " (3)" and so
// on. So if two nodes with the same name change places in a file, their links have other
// keys.
//
// A graph may consist of several parts. Most studies use its LargestComponent.
package topology

import (
	"slices"
)

// Graph is a network: nodes, and links that join two nodes and carry packets in both
// directions. Two nodes have at most one link, and no link joins a node to itself. A
// graph must not be modified after it is first used.
type Graph struct {
	Name  string
	Nodes []Node
	Links []Link
}

// Node is a node of a graph.
type Node struct {
	Name   string  // unique in the graph
	ID     string  // of a file in TSV, "" if it is the node's index or the graph is of another source
	X, Y   float64 // place in drawings: longitude and latitude if the file has them
	Placed bool    // whether X and Y are valid
}

// Link joins nodes A and B, indexes below len(Nodes), with A < B.
type Link struct {
	A, B   int
	Weight float64 // cost of the link, above 0
}

// Arc is one direction of a link: 2·l is link l from A to B, and 2·l+1 is link l from B
// to A.
type Arc int

// Port is a link seen from one of its nodes.
type Port struct {
	Arc      Arc // outward
	Neighbor int
}

// ArcOf returns the arc of a link from A to B, or from B to A if back is set.
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

// Ports returns the ports of all nodes. The ports of a node are in the order of its links
// in the graph; the index of a port is its number. Each call allocates the lists, so
// callers should keep them.
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

// Find returns the node with a name, otherwise the first with the ID, and false if there is none.
func (g *Graph) Find(name string) (int, bool) {
	i := slices.IndexFunc(g.Nodes, func(n Node) bool { return n.Name == name })
	if i < 0 && name != "" {
		i = slices.IndexFunc(g.Nodes, func(n Node) bool { return n.ID == name })
	}
	return i, i >= 0
}

// Degrees returns the number of links of each node.
func (g *Graph) Degrees() []int {
	degrees := make([]int, len(g.Nodes))
	for _, l := range g.Links {
		degrees[l.A]++
		degrees[l.B]++
	}
	return degrees
}

// Components returns the number of each node's part of the graph, and the number of nodes
// of each part. Nodes with a path between them are in one part. Parts are numbered from 0
// in the order of their first nodes.
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

// Connected reports whether any two nodes have a path between them.
func (g *Graph) Connected() bool {
	_, sizes := g.Components()
	return len(sizes) <= 1
}

// LargestComponent returns the part of the graph with the most nodes, and among equals
// the first one: g itself if it is connected, otherwise a new graph whose nodes and links
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

// parts is a union-find structure of nodes. Each node refers to a node of its part with a
// lower number, or to itself if it is the first.
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

// join merges the parts of two nodes, and reports whether they were different.
func (p parts) join(a, b int) bool {
	a, b = p.first(a), p.first(b)
	p[max(a, b)] = min(a, b)
	return a != b
}

// Distances are statistics of the lengths of shortest paths, in links, between nodes that
// have a path.
type Distances struct {
	Diameter int     // the longest
	Mean     float64 // over all pairs of different nodes; 0 if there are no links
}

// Distances computes the distances between all nodes in O(nodes · links) time.
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

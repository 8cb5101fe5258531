package topology

import "slices"

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

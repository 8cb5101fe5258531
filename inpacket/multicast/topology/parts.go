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
	leader := make([]int, len(g.Nodes)) // union and find, the lowest node leads
	for i := range leader {
		leader[i] = i
	}
	find := func(i int) int {
		for leader[i] != i {
			leader[i] = leader[leader[i]]
			i = leader[i]
		}
		return i
	}
	for _, l := range g.Links {
		a, b := find(l.A), find(l.B)
		leader[max(a, b)] = min(a, b)
	}
	part = make([]int, len(g.Nodes))
	for i := range part {
		if first := find(i); first == i {
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

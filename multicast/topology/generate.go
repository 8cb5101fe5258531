package topology

import (
	"errors"
	"fmt"
	"math"
)

// ErrSize means that a network can't be generated with the requested size.
var ErrSize = errors.New("no such size")

// maxNodes is the largest number of nodes of a generated network.
const maxNodes = 10_000

// maxLinks is the largest number of links of a generated network.
const maxLinks = 500_000

// makeable returns an error unless n is between least and most.
func makeable(what string, n, least, most int) error {
	if n < least || n > most {
		return fmt.Errorf("%w: %d %s, want %d to %d", ErrSize, n, what, least, most)
	}
	return nil
}

// named returns a graph of n nodes without links. The names are numbers.
func named(name string, n int) *Graph {
	g := &Graph{Name: name, Nodes: make([]Node, n)}
	for i := range g.Nodes {
		g.Nodes[i].Name = fmt.Sprint(i)
	}
	return g
}

// place sets the place of a node.
func (g *Graph) place(i int, x, y float64) {
	g.Nodes[i].X, g.Nodes[i].Y, g.Nodes[i].Placed = x, y, true
}

// join adds a link of weight 1.
func (g *Graph) join(a, b int) { g.Links = append(g.Links, Link{min(a, b), max(a, b), 1}) }

// Line returns a line of n nodes, 2 to 10 000, each with a link to the next.
func Line(n int) (*Graph, error) {
	if err := makeable("nodes in a line", n, 2, maxNodes); err != nil {
		return nil, err
	}
	g := named(fmt.Sprintf("line of %d", n), n)
	for i := range n {
		g.place(i, float64(i), 0)
		if i > 0 {
			g.join(i-1, i)
		}
	}
	return g, nil
}

// Ring returns a ring of n nodes, 3 to 10 000.
func Ring(n int) (*Graph, error) {
	if err := makeable("nodes in a ring", n, 3, maxNodes); err != nil {
		return nil, err
	}
	g := named(fmt.Sprintf("ring of %d", n), n)
	for i := range n {
		sin, cos := math.Sincos(2 * math.Pi * float64(i) / float64(n))
		g.place(i, sin, cos)
		g.join(i, (i+1)%n)
	}
	return g, nil
}

// Star returns n nodes, 2 to 10 000, with links from node 0 to all others.
func Star(n int) (*Graph, error) {
	if err := makeable("nodes in a star", n, 2, maxNodes); err != nil {
		return nil, err
	}
	g := named(fmt.Sprintf("star of %d", n), n)
	g.place(0, 0, 0)
	for i := 1; i < n; i++ {
		sin, cos := math.Sincos(2 * math.Pi * float64(i) / float64(n-1))
		g.place(i, sin, cos)
		g.join(0, i)
	}
	return g, nil
}

// Grid returns a grid of rows and columns, with 2 to 10 000 nodes in total. Each node
// has links to its horizontal and vertical neighbors. Nodes are named "row-column".
func Grid(rows, columns int) (*Graph, error) {
	if rows < 1 || columns < 1 || rows > maxNodes || columns > maxNodes {
		return nil, fmt.Errorf("%w: a grid of %d rows and %d columns, want at least 1 of each and at most %d nodes", ErrSize, rows, columns, maxNodes)
	}
	if err := makeable("nodes in a grid", rows*columns, 2, maxNodes); err != nil {
		return nil, err
	}
	g := named(fmt.Sprintf("grid of %d by %d", rows, columns), rows*columns)
	for r := range rows {
		for c := range columns {
			i := r*columns + c
			g.Nodes[i].Name = fmt.Sprintf("%d-%d", r, c)
			g.place(i, float64(c), float64(-r))
			if c > 0 {
				g.join(i-1, i)
			}
			if r > 0 {
				g.join(i-columns, i)
			}
		}
	}
	return g, nil
}

// FatTree returns the data centre network of Al-Fares et al. 2008 with switches of k
// ports, k even, 2 to 32: (k/2)² core switches, k pods of k/2 upper and k/2 edge
// switches, and k/2 hosts at each edge switch, k³/4 in total. It has 3·k³/4 links. Hosts
// come last and are named "host 0", "host 1" and so on.
func FatTree(k int) (*Graph, error) {
	if k%2 != 0 {
		return nil, fmt.Errorf("%w: a fat tree of switches with %d ports, want an even number", ErrSize, k)
	}
	if err := makeable("ports of switches in a fat tree", k, 2, 32); err != nil {
		return nil, err
	}
	half := k / 2
	core, upper, edge := half*half, k*half, k*half
	hosts := edge * half
	g := named(fmt.Sprintf("fat tree of %d", k), core+upper+edge+hosts)
	row := func(first, n int, y float64, what string) {
		for i := range n {
			g.Nodes[first+i].Name = fmt.Sprintf("%s %d", what, i)
			g.place(first+i, (float64(i)+0.5)*float64(hosts)/float64(n), y*float64(hosts)/6)
		}
	}
	row(0, core, 3, "core")
	row(core, upper, 2, "upper")
	row(core+upper, edge, 1, "edge")
	row(core+upper+edge, hosts, 0, "host")
	for u := range upper {
		for i := range half {
			g.join(u%half*half+i, core+u)
			g.join(core+u, core+upper+u/half*half+i)
		}
	}
	for h := range hosts {
		g.join(core+upper+h/half, core+upper+edge+h)
	}
	return g, nil
}

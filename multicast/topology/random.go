package topology

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Waxman returns n nodes, 2 to 10 000, at random places in a square of side 1. Two
// nodes at distance d have a link with probability alpha·exp(-d/(beta·√2)): Waxman 1988.
// Both alpha and beta are above 0 and at most 1; a larger alpha gives more links, and a
// larger beta longer ones. Separate parts are joined where they are closest. There are at
// most 500 000 links. The weight of a link is its length in thousandths, rounded up.
func Waxman(n int, alpha, beta float64, seed uint64) (*Graph, error) {
	if err := makeable("nodes", n, 2, maxNodes); err != nil {
		return nil, err
	}
	if !(alpha > 0 && alpha <= 1 && beta > 0 && beta <= 1) {
		return nil, fmt.Errorf("%w: alpha %v and beta %v, want both above 0 and at most 1", ErrSize, alpha, beta)
	}
	random := source(seed)
	g := named(fmt.Sprintf("waxman of %d, seed %d", n, seed), n)
	for i := range n {
		g.place(i, random.Float64(), random.Float64())
	}
	for b := range n {
		for a := range b {
			if random.Float64() < alpha*math.Exp(-g.apart(a, b)/(beta*math.Sqrt2)) {
				g.joinFar(a, b)
			}
		}
		if err := makeable("links", len(g.Links), 0, maxLinks-n); err != nil {
			return nil, fmt.Errorf("%w; use a lower alpha or beta", err)
		}
	}
	g.joinParts()
	return g, nil
}

// apart returns the distance between two nodes.
func (g *Graph) apart(a, b int) float64 {
	return math.Hypot(g.Nodes[a].X-g.Nodes[b].X, g.Nodes[a].Y-g.Nodes[b].Y)
}

// joinFar adds a link whose weight is its length.
func (g *Graph) joinFar(a, b int) {
	g.Links = append(g.Links, Link{min(a, b), max(a, b), max(1, math.Ceil(1000*g.apart(a, b)))})
}

// joinParts joins each part of the graph to the parts before it by the shortest link.
func (g *Graph) joinParts() {
	part, sizes := g.Components()
	members := make([][]int, len(sizes))
	for i, p := range part {
		members[p] = append(members[p], i)
	}
	joined := members[0]
	for _, more := range members[1:] {
		best, from, to := math.Inf(1), 0, 0
		for _, a := range joined {
			for _, b := range more {
				if d := g.apart(a, b); d < best {
					best, from, to = d, a, b
				}
			}
		}
		g.joinFar(from, to)
		joined = append(joined, more...)
	}
}

// BarabasiAlbert returns n nodes. Each node has links to m of the nodes before it, with
// higher probability to nodes of many links: Barabási and Albert 1999. The first m+1
// nodes are a star, so there are m·(n-m) links. m is at least 1, and n is above m and at
// most 10 000. Nodes are placed on a spiral, the first in the middle.
func BarabasiAlbert(n, m int, seed uint64) (*Graph, error) {
	if err := makeable("nodes", n, 2, maxNodes); err != nil {
		return nil, err
	}
	if err := makeable("links of a new node", m, 1, n-1); err != nil {
		return nil, err
	}
	if err := makeable("links", m*(n-m), 1, maxLinks); err != nil {
		return nil, err
	}
	random := source(seed)
	g := named(fmt.Sprintf("barabási-albert of %d by %d, seed %d", n, m, seed), n)
	g.place(0, 0, 0)
	ends := make([]int, 0, 2*m*(n-m)) // of all links: a node is repeated once per link
	for i := 1; i < n; i++ {
		sin, cos := math.Sincos(float64(i) * math.Pi * (3 - math.Sqrt(5)))
		g.place(i, math.Sqrt(float64(i))*cos, math.Sqrt(float64(i))*sin)
		if i <= m {
			g.join(0, i)
			ends = append(ends, 0, i)
			continue
		}
		chosen := make(map[int]bool, m)
		for first := len(ends); len(chosen) < m; {
			if to := ends[random.IntN(first)]; !chosen[to] {
				chosen[to] = true
				g.join(to, i)
				ends = append(ends, to, i)
			}
		}
	}
	return g, nil
}

// ErrRule means that a rule is unknown or malformed.
var ErrRule = errors.New("no such rule")

// rules is the syntax of the rules of Make.
const rules = "grid:ROWSxCOLUMNS, ring:N, line:N, star:N, fat-tree:K, waxman:N or barabasi-albert:NxM"

var ruleNames = []string{"grid", "ring", "line", "star", "fat-tree", "waxman", "barabasi-albert"}

// RuleNames returns the names of the rules, which precede the colon.
func RuleNames() []string { return slices.Clone(ruleNames) }

// Waxman's parameters for networks made by [Make]: a network of a hundred nodes has about
// as many links per node as networks of carriers.
const (
	makeAlpha = 0.15
	makeBeta  = 0.4
)

// Make returns the network of a rule, such as grid:6x6, ring:20, line:9, star:9, fat-tree:4,
// waxman:100 or barabasi-albert:100x2. The seed determines
// random networks. Errors wrap [ErrRule], or [ErrSize] if only the numbers are invalid.
func Make(rule string, seed uint64) (*Graph, error) {
	name, text, _ := strings.Cut(rule, ":")
	if !slices.Contains(ruleNames, name) {
		return nil, fmt.Errorf("%w as %q, want %s", ErrRule, name, rules)
	}
	want := 1
	if name == "grid" || name == "barabasi-albert" {
		want = 2
	}
	var sizes []int
	for part := range strings.SplitSeq(text, "x") {
		n, err := strconv.Atoi(part)
		if err != nil {
			return nil, fmt.Errorf("%w: %q, want %s", ErrRule, rule, rules)
		}
		sizes = append(sizes, n)
	}
	if len(sizes) != want {
		return nil, fmt.Errorf("%w: %q has %d numbers, want %s", ErrRule, rule, len(sizes), rules)
	}
	switch name {
	case "grid":
		return Grid(sizes[0], sizes[1])
	case "ring":
		return Ring(sizes[0])
	case "line":
		return Line(sizes[0])
	case "star":
		return Star(sizes[0])
	case "fat-tree":
		return FatTree(sizes[0])
	case "waxman":
		return Waxman(sizes[0], makeAlpha, makeBeta, seed)
	case "barabasi-albert":
		return BarabasiAlbert(sizes[0], sizes[1], seed)
	}
	return nil, fmt.Errorf("%w: %q, want %s", ErrRule, rule, rules)
}

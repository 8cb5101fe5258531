package topology

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

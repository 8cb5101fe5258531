package sim

import (
	"math/rand/v2"
	"slices"

	"github.com/umbel-filters/umbel/inpacket/multicast/topology"
)

// What random numbers are drawn for: each purpose has numbers of its own, so that
// what is drawn for one doesn't change the others.
const (
	drawGroup = iota
	drawChange
)

// numbers returns random numbers that depend on nothing but a seed, a purpose and an
// index.
func numbers(seed uint64, purpose, index int) *rand.Rand {
	return rand.New(rand.NewPCG(seed, uint64(index)<<8|uint64(purpose)))
}

// group is who sends and who receives.
type group struct {
	source    int
	receivers []int // sorted
}

// drawn returns a source and n receivers of a graph in which there is a way between
// all nodes, n at least 1 and below their number: all as likely, or, if they are to be
// clustered, the n nodes that are the fewest links away from the first of them, of
// those as far as the last as many as it takes.
func drawn(rng *rand.Rand, g *topology.Graph, ports [][]topology.Port, n int, clustered bool) group {
	order := rng.Perm(len(g.Nodes))
	source := order[0]
	receivers := order[1:]
	if clustered {
		away := distances(ports, receivers[0])
		slices.SortStableFunc(receivers, func(a, b int) int { return away[a] - away[b] })
	}
	receivers = slices.Clone(receivers[:n])
	slices.Sort(receivers)
	return group{source, receivers}
}

// distances returns how many links each node is away from one, -1 if there is no way.
func distances(ports [][]topology.Port, from int) []int {
	away := make([]int, len(ports))
	for i := range away {
		away[i] = -1
	}
	away[from] = 0
	queue := []int{from}
	for len(queue) > 0 {
		node := queue[0]
		queue = queue[1:]
		for _, p := range ports[node] {
			if away[p.Neighbor] < 0 {
				away[p.Neighbor] = away[node] + 1
				queue = append(queue, p.Neighbor)
			}
		}
	}
	return away
}

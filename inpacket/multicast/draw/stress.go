package draw

import (
	"math"
	"math/rand/v2"

	"github.com/umbel-filters/umbel/inpacket/multicast/topology"
)

// point is a place in a picture or before it is scaled to one.
type point struct{ x, y float64 }

// pairsAtMost is how many pairs of nodes stress looks at: all of a graph of 1000
// nodes.
const pairsAtMost = 1_000_000

// pair is two nodes and how far apart they should be, in links.
type pair struct {
	a, b int32
	far  float64
}

// stress places nodes so that distances are what they are in links, as well as may be:
// it moves two nodes at a time toward their distance, by less and less, as Zheng, Pawar
// and Goodman 2018 do. Their steps fall exponentially; here they are divided by 1.6
// each time. Of graphs over 1000 nodes it looks at pairs of a sample of nodes with all
// others, and at links. Sums and products are rounded one by one, so that the
// places are the same on all machines.
func stress(g *topology.Graph) []point {
	random := rand.New(rand.NewPCG(1, uint64(len(g.Nodes))))
	places := make([]point, len(g.Nodes))
	for i := range places {
		places[i] = point{random.Float64(), random.Float64()}
	}
	pairs, farthest := pairsOf(g, random)
	for step := farthest * farthest; step > 0.05; step /= 1.6 {
		random.Shuffle(len(pairs), func(i, j int) { pairs[i], pairs[j] = pairs[j], pairs[i] })
		for _, p := range pairs {
			a, b := &places[p.a], &places[p.b]
			x, y := a.x-b.x, a.y-b.y
			now := math.Sqrt(float64(x*x) + float64(y*y))
			if now == 0 {
				x, y, now = 1e-3, 1e-3, 1e-3
			}
			move := min(1, step/float64(p.far*p.far)) * (now - p.far) / float64(2*now)
			dx, dy := float64(move*x), float64(move*y)
			a.x, a.y, b.x, b.y = a.x-dx, a.y-dy, b.x+dx, b.y+dy
		}
	}
	return places
}

// pairsOf returns pairs of nodes with their distances, and the largest of these. Nodes
// without a way between them are to be farther apart than any with one.
func pairsOf(g *topology.Graph, random *rand.Rand) (pairs []pair, farthest float64) {
	n := len(g.Nodes)
	ports := g.Ports()
	middles := random.Perm(n)
	if most := pairsAtMost / max(n, 1); most < n {
		middles = middles[:most]
		for _, l := range g.Links {
			pairs = append(pairs, pair{int32(l.A), int32(l.B), 1})
		}
	}
	farthest = 1
	isMiddle := make([]bool, n)
	far := make([]int32, n)
	for _, m := range middles {
		isMiddle[m] = true
		for i := range far {
			far[i] = -1
		}
		far[m] = 0
		for queue := []int{m}; len(queue) > 0; queue = queue[1:] {
			for _, p := range ports[queue[0]] {
				if far[p.Neighbor] < 0 {
					far[p.Neighbor] = far[queue[0]] + 1
					queue = append(queue, p.Neighbor)
				}
			}
		}
		for i, d := range far {
			if !isMiddle[i] { // those are paired from the other side
				pairs = append(pairs, pair{int32(m), int32(i), float64(d)})
				farthest = max(farthest, float64(d))
			}
		}
	}
	for i := range pairs {
		if pairs[i].far < 0 {
			pairs[i].far = farthest + 1
		}
	}
	return pairs, farthest + 1
}

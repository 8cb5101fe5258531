package draw

import (
	"math"
	"math/rand/v2"

	"github.com/umbel-filters/umbel/multicast/topology"
)

// Dimensions of a picture, in pixels before it is scaled.
const (
	width     = 960.0
	lowest    = 320.0 // height of the part with the network
	highest   = 900.0
	margin    = 48.0
	wideLabel = 72.0 // additional margin at the sides
)

// layout returns the places of a graph's nodes in a picture, and the picture's height. It
// draws a map if the places of at least half the nodes are known, and otherwise computes
// places by stress.
func layout(g *topology.Graph) (places []point, height float64) {
	known := 0
	for _, n := range g.Nodes {
		if usable(n) {
			known++
		}
	}
	if known > 0 && 2*known >= len(g.Nodes) {
		places = fill(g)
		project(places)
	} else {
		places = stress(g)
	}
	height = scale(places)
	spread(places, 2.4*radius(len(places)), height)
	return places, height
}

// usable reports whether a node has a place that is small enough for sums of places.
func usable(n topology.Node) bool {
	const far = 1e9
	return n.Placed && math.Abs(n.X) <= far && math.Abs(n.Y) <= far
}

// radius returns the radius of a node in a picture of n nodes.
func radius(n int) float64 { return min(7, max(2.5, 60/math.Sqrt(float64(n)))) }

// fill returns the nodes' places. A node without a place is put at the mean of its
// neighbors that have one, or at the mean of all places if no path leads to any.
func fill(g *topology.Graph) []point {
	places := make([]point, len(g.Nodes))
	placed := make([]bool, len(g.Nodes))
	var all point
	var count float64
	for i, n := range g.Nodes {
		if usable(n) {
			places[i], placed[i] = point{n.X, n.Y}, true
			all.x, all.y, count = all.x+n.X, all.y+n.Y, count+1
		}
	}
	ports := g.Ports()
	for more := true; more; {
		more = false
		before := append([]bool(nil), placed...)
		for i := range places {
			if before[i] {
				continue
			}
			var sum point
			var near float64
			for _, p := range ports[i] {
				if before[p.Neighbor] {
					sum.x, sum.y, near = sum.x+places[p.Neighbor].x, sum.y+places[p.Neighbor].y, near+1
				}
			}
			if near > 0 {
				places[i], placed[i], more = point{sum.x / near, sum.y / near}, true, true
			}
		}
	}
	for i := range places {
		if !placed[i] {
			places[i] = point{all.x / count, all.y / count}
		}
	}
	return places
}

// project projects places that can be degrees of longitude and latitude onto a map: a
// degree of longitude is as long as on the middle parallel.
func project(places []point) {
	low, high := math.Inf(1), math.Inf(-1)
	degrees := true
	for _, p := range places {
		low, high = min(low, p.y), max(high, p.y)
		degrees = degrees && math.Abs(p.x) <= 180 && math.Abs(p.y) <= 90
	}
	if degrees {
		shorter := max(0.2, math.Cos((low+high)/2*math.Pi/180))
		for i := range places {
			places[i].x *= shorter
		}
	}
}

// scale scales places to a picture, north up, and returns its height.
func scale(places []point) (height float64) {
	low, high := point{math.Inf(1), math.Inf(1)}, point{math.Inf(-1), math.Inf(-1)}
	for _, p := range places {
		low, high = point{min(low.x, p.x), min(low.y, p.y)}, point{max(high.x, p.x), max(high.y, p.y)}
	}
	wide, tall, by := high.x-low.x, high.y-low.y, 1.0
	if wide > 1e-9 || tall > 1e-9 { // otherwise all nodes are at one place
		by = min((width-2*margin-2*wideLabel)/wide, (highest-2*margin)/tall) // a quotient by 0 is +Inf
	}
	height = max(lowest, float64(tall*by)+2*margin)
	middle := point{(low.x + high.x) / 2, (low.y + high.y) / 2}
	for i, p := range places {
		places[i] = point{width/2 + float64((p.x-middle.x)*by), height/2 - float64((p.y-middle.y)*by)}
	}
	return height
}

// spread moves nodes at the place of an earlier node onto a spiral around it, whose turns
// have the distance apart. It keeps them inside the picture.
func spread(places []point, apart, height float64) {
	type cell struct{ x, y int }
	there := map[cell]int{}
	inside := func(x, end float64) float64 { return min(end-margin/2, max(margin/2, x)) }
	for i, p := range places {
		c := cell{int(math.Floor(p.x / apart)), int(math.Floor(p.y / apart))}
		if n := there[c]; n > 0 {
			r := apart * math.Sqrt(float64(n))
			sin, cos := math.Sincos(float64(n) * math.Pi * (3 - math.Sqrt(5)))
			places[i] = point{inside(p.x+float64(r*cos), width), inside(p.y+float64(r*sin), height)}
		}
		there[c]++
	}
}

// point is a place, in the picture or before scaling.
type point struct{ x, y float64 }

// pairsAtMost is the largest number of pairs of nodes that stress uses: all pairs of a
// graph of 1000 nodes.
const pairsAtMost = 1_000_000

// pair is two nodes and their desired distance, in links.
type pair struct {
	a, b int32
	far  float64
}

// stress places nodes so that their distances approximate the lengths of their shortest
// paths in links. It moves two nodes at a time toward their desired distance, by smaller
// and smaller steps, as in Zheng, Pawar and Goodman 2018. Their steps fall exponentially;
// here they are divided by 1.6 each time. For graphs of more than 1000 nodes it uses the
// pairs of a sample of nodes with all others, and the links. Sums and products are
// rounded one by one, so that the places are the same on all machines.
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

// pairsOf returns pairs of nodes with their distances, and the largest distance. Nodes
// without a path between them get a larger distance than all others.
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
			if !isMiddle[i] { // those pairs were added from the other side
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

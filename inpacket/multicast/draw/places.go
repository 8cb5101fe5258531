package draw

import (
	"math"

	"github.com/umbel-filters/umbel/inpacket/multicast/topology"
)

// Sizes of a picture, in pixels as long as it isn't scaled.
const (
	width     = 960.0
	lowest    = 320.0 // height of the part with the network
	highest   = 900.0
	margin    = 48.0
	wideLabel = 72.0 // more margin on the sides
)

// layout returns where the nodes of a graph are in a picture, and the height of that:
// on the map if the places of at least half the nodes are known, otherwise by stress.
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

// usable reports whether a node has a place that sums of places can hold.
func usable(n topology.Node) bool {
	const far = 1e9
	return n.Placed && math.Abs(n.X) <= far && math.Abs(n.Y) <= far
}

// radius returns that of a node in a picture of n.
func radius(n int) float64 { return min(7, max(2.5, 60/math.Sqrt(float64(n)))) }

// fill returns the nodes' places; a node without one is amid those of its neighbours
// that have one, or amid all if no way leads to any.
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

// project makes a map of places that can be degrees of longitude and latitude: a degree
// of longitude gets as long as it is on the middle parallel.
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

// scale brings places into a picture, north above, and returns its height.
func scale(places []point) (height float64) {
	low, high := point{math.Inf(1), math.Inf(1)}, point{math.Inf(-1), math.Inf(-1)}
	for _, p := range places {
		low, high = point{min(low.x, p.x), min(low.y, p.y)}, point{max(high.x, p.x), max(high.y, p.y)}
	}
	wide, tall, by := high.x-low.x, high.y-low.y, 1.0
	if wide > 1e-9 || tall > 1e-9 { // else they are all in one place
		by = min((width-2*margin-2*wideLabel)/wide, (highest-2*margin)/tall) // a quotient by 0 is +Inf
	}
	height = max(lowest, float64(tall*by)+2*margin)
	middle := point{(low.x + high.x) / 2, (low.y + high.y) / 2}
	for i, p := range places {
		places[i] = point{width/2 + float64((p.x-middle.x)*by), height/2 - float64((p.y-middle.y)*by)}
	}
	return height
}

// spread moves nodes that are in the place of an earlier one onto a spiral around it,
// whose turns are that far apart, as far as the picture goes.
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

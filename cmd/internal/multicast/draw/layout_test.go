package draw

import (
	"math"
	"testing"

	"github.com/umbel-filters/umbel/multicast/topology"
)

func distance(a, b point) float64 { return math.Hypot(a.x-b.x, a.y-b.y) }

// TestStressOfALine: a line is drawn without stress.
func TestStressOfALine(t *testing.T) {
	g, err := topology.Line(8)
	if err != nil {
		t.Fatal(err)
	}
	places := stress(g)
	for a := range places {
		for b := range a {
			if got, want := distance(places[a], places[b]), float64(a-b); math.Abs(got-want) > 0.1*want {
				t.Errorf("nodes %d and %d are %.2f apart, want %v", a, b, got, want)
			}
		}
	}
}

// TestStressOfAGrid: the distance of nodes is about their number of hops. A grid can't be drawn
// without stress, because its paths have corners.
func TestStressOfAGrid(t *testing.T) {
	g, err := topology.Grid(6, 7)
	if err != nil {
		t.Fatal(err)
	}
	places := stress(g)
	sum, pairs := 0.0, 0.0
	for a := range places {
		for b := range a {
			want := math.Abs(float64(a/7-b/7)) + math.Abs(float64(a%7-b%7))
			off := (distance(places[a], places[b]) - want) / want
			sum, pairs = sum+off*off, pairs+1
		}
	}
	if mean := math.Sqrt(sum / pairs); mean > 0.15 {
		t.Errorf("the mean error of distances is %.3f, want at most 0.15", mean)
	}
}

func TestFill(t *testing.T) {
	g := &topology.Graph{
		Nodes: []topology.Node{{X: 2, Y: 4, Placed: true}, {}, {X: 6, Y: 0, Placed: true}, {}, {}},
		Links: []topology.Link{{A: 0, B: 1, Weight: 1}, {A: 1, B: 2, Weight: 1}, {A: 1, B: 3, Weight: 1}},
	}
	want := []point{{2, 4}, {4, 2}, {6, 0}, {4, 2}, {4, 2}} // the last has no link: amid all
	for i, got := range fill(g) {
		if got != want[i] {
			t.Errorf("node %d at %v, want %v", i, got, want[i])
		}
	}
}

// TestProject: at 60° of latitude a degree of longitude is half as long.
func TestProject(t *testing.T) {
	degrees := []point{{10, 60}, {20, 60}}
	if project(degrees); math.Abs(degrees[1].x-degrees[0].x-5) > 1e-9 || degrees[0].y != 60 {
		t.Errorf("on a map: %v, want them 5 apart", degrees)
	}
	metres := []point{{10, 60}, {200, 60}}
	if project(metres); metres[0] != (point{10, 60}) {
		t.Errorf("what are no degrees became %v", metres)
	}
}

func TestNorthIsAbove(t *testing.T) {
	places := []point{{0, 10}, {0, 50}, {30, 10}}
	height := scale(places)
	if !(places[1].y < places[0].y && places[2].x > places[0].x && places[0].y < height) {
		t.Errorf("places are %v in a height of %v", places, height)
	}
}

func TestSpread(t *testing.T) {
	places := make([]point, 20)
	for i := range places {
		places[i] = point{200, 200}
	}
	spread(places, 10, 400)
	for a := range places {
		for b := range a {
			if distance(places[a], places[b]) < 9 {
				t.Errorf("nodes %d and %d are at %v and %v", a, b, places[a], places[b])
			}
		}
	}
}

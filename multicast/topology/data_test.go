package topology_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/umbel-filters/umbel/internal/maps"
	"github.com/umbel-filters/umbel/multicast/topology"
)

func readFile(t testing.TB, file string) (*topology.Graph, topology.Notes) {
	t.Helper()
	f, err := os.Open(file)
	if os.IsNotExist(err) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	g, notes, err := topology.Read(f, file)
	if err != nil {
		t.Fatal(err)
	}
	return g, notes
}

// TestCollection reads networks in their authors' formats and compares them with the sizes in
// the collection's table and with the collection's reduced files.
func TestCollection(t *testing.T) {
	dir := maps.Dir(t)
	for _, test := range []struct {
		original, edges            string
		nodes, links, most, placed int // placed nodes of the largest component
	}{
		{"rocketfuel/1221.weights.intra", "rocketfuel-as1221", 104, 151, 18, 0},
		{"rocketfuel/1239.weights.intra", "rocketfuel-as1239", 315, 972, 45, 0},
		{"rocketfuel/3257.weights.intra", "rocketfuel-as3257", 161, 328, 29, 0},
		{"rocketfuel/3967.weights.intra", "rocketfuel-as3967", 79, 147, 12, 0},
		{"rocketfuel/6461.weights.intra", "rocketfuel-as6461", 138, 372, 20, 0},
		{"sndlib/ta2.gml", "sndlib-ta2", 65, 108, 10, 65},
		{"sndlib/germany50.gml", "sndlib-germany50", 50, 88, 5, 50},
		{"sndlib/cost266.gml", "sndlib-cost266", 37, 57, 5, 37},
		{"sndlib/geant.gml", "sndlib-geant", 22, 36, 8, 22},
		{"sndlib/nobel-eu.gml", "sndlib-nobel-eu", 28, 41, 5, 28},
		{"sndlib/nobel-germany.gml", "sndlib-nobel-germany", 17, 26, 6, 17},
		{"sndlib/abilene.gml", "sndlib-abilene", 12, 15, 4, 12},
		{"sndlib/polska.gml", "sndlib-polska", 12, 18, 5, 12},
		{"sndlib/brain.gml", "", 161, 166, 37, 161},
		{"topology-zoo/Geant2012.gml", "zoo-Geant2012", 40, 61, 10, 37},
		{"topology-zoo/Dfn.gml", "", 58, 87, 15, 51},
		{"topology-zoo/Garr201201.gml", "zoo-Garr201201", 61, 75, 13, 48},
		{"topology-zoo/Uninett2011.gml", "zoo-Uninett2011", 69, 96, 8, 66},
		{"topology-zoo/Interoute.gml", "zoo-Interoute", 110, 146, 6, 96},
		{"topology-zoo/GtsCe.gml", "zoo-GtsCe", 149, 193, 9, 141},
		{"topology-zoo/Colt.gml", "", 153, 177, 18, 149},
		{"topology-zoo/UsCarrier.gml", "zoo-UsCarrier", 158, 189, 6, 152},
		{"topology-zoo/Cogentco.gml", "zoo-Cogentco", 197, 243, 9, 186},
		{"topology-zoo/Kdl.gml", "zoo-Kdl", 754, 895, 7, 726},
		{"topology-zoo/Abilene.gml", "zoo-Abilene", 11, 14, 3, 11},
		{"topology-zoo/Nsfnet.gml", "zoo-Nsfnet", 13, 15, 4, 13},
		{"topology-zoo/AttMpls.gml", "zoo-AttMpls", 25, 56, 10, 25},
		{"topology-zoo/BtNorthAmerica.gml", "zoo-BtNorthAmerica", 36, 76, 10, 33},
	} {
		t.Run(test.original, func(t *testing.T) {
			whole, notes := readFile(t, filepath.Join(dir, filepath.FromSlash(test.original)))
			t.Logf("%s: %d nodes, %d links, %s", whole.Name, len(whole.Nodes), len(whole.Links), notes)
			if notes.Unweighted > 0 {
				t.Errorf("%d weights unusable", notes.Unweighted)
			}
			g := whole.LargestComponent()
			if !g.Connected() {
				t.Error("the largest component isn't connected")
			}
			most, placed := 0, 0
			for i, d := range g.Degrees() {
				most = max(most, d)
				if g.Nodes[i].Placed {
					placed++
				}
			}
			if len(g.Nodes) != test.nodes || len(g.Links) != test.links || most != test.most || placed != test.placed {
				t.Errorf("%d nodes, %d links, %d at most at a node, %d nodes placed, want %d, %d, %d, %d",
					len(g.Nodes), len(g.Links), most, placed, test.nodes, test.links, test.most, test.placed)
			}
			if test.edges == "" {
				return
			}
			reduced, _ := readFile(t, filepath.Join(dir, "edges", test.edges+".tsv"))
			if len(reduced.Nodes) != len(g.Nodes) || len(reduced.Links) != len(g.Links) || reduced.Name != test.edges {
				t.Errorf("reduced file %s has %d nodes, %d links", reduced.Name, len(reduced.Nodes), len(reduced.Links))
			}
			if strings.HasPrefix(test.original, "rocketfuel") { // the nodes keep names and order: links too
				for _, l := range g.Links {
					a, _ := reduced.Find(g.Nodes[l.A].Name)
					b, _ := reduced.Find(g.Nodes[l.B].Name)
					arc, ok := reduced.Between(a, b)
					if !ok || reduced.Links[arc.Link()].Weight != l.Weight {
						t.Fatalf("link %s to %s of weight %v isn't in the reduced file", g.Nodes[l.A].Name, g.Nodes[l.B].Name, l.Weight)
					}
				}
			}
		})
	}
}

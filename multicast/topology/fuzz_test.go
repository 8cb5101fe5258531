package topology_test

import (
	"bytes"
	"reflect"
	"testing"

	"github.com/umbel-filters/umbel/multicast/topology"
)

// fuzzLimits are so small that inputs exceed them.
var fuzzLimits = topology.Limits{Nodes: 50, Links: 50, Line: 100, Bytes: 5000}

// fuzzReader checks that an accepted input gives a valid graph, which is equal after it is
// written and read as a table of edges.
func fuzzReader(f *testing.F, name string) {
	f.Fuzz(func(t *testing.T, b []byte) {
		g, notes, err := fuzzLimits.Read(bytes.NewReader(b), name)
		if err != nil {
			if g != nil || notes != (topology.Notes{}) {
				t.Fatal("a graph or notes together with an error")
			}
			return
		}
		checkGraph(t, g)
		var table bytes.Buffer
		if err := topology.WriteTSV(&table, g); err != nil {
			t.Fatal(err)
		}
		back, notes, err := topology.ReadTSV(&table, topology.Limits{})
		if err != nil || notes != (topology.Notes{}) {
			t.Fatalf("read again: %v, %v", notes, err)
		}
		back.Name = g.Name
		if !reflect.DeepEqual(g, back) && len(g.Links)+len(back.Links) > 0 {
			t.Fatalf("read %+v, and from a table %+v", g, back)
		}
	})
}

func FuzzReadTSV(f *testing.F)     { fuzzReader(f, "a.tsv") }
func FuzzReadGML(f *testing.F)     { fuzzReader(f, "a.gml") }
func FuzzReadGraphML(f *testing.F) { fuzzReader(f, "a.graphml") }
func FuzzReadWeights(f *testing.F) { fuzzReader(f, "a.intra") }
func FuzzRead(f *testing.F)        { fuzzReader(f, "a") }

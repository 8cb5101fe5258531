package topology_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/umbel-filters/umbel/multicast/topology"
)

// Nodes are found by the IDs of their file, after names, and are written with them.
func TestFindByID(t *testing.T) {
	const file = "n\tb\ta\nn\ta\tc\nn\t2\td\ne\tb\ta\n"
	g, _, err := topology.ReadTSV(strings.NewReader(file), topology.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	var table bytes.Buffer
	if err := topology.WriteTSV(&table, g); err != nil {
		t.Fatal(err)
	}
	again, _, err := topology.ReadTSV(&table, topology.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range []*topology.Graph{g, again} {
		for name, want := range map[string]int{"a": 0, "b": 0, "c": 1, "d": 2} {
			if n, ok := g.Find(name); n != want || !ok {
				t.Errorf("node %q: %d, %v, want %d", name, n, ok, want)
			}
		}
		for _, name := range []string{"2", "", "e"} {
			if n, ok := g.Find(name); ok {
				t.Errorf("node %q: %d, want none", name, n)
			}
		}
	}
	// In a part of the graph the index of one node may be the ID of another.
	part := topology.Graph{Nodes: []topology.Node{{Name: "x", ID: "1"}, {Name: "y"}}, Links: []topology.Link{{A: 0, B: 1, Weight: 1}}}
	if err := topology.WriteTSV(&table, &part); err != nil {
		t.Fatal(err)
	}
	if _, _, err := topology.ReadTSV(&table, topology.Limits{}); err != nil {
		t.Error(err)
	}
}

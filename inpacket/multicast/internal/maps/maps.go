// Package maps finds, for tests, networks of operators that aren't in the repository,
// since not all of them may be given on.
package maps

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/umbel-filters/umbel/inpacket/multicast/topology"
)

// Dir returns where a collection of networks is: $UMBEL_TOPOLOGIES, or the directory
// shared/data/topologies beside one of those above. Without one the test is skipped.
func Dir(t testing.TB) string {
	t.Helper()
	if dir := os.Getenv("UMBEL_TOPOLOGIES"); dir != "" {
		return dir
	}
	above, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for above != filepath.Dir(above) {
		above = filepath.Dir(above)
		dir := filepath.Join(above, "shared", "data", "topologies")
		if _, err := os.Stat(dir); err == nil {
			return dir
		}
	}
	t.Skip("no collection of networks; name one by UMBEL_TOPOLOGIES")
	return ""
}

// Graph returns the network in the collection's file edges/NAME.tsv, by that name.
func Graph(t testing.TB, name string) *topology.Graph {
	t.Helper()
	f, err := os.Open(filepath.Join(Dir(t), "edges", name+".tsv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	g, _, err := topology.ReadTSV(f, topology.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	g.Name = name
	return g
}

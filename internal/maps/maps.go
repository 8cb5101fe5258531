// Package maps finds networks of operators for tests. They are not in the repository,
// because not all of them may be redistributed.
package maps

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/umbel-filters/umbel/multicast/topology"
)

// Dir returns the directory of a collection of networks: $UMBEL_TOPOLOGIES, or the first
// directory shared/data/topologies next to the working directory or one above it. It skips
// the test if there is none.
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
	t.Skip("no collection of networks; set UMBEL_TOPOLOGIES")
	return ""
}

// Graph returns the network in the collection's file edges/NAME.tsv, with that name.
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

package forward

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/umbel-filters/umbel/multicast/topology"
)

// Maps returns the largest components of the networks in dir/edges/*.tsv, sorted by name.
// If dir is empty, it returns the networks of Made.
func Maps(dir string) ([]*topology.Graph, error) {
	if dir == "" {
		return Made()
	}
	files, err := filepath.Glob(filepath.Join(dir, "edges", "*.tsv"))
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("forward: no edges/*.tsv below %s", dir)
	}
	slices.Sort(files)
	var all []*topology.Graph
	for _, file := range files {
		g, err := read(file)
		if err != nil {
			return nil, err
		}
		all = append(all, g)
	}
	return all, nil
}

// read returns the largest component of the network in a file, named after the file.
func read(file string) (*topology.Graph, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	g, _, err := topology.ReadTSV(f, topology.Limits{})
	if err != nil {
		return nil, fmt.Errorf("forward: %s: %w", file, err)
	}
	g = g.LargestComponent()
	g.Name = strings.TrimSuffix(filepath.Base(file), ".tsv")
	return g, nil
}

// Made returns generated networks, always the same, about as large as those of
// providers.
func Made() (all []*topology.Graph, err error) {
	for _, generate := range []func() (*topology.Graph, error){
		func() (*topology.Graph, error) { return topology.Waxman(100, 0.4, 0.15, 1) },
		func() (*topology.Graph, error) { return topology.BarabasiAlbert(160, 2, 1) },
		func() (*topology.Graph, error) { return topology.BarabasiAlbert(315, 3, 1) },
		func() (*topology.Graph, error) { return topology.Grid(10, 10) },
		func() (*topology.Graph, error) { return topology.Ring(40) },
		func() (*topology.Graph, error) { return topology.FatTree(8) },
	} {
		g, err := generate()
		if err != nil {
			return nil, err
		}
		all = append(all, g)
	}
	return all, nil
}

// Named returns the networks with the given names, in the order of the names. If no
// network has one of the names, it returns the first networks, at most first of them.
func Named(all []*topology.Graph, first int, names ...string) (some []*topology.Graph) {
	for _, name := range names {
		for _, g := range all {
			if g.Name == name {
				some = append(some, g)
			}
		}
	}
	if some == nil {
		return all[:min(first, len(all))]
	}
	return some
}

package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/umbel-filters/umbel/inpacket"
	"github.com/umbel-filters/umbel/inpacket/multicast/topology"
)

// topologies is the variable that names the directory of a collection of networks.
const topologies = "UMBEL_TOPOLOGIES"

// networkKey is that of all networks: the figures of a search follow from it.
var networkKey = inpacket.Key{1, 2, 3}

// carriers are networks of the collection: of SNDlib, and measured by Rocketfuel.
var carriers = []struct {
	name, file string
	// most is the mean bits wanted of a header to 16 receivers, its seed included.
	most float64
}{
	{"TA2", "sndlib-ta2.tsv", 140},
	{"AS1221", "rocketfuel-as1221.tsv", 166},
	{"AS3967", "rocketfuel-as3967.tsv", 167},
	{"AS3257", "rocketfuel-as3257.tsv", 207},
	{"AS6461", "rocketfuel-as6461.tsv", 189},
	{"AS1239", "rocketfuel-as1239.tsv", 261},
}

// rules are those of networks for who hasn't the collection: as large as carriers' are,
// and two that are more regular.
var rules = []string{"waxman:100", "barabasi-albert:160x2", "barabasi-albert:315x3", "grid:10x10", "fat-tree:8"}

// networkNames are those of the carriers' networks if there is a collection of them, and
// otherwise the rules.
func networkNames() (names []string) {
	if os.Getenv(topologies) == "" {
		return rules
	}
	for _, c := range carriers {
		names = append(names, c.name)
	}
	return names
}

// network returns a carrier's network, or that of a rule.
func network(name string) (*topology.Graph, error) {
	for _, c := range carriers {
		if c.name == name {
			return readNetwork(name, filepath.Join(os.Getenv(topologies), "edges", c.file))
		}
	}
	g, err := topology.Make(name, 1)
	if err != nil {
		return nil, err
	}
	g.Name = name
	return g, nil
}

func readNetwork(name, file string) (*topology.Graph, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, fmt.Errorf("a network of $%s: %w", topologies, err)
	}
	defer f.Close()
	g, _, err := topology.Read(f, file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	g = g.LargestComponent()
	g.Name = name
	return g, nil
}

package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/umbel-filters/umbel/multicast/inpacket"
	"github.com/umbel-filters/umbel/multicast/topology"
)

// topologies is the environment variable with the directory of a collection of networks.
const topologies = "UMBEL_TOPOLOGIES"

// networkKey is the key of all networks. The results of a search depend on it.
var networkKey = inpacket.Key{1, 2, 3}

// carriers contains networks of the collection, from SNDlib and Rocketfuel.
var carriers = []struct {
	name, file string
	// most is the target for the mean bits of a header to 16 receivers, including its seed.
	most float64
}{
	{"TA2", "sndlib-ta2.tsv", 140},
	{"AS1221", "rocketfuel-as1221.tsv", 166},
	{"AS3967", "rocketfuel-as3967.tsv", 167},
	{"AS3257", "rocketfuel-as3257.tsv", 207},
	{"AS6461", "rocketfuel-as6461.tsv", 189},
	{"AS1239", "rocketfuel-as1239.tsv", 261},
}

// rules contains the rules of generated networks, which replace the collection: three about
// as large as those of carriers, and two more regular ones.
var rules = []string{"waxman:100", "barabasi-albert:160x2", "barabasi-albert:315x3", "grid:10x10", "fat-tree:8"}

// networkNames returns the names of the carriers if a collection is given, and otherwise
// the rules.
func networkNames() (names []string) {
	if os.Getenv(topologies) == "" {
		return rules
	}
	for _, c := range carriers {
		names = append(names, c.name)
	}
	return names
}

// network returns the network of a carrier, or of a rule.
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
		return nil, fmt.Errorf("open a network of $%s: %w", topologies, err)
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

// multicasts returns the measurements of filters in packets. If a network can't be read,
// its measurement returns the error.
func multicasts(o options, p *progress) []func() (*Table, error) {
	jobs := []func() (*Table, error){
		func() (*Table, error) { return runDecide(nodeLinks, o, p) },
		func() (*Table, error) { return runRoute(nodeLinks, headersInTurn, o, p) },
	}
	for _, name := range networkNames() {
		jobs = append(jobs, func() (*Table, error) { return runSearch(name, receiverCounts, o, p) })
	}
	return append(jobs, func() (*Table, error) { return runPlane(planePackets, o, p) })
}

package adaptive

import (
	"context"
	"slices"

	"github.com/umbel-filters/umbel/multicast/inpacket"
	"github.com/umbel-filters/umbel/multicast/sim"
	"github.com/umbel-filters/umbel/multicast/topology"
	"github.com/umbel-filters/umbel/research/competitors"
	"github.com/umbel-filters/umbel/research/papers/internal/forward"
	"github.com/umbel-filters/umbel/research/papers/internal/piece"
)

// The schemes with their names in tables.
var (
	umbels       = forward.New("umbel", "umbel", competitors.Options{})
	umbelBloom   = forward.New("umbel, Bloom forms", "umbel", competitors.Options{Forms: []inpacket.Form{inpacket.Single, inpacket.Staged}})
	umbelSingle  = forward.New("umbel, single", "umbel", competitors.Options{Forms: []inpacket.Form{inpacket.Single}})
	umbelStray   = forward.New("umbel, single, stray 0.01", "umbel", competitors.Options{Forms: []inpacket.Form{inpacket.Single}, MaxFalseMatch: 0.01})
	umbelStray05 = forward.New("umbel, stray 0.05", "umbel", competitors.Options{MaxFalseMatch: 0.05})
	umbelStray01 = forward.New("umbel, stray 0.01", "umbel", competitors.Options{MaxFalseMatch: 0.01})
	lipsin       = forward.New("LIPSIN", "lipsin", competitors.Options{})
	adaptive10   = forward.New("adaptive, 0.1", "adaptive", competitors.Options{Links: links, Rate: 0.1})
	adaptive01   = forward.New("adaptive, 0.01", "adaptive", competitors.Options{Links: links, Rate: 0.01})
	bier         = forward.New("BIER", "bier", competitors.Options{})
	bierTE       = forward.New("BIER-TE", "bier-te", competitors.Options{})
)

// contenders contains the schemes of the table of networks.
var contenders = []forward.Contender{umbels, umbelBloom, umbelStray, lipsin, adaptive10, adaptive01, bier, bierTE}

// mostTrees is the number of trees per cell, unless simulations have fewer trials.
const mostTrees = 300

// groupSizes contains the numbers of receivers.
var groupSizes = []int{4, 8, 16, 32}

// mains contains the networks of smaller tables: those that papers on filters in packets
// use, and two large ones.
var mains = []string{
	"sndlib-ta2", "rocketfuel-as1221", "rocketfuel-as3967", "rocketfuel-as3257", "rocketfuel-as6461", "rocketfuel-as1239", "zoo-Cogentco", "zoo-Kdl",
}

// key is the key of all networks.
var key = inpacket.Key{2}

// cellsOf returns an experiment for each network, number of receivers and contender, in
// this order. It omits networks with too few nodes.
func cellsOf(r *piece.Run, maps []*topology.Graph, sizes []int, cs []forward.Contender) (cells []forward.Cell) {
	for _, g := range maps {
		for _, n := range sizes {
			if n >= len(g.Nodes) {
				continue
			}
			for _, c := range cs {
				cells = append(cells, forward.Cell{Contender: c, Experiment: sim.Experiment{
					Graph: g, Key: key, Receivers: n, Trees: min(mostTrees, r.Trials),
				}})
			}
		}
	}
	return cells
}

// group contains the results of all contenders for one network and number of receivers.
type group struct {
	graph     *topology.Graph
	receivers int
	by        []sim.Result // in the order of the contenders
}

// measured returns the results of contenders on networks.
func measured(ctx context.Context, r *piece.Run, name string, maps []*topology.Graph, sizes []int, cs []forward.Contender) (groups []group, err error) {
	cells := cellsOf(r, maps, sizes, cs)
	results, err := forward.Run(ctx, r.Runner, name, cells)
	if err != nil {
		return nil, err
	}
	for i := range slices.Chunk(cells, len(cs)) {
		first := len(groups) * len(cs)
		groups = append(groups, group{i[0].Graph, i[0].Receivers, results[first : first+len(cs)]})
	}
	return groups, nil
}

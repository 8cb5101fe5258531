package adaptive

import (
	"context"
	"strconv"

	"github.com/umbel-filters/umbel/inpacket/multicast/sim"
	"github.com/umbel-filters/umbel/research/papers/internal/forward"
	"github.com/umbel-filters/umbel/research/papers/internal/piece"
)

var networks = piece.Piece{
	Name:  "002/networks",
	Title: "Beyond the paper: every scheme on every network",
	Note: `
Packets carried byte for byte through a router at each node: 300 trees a cell, of shortest
ways from a source to receivers, all drawn evenly, the same for all schemes. Networks whose
names begin with rocketfuel (Spring et al. 2002), sndlib (Orlowski et al. 2010) and zoo
(Knight et al. 2011) are maps of providers, read from the directory --topologies; without
one there are networks made by rule, by the names of the rules. The maps aren't in this
repository.

Schemes: umbel, as it is without options; with its Bloom forms alone (single, staged); with
a single filter whose chance to hold a link that nobody planned for is 0.01, which routers
may add ways to. LIPSIN with m = 248, k = 5, 8 sets of codewords, of which the sender takes
the one with the fewest false matches on the links it knows. The paper's adaptive filters,
section V-B, as their exact optimum for 1 to 200 links, all as frequent, at rates 0.1, which
is the paper's, and 0.01. BIER (RFC 8279) and BIER-TE (RFC 9262) with bit strings of up to
4096 bits. Those of LIPSIN and the adaptive filters begin with a TTL of 32, umbel's with the
depth of the tree.

"Bits" is what a scheme spends on the tree, without fields that all headers have; "bytes"
the whole header with its padding, of all packets of a tree. "Efficiency" is the tree's links
as a share of all copies, the mean over trees; of BIER, whose routers have paths of their
own, the links by which receivers were first reached. "False" is copies off the tree,
"loops" the share of trees of which a link carried the packet twice, "duplicates" arrivals
at nodes that had it before, "storms" the share of trees whose copies were stopped at
10 000, "can't" the share that a scheme can't write: all else is of the others. All links'
keys come from one: of schemes without a search, the same links match falsely in all of a
network's trees, so that their true error is larger than ±.`,
	Long: true,
	Make: func(ctx context.Context, r *piece.Run) error {
		groups, err := everything(ctx, r, "networks")
		if err != nil {
			return err
		}
		t := piece.Table{Head: []string{"network", "nodes", "links", "receivers", "scheme", "trees", "bits", "±", "bytes", "tree's links", "copies",
			"efficiency", "±", "false", "loops", "duplicates", "storms", "can't"}}
		for _, g := range groups {
			for i, c := range contenders {
				t.Append(append([]string{g.graph.Name, strconv.Itoa(len(g.graph.Nodes)), strconv.Itoa(len(g.graph.Links)), strconv.Itoa(g.receivers),
					c.Name}, numbers(g.by[i])...)...)
			}
		}
		r.Tabulate(t)
		return nil
	},
}

// everything returns what came of all contenders on all networks.
func everything(ctx context.Context, r *piece.Run, name string) ([]group, error) {
	maps, err := forward.Maps(r.Topologies)
	if err != nil {
		return nil, err
	}
	return measured(ctx, r, name, maps, groupSizes, contenders)
}

// numbers are the cells of a result.
func numbers(r sim.Result) []string {
	cells := []string{strconv.Itoa(r.Trees)}
	if !forward.Written(r) {
		return append(cells, "", "", "", "", "", "", "", "", "", "", "", "1")
	}
	return append(cells,
		piece.Fixed(r.MeanBits, 1), piece.Fixed(r.BitsSE, 1), piece.Fixed(r.MeanBytes, 1), piece.Fixed(r.TreeLinks, 1), piece.Fixed(r.Copies, 1),
		piece.Fixed(r.Efficiency, 4), piece.Fixed(r.EfficiencySE, 4), piece.Fixed(r.FalseForwards, 2), piece.Fixed(r.Loops, 3),
		piece.Fixed(r.Duplicates, 2), piece.Fixed(r.Storms, 3), piece.Fixed(r.Unplanned, 3))
}

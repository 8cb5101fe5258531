package adaptive

import (
	"context"
	"strconv"

	"github.com/umbel-filters/umbel/multicast/sim"
	"github.com/umbel-filters/umbel/research/papers/internal/forward"
	"github.com/umbel-filters/umbel/research/papers/internal/piece"
)

var networks = piece.Piece{
	Name:  "002/networks",
	Title: "Beyond the paper: all schemes on all networks",
	Note: `
Packets pass byte by byte through a router at each node: 300 shortest-path trees per cell, with
random sources and receivers, the same for all schemes. Networks whose names begin with
rocketfuel (Spring et al. 2002), sndlib (Orlowski et al. 2010) and zoo (Knight et al. 2011) are
maps of providers from the directory --topologies, which is not in this repository. Without it,
networks are generated and have the names of their rules.

Schemes: umbel with default options; umbel with Bloom forms only (single, staged); umbel with a
single filter that contains an unplanned link with a probability of 0.01, to which routers may
add detours. LIPSIN with m = 248, k = 5 and 8 sets of codewords, of which the sender uses the
one with the fewest false matches on the links that it knows. The adaptive filters of section
V-B, as the exact optimum for 1 to 200 equally frequent links, at the paper's rate 0.1 and at
0.01. BIER (RFC 8279) and BIER-TE (RFC 9262) with bit strings of up to 4096 bits. The TTL is 32
for LIPSIN and the adaptive filters, and the depth of the tree for umbel.

"Bits" is the size of the encoded tree, without fields that all headers have; "bytes" is the
size of all headers of a tree with padding. "Efficiency" is the share of copies on links of the
tree, averaged over trees; for BIER, whose routers have their own paths, it is the share of
links by which receivers were first reached. "False" is the number of copies off the tree,
"loops" the share of trees with a link that carried the packet twice, "duplicates" the number of
arrivals at nodes that had the packet, "storms" the share of trees with more than 10 000 copies,
which were stopped, and "can't" the share of trees that a scheme can't encode; all other columns
are for the remaining trees. All links have keys derived from one key: without a search, the
same links match falsely in all trees of a network, so the true error is larger than ±.`,
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

// everything returns the results of all contenders on all networks.
func everything(ctx context.Context, r *piece.Run, name string) ([]group, error) {
	maps, err := forward.Maps(r.Topologies)
	if err != nil {
		return nil, err
	}
	return measured(ctx, r, name, maps, groupSizes, contenders)
}

// numbers returns the cells of a result.
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

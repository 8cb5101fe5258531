package adaptive

import (
	"context"
	"strconv"

	"github.com/umbel-filters/umbel/inpacket/multicast/sim"
	"github.com/umbel-filters/umbel/inpacket/multicast/topology"
	"github.com/umbel-filters/umbel/research/papers/internal/forward"
	"github.com/umbel-filters/umbel/research/papers/internal/piece"
)

var forwarding = piece.Piece{
	Name:  "002/forwarding",
	Title: "Adaptive filters, followed",
	Note: `
What the paper's filters do when packets follow them, which it doesn't look at: the share of
copies that are the tree's, and the share of trees with loops, at its rate and a tenth of it,
beside LIPSIN's, for 16 receivers. In brackets the share that a scheme can't write.

A rate is of one link, and next to a tree there are as many as it has, or ten times as many in
a dense network, which are all asked. At the paper's rate of 0.1 some of them match in nearly
every tree, what they lead to is asked too, and packets meet themselves again: from a fifth to
nine in ten of the trees have loops. At 0.01 the filters do what they are for: an efficiency
of 0.95 and more, loops in a tenth of the trees at most, for trees of 16 links and of 150 by
one design. LIPSIN does as well with half the bytes up to some 30 links, if the network isn't
dense, and some 60 are the most that it takes; what the paper's filters add is that they go on.
Umbel's, which are searched for with the links next to the tree at hand, go on too, with a
third of the bytes or fewer and no false forward: see 002/costs. They have to know the network
for that: see 002/added.`,
	Make: func(ctx context.Context, r *piece.Run) error {
		groups, err := everything(ctx, r, "forwarding")
		if err != nil {
			return err
		}
		followed := []forward.Contender{adaptive10, adaptive01, lipsin}
		t := piece.Table{Head: []string{"network", "links of the tree"}}
		for _, what := range []string{"bytes", "efficiency", "loops"} {
			for _, c := range followed {
				t.Head = append(t.Head, what+": "+c.Name)
			}
		}
		for _, g := range groups {
			if g.receivers != 16 {
				continue
			}
			row := []string{g.graph.Name, piece.Fixed(g.of(bierTE).TreeLinks, 1)}
			for _, of := range []struct {
				decimals int
				of       func(r sim.Result) float64
			}{
				{1, func(r sim.Result) float64 { return r.MeanBytes }},
				{3, func(r sim.Result) float64 { return r.Efficiency }},
				{2, func(r sim.Result) float64 { return r.Loops }},
			} {
				for _, c := range followed {
					row = append(row, cell(g.of(c), of.decimals, of.of))
				}
			}
			t.Append(row...)
		}
		r.Tabulate(t)
		return nil
	},
}

var shapes = piece.Piece{
	Name:  "002/shapes",
	Title: "Receivers near each other, and trees of few links",
	Note: `
Bytes of whole headers with other trees: to receivers that are near each other, and Steiner
trees, of few links instead of short ways. BIER's packets take BIER's own ways. "Copies" are
those of BIER and of umbel, on all links, for one packet.`,
	Make: makeShapes,
}

func makeShapes(ctx context.Context, r *piece.Run) error {
	maps, err := forward.Maps(r.Topologies)
	if err != nil {
		return err
	}
	maps = forward.Named(maps, 3, "rocketfuel-as1221", "rocketfuel-as3257", "zoo-Cogentco")
	rivals := []forward.Contender{umbels, lipsin, adaptive01, bier, bierTE}
	var cells []forward.Cell
	for _, g := range maps {
		for _, shape := range []sim.Experiment{{}, {Clustered: true}, {Kind: sim.Steiner}, {Clustered: true, Kind: sim.Steiner}} {
			for _, c := range cellsOf(r, []*topology.Graph{g}, []int{8, 32}, rivals) {
				c.Clustered, c.Kind = shape.Clustered, shape.Kind
				cells = append(cells, c)
			}
		}
	}
	results, err := forward.Run(ctx, r.Runner, "shapes", cells)
	if err != nil {
		return err
	}
	t := piece.Table{Head: []string{"network", "tree", "receivers", "links", "umbel", "LIPSIN", "adaptive, 0.01", "BIER", "BIER-TE", "copies: umbel", "copies: BIER"}}
	for i := 0; i < len(cells); i += len(rivals) {
		c, of := cells[i], results[i:i+len(rivals)]
		kind := c.Kind.String()
		if c.Clustered {
			kind += ", clustered"
		}
		row := []string{c.Graph.Name, kind, strconv.Itoa(c.Receivers), piece.Fixed(of[0].TreeLinks, 1)}
		for _, r := range of {
			row = append(row, cell(r, 1, func(r sim.Result) float64 { return r.MeanBytes }))
		}
		t.Append(append(row, piece.Fixed(of[0].Copies, 1), piece.Fixed(of[3].Copies, 1))...)
	}
	r.Tabulate(t)
	return nil
}

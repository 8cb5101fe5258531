package adaptive

import (
	"context"
	"strconv"

	"github.com/umbel-filters/umbel/multicast/sim"
	"github.com/umbel-filters/umbel/multicast/topology"
	"github.com/umbel-filters/umbel/research/papers/internal/forward"
	"github.com/umbel-filters/umbel/research/papers/internal/piece"
)

var forwarding = piece.Piece{
	Name:  "002/forwarding",
	Title: "Forwarding with adaptive filters",
	Note: `
The paper does not examine what happens when packets are forwarded. The table has the share of
copies on links of the tree and the share of trees with loops, at the paper's rate and at a
tenth of it, compared with LIPSIN, for 16 receivers. A number in brackets is the share of trees
that a scheme can't encode.

A rate is per link, and a tree has as many adjacent links as links, in a dense network ten times
as many, all of which are queried. At the paper's rate of 0.1, some of them match in nearly
every tree; the links behind them are then queried too, and packets return to nodes: from a
fifth to nine tenths of the trees have loops. At 0.01, the efficiency is at least 0.95 and at
most a tenth of the trees have loops, for trees of 16 to 150 links with one design. LIPSIN is as
good with half the bytes up to about 30 links unless the network is dense; it can encode about
60 links at most. umbel's filters, which are searched with the adjacent links, have no such
limit, at most a third of the bytes and no false forwards (002/costs), but the sender must know
the network (002/added).`,
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
	Title: "Clustered receivers and Steiner trees",
	Note: `
Bytes of whole headers for other trees: receivers close to each other, and Steiner trees, which
have few links instead of short paths. BIER's packets use BIER's own paths. "Copies" are the
copies of BIER and of umbel on all links per packet.`,
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
	t := piece.Table{Head: []string{"network", "tree", "receivers", "links", "umbel", "LIPSIN", "adaptive, 0.01", "BIER",
		"BIER-TE", "copies: umbel", "copies: BIER"}}
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

package adaptive

import (
	"context"
	"strconv"

	"github.com/umbel-filters/umbel/inpacket/multicast/scheme"
	"github.com/umbel-filters/umbel/inpacket/multicast/sim"
	"github.com/umbel-filters/umbel/research/papers/internal/forward"
	"github.com/umbel-filters/umbel/research/papers/internal/piece"
)

var floods = piece.Piece{
	Name:  "002/floods",
	Title: "Headers with only ones",
	Note: `
The header of each of 300 trees to 16 receivers, with all bits of the filter, or of the bit
string, set to one. Routers of all schemes with filters drop such packets. BIER sends once to
each node, as such a packet requests. BIER-TE's routers clear only the bits of their own links,
so copies multiply on all paths.`,
	Make: func(ctx context.Context, r *piece.Run) error {
		maps, err := changing(r)
		if err != nil {
			return err
		}
		cells := cellsOf(r, maps, []int{16}, []forward.Contender{umbels, lipsin, adaptive01, bier, bierTE})
		for i := range cells {
			cells[i].Flood = true
		}
		results, err := forward.Run(ctx, r.Runner, "floods", cells)
		if err != nil {
			return err
		}
		t := piece.Table{Head: []string{"network", "scheme", "copies", "to nodes that don't receive", "loops", "storms"}}
		for i, of := range results {
			t.Append(cells[i].Graph.Name, cells[i].Name, piece.Fixed(of.Copies, 1), piece.Fixed(of.Wrong, 1), piece.Fixed(of.Loops, 3), piece.Fixed(of.Storms, 3))
		}
		r.Tabulate(t)
		return nil
	},
}

var loops = piece.Piece{
	Name:  "002/loops",
	Title: "What ends a loop: TTL and window",
	Note: `
False matches close loops. These are the loops of LIPSIN and of the paper's filters at its rate,
with 16 receivers. A packet is forwarded until its TTL is used up; "depth" is the depth of the
tree, which umbel uses as TTL. With a window of 1024 sources and 8 more bytes per header, a
packet passes each router once.

The TTL bounds the length of a loop but not its width: copies of copies multiply with each hop.
A window removes loops and their consequences, but not the other false forwards.`,
	Make: makeLoops,
}

func makeLoops(ctx context.Context, r *piece.Run) error {
	maps, err := forward.Maps(r.Topologies)
	if err != nil {
		return err
	}
	maps = forward.Named(maps, 2, "rocketfuel-as3257", "rocketfuel-as1239")
	var cells []forward.Cell
	var ttls []string
	for _, g := range maps {
		for _, c := range []struct {
			name, scheme string
			options      scheme.Options
		}{
			{"LIPSIN", "lipsin", scheme.Options{}},
			{"adaptive, 0.1", "adaptive", scheme.Options{Links: links, Rate: 0.1}},
		} {
			for _, ttl := range []int{1, 16, 32, 255} {
				for _, window := range []int{0, 1024} {
					c.options.TTL, c.options.Window = ttl, window
					ttls = append(ttls, strconv.Itoa(ttl))
					if ttl == 1 {
						ttls[len(ttls)-1] = "depth"
					}
					cells = append(cells, forward.Cell{Contender: forward.New(c.name, c.scheme, c.options), Experiment: sim.Experiment{
						Graph: g, Key: key, Receivers: 16, Trees: min(mostTrees, r.Trials), Sequenced: window > 0,
					}})
				}
			}
		}
	}
	results, err := forward.Run(ctx, r.Runner, "loops", cells)
	if err != nil {
		return err
	}
	t := piece.Table{Head: []string{"network", "scheme", "TTL", "window", "links of the tree", "copies", "efficiency", "loops", "duplicates", "storms"}}
	for i, of := range results {
		t.Append(cells[i].Graph.Name, cells[i].Name, ttls[i], yesNo(cells[i].Sequenced), piece.Fixed(of.TreeLinks, 1), piece.Fixed(of.Copies, 1),
			piece.Fixed(of.Efficiency, 3), piece.Fixed(of.Loops, 3), piece.Fixed(of.Duplicates, 1), piece.Fixed(of.Storms, 3))
	}
	r.Tabulate(t)
	return nil
}

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
	Title: "Headers of ones, by scheme",
	Note: `
The header of each of 300 trees to 16 receivers, with ones in place of all bits of the filter,
or of the receivers. No router of filters takes that, of any scheme. BIER sends once to each
node, which is what such a packet asks for; BIER-TE's routers clear the bits of their own links
and no others, so copies multiply over all ways.`,
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
	Title: "What ends a loop: TTL, and a window of sequences",
	Note: `
Filters with false matches close loops; these are of LIPSIN and of the paper's at its rate, to
16 receivers. A packet goes on until its TTL is used up: "depth" is a TTL of the tree's own
depth, which is umbel's rule. A window of 1024 sources, with 8 bytes more in each header, lets a
packet pass each router once.

TTL bounds how long a loop is, not how wide: copies of copies grow with each hop. A window
ends loops, and all that came of them, but not the false forwards that are left, which are
as many as the filter is wrong.`,
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

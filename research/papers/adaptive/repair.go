package adaptive

import (
	"context"
	"strconv"

	"github.com/umbel-filters/umbel/multicast/inpacket"
	"github.com/umbel-filters/umbel/multicast/scheme"
	"github.com/umbel-filters/umbel/multicast/sim"
	"github.com/umbel-filters/umbel/research/competitors"
	"github.com/umbel-filters/umbel/research/papers/internal/forward"
	"github.com/umbel-filters/umbel/research/papers/internal/piece"
)

// around contains the options of schemes whose routers add detours.
var around = scheme.Routers{Repair: true}

// informed lists contenders with the routers that know of failed links.
var informed = []struct {
	forward.Contender
	notice sim.FailureKnowledge
}{
	{umbels, sim.Unnoticed},
	{forward.New("umbel, single, slack 4, repair", "umbel", competitors.Options{
		Forms: []inpacket.Form{inpacket.Single}, Slack: 4, Routers: around,
	}), sim.AtEnds},
	{lipsin, sim.Unnoticed},
	{forward.New("LIPSIN, repair", "lipsin", competitors.Options{Routers: around}), sim.AtEnds},
	{adaptive01, sim.Unnoticed},
	{forward.New("adaptive, 0.01, repair", "adaptive", competitors.Options{Links: links, Rate: 0.01, Routers: around}), sim.AtEnds},
	{bierTE, sim.Unnoticed},
	{bier, sim.Unnoticed},
	{bier, sim.Rebuilt},
}

var repaired = piece.Piece{
	Name:  "002/repair",
	Title: "Failed links and detours",
	Note: `
The share of receivers that don't receive the packet, by the number of failed links, by who
knows of the failures, and with or without detours. "unnoticed": nobody knows, and packets to
these links are lost. "at-ends": the routers at both ends know, and add a detour to the filter
of the packet. "rebuilt": all routers have new tables. "Copies" and "twice", the deliveries to
receivers that had the packet, are for the largest number of failures. A detour is longer than
the link and fills the filter, so umbel's headers with detours are single filters with a chance
of at most 0.01 for an unplanned link, and a TTL with 4 spare hops. 16 receivers, 300 trees;
only links fail that leave a path to every receiver.

Detours repair most of the losses of a few failures, but fewer of the losses of many: two
consecutive links, or the detour itself, may have failed. The price is more copies, because the
filter is fuller and packets return to nodes: with 20 failures, more than a quarter of the trees
have loops. LIPSIN's fixed length is short for detours; with a TTL of 32, it makes twice as many
copies as the others.`,
	Make: makeRepaired,
}

func makeRepaired(ctx context.Context, r *piece.Run) error {
	maps, err := changing(r)
	if err != nil {
		return err
	}
	failures := ages[1:]
	var cells []forward.Cell
	for _, g := range maps {
		for _, c := range informed {
			for _, n := range failures {
				cells = append(cells, forward.Cell{Contender: c.Contender, Experiment: sim.Experiment{
					Graph: g, Key: key, Receivers: 16, Trees: min(mostTrees, r.Trials), Fail: n, Together: true, Knowledge: c.notice,
				}})
			}
		}
	}
	results, err := forward.Run(ctx, r.Runner, "repair", cells)
	if err != nil {
		return err
	}
	t := piece.Table{Head: []string{"network", "scheme", "who knows", "bytes"}}
	for _, n := range failures {
		t.Head = append(t.Head, "lost: "+strconv.Itoa(n))
	}
	t.Head = append(t.Head, "copies", "loops", "twice", "storms")
	for i := 0; i < len(cells); i += len(failures) {
		by := results[i : i+len(failures)]
		row := []string{cells[i].Graph.Name, cells[i].Name, cells[i].Knowledge.String(), piece.Fixed(by[0].MeanBytes, 1)}
		for _, r := range by {
			row = append(row, piece.Fixed(r.LostReceivers, 4))
		}
		worst := by[len(by)-1]
		t.Append(append(row, piece.Fixed(worst.Copies, 1), piece.Fixed(worst.Loops, 3), piece.Fixed(worst.Twice, 2), piece.Fixed(worst.Storms, 3))...)
	}
	r.Tabulate(t)
	return nil
}

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
			options      competitors.Options
		}{
			{"LIPSIN", "lipsin", competitors.Options{}},
			{"adaptive, 0.1", "adaptive", competitors.Options{Links: links, Rate: 0.1}},
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

package adaptive

import (
	"context"
	"strconv"

	"github.com/umbel-filters/umbel/inpacket"
	"github.com/umbel-filters/umbel/inpacket/multicast/scheme"
	"github.com/umbel-filters/umbel/inpacket/multicast/sim"
	"github.com/umbel-filters/umbel/research/papers/internal/forward"
	"github.com/umbel-filters/umbel/research/papers/internal/piece"
)

// around are options of schemes whose routers lead packets around links.
var around = scheme.Routers{Repair: true}

// told are contenders, and who knows that links have failed.
var told = []struct {
	forward.Contender
	notice sim.Notice
}{
	{umbels, sim.Unnoticed},
	{forward.New("umbel, single, slack 4, repair", "umbel", scheme.Options{
		Forms: []inpacket.Form{inpacket.Single}, Slack: 4, Routers: around,
	}), sim.AtEnds},
	{lipsin, sim.Unnoticed},
	{forward.New("LIPSIN, repair", "lipsin", scheme.Options{Routers: around}), sim.AtEnds},
	{adaptive01, sim.Unnoticed},
	{forward.New("adaptive, 0.01, repair", "adaptive", scheme.Options{Links: links, Rate: 0.01, Routers: around}), sim.AtEnds},
	{bierTE, sim.Unnoticed},
	{bier, sim.Unnoticed},
	{bier, sim.Rebuilt},
}

var repaired = piece.Piece{
	Name:  "002/repair",
	Title: "Links that failed, and ways around them",
	Note: `
The share of receivers that don't get the packet, by how many links have failed, who knows
of it, and what routers do. "unnoticed": nobody knows, packets are sent over the links and
lost. "at-ends": the routers at both ends know, and add a way around the link to the packet's
own filter. "rebuilt": all routers have new tables. "Copies" and "twice", deliveries to
receivers that had the packet, are at the last number. A way around is longer than the link
and fills the filter, and umbel's headers for it are single filters with a stray chance of
at most 0.01 and a TTL with 4 to spare. 16 receivers, 300 trees; links only fail that leave
a way to every receiver.

Ways around mend most of what a few failures cost, and less of many: two links in a row may be
down, or the way around itself. What is mended is paid with copies, for the filter is fuller,
and packets come to nodes that had them: with 20 failures more than a quarter of the trees
have loops. LIPSIN's fixed length is short for that, and with a TTL of 32 it makes twice the
copies of the others.`,
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
		for _, c := range told {
			for _, n := range failures {
				cells = append(cells, forward.Cell{Contender: c.Contender, Experiment: sim.Experiment{
					Graph: g, Key: key, Receivers: 16, Trees: min(mostTrees, r.Trials), Fail: n, Together: true, Notice: c.notice,
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
		row := []string{cells[i].Graph.Name, cells[i].Name, cells[i].Notice.String(), piece.Fixed(by[0].MeanBytes, 1)}
		for _, r := range by {
			row = append(row, piece.Fixed(r.LostReceivers, 4))
		}
		worst := by[len(by)-1]
		t.Append(append(row, piece.Fixed(worst.Copies, 1), piece.Fixed(worst.Loops, 3), piece.Fixed(worst.Twice, 2), piece.Fixed(worst.Storms, 3))...)
	}
	r.Tabulate(t)
	return nil
}

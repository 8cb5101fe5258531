package adaptive

import (
	"context"
	"strconv"

	"github.com/umbel-filters/umbel/inpacket"
	"github.com/umbel-filters/umbel/inpacket/multicast/scheme"
	"github.com/umbel-filters/umbel/research/papers/internal/piece"
	"github.com/umbel-filters/umbel/research/papers/internal/trial"
)

// strangers are what somebody may send who knows no key, with each TTL of lives.
var strangers = []stranger{
	{name: "all ones", form: inpacket.Single, k: 5, bits: 248, ones: 248},
	{name: "all but one bit", form: inpacket.Single, k: 5, bits: 248, ones: 247},
	{name: "all but one bit", form: inpacket.Single, k: 5, bits: 248, ones: 247, anyFill: true},
	{name: "75 % ones", form: inpacket.Single, k: 1, bits: 248, ones: 186},
	{name: "75 % ones", form: inpacket.Single, k: 5, bits: 248, ones: 186},
	{name: "75 % ones", form: inpacket.Single, k: 15, bits: 248, ones: 186},
	{name: "half ones", form: inpacket.Single, k: 5, bits: 248, ones: 124},
	{name: "75 % ones", form: inpacket.Folded, k: 1, bits: 240, ones: 180},
	{name: "75 % ones", form: inpacket.Dense, bits: 248, ones: 186},
	{name: "75 % ones in each stage", form: inpacket.Staged, k: 1},
	{name: "half ones, one plane", form: inpacket.Linear, k: 0, bits: 128, ones: 64},
	{name: "half ones, four planes", form: inpacket.Linear, k: 15, bits: 128, ones: 64},
	{name: "75 % ones, sequenced", form: inpacket.Single, k: 1, bits: 248, ones: 186, sequenced: true},
	{name: "75 % ones, sequenced", form: inpacket.Single, k: 1, bits: 248, ones: 186, sequenced: true, window: 1024},
	{name: "75 % ones, not sequenced", form: inpacket.Single, k: 1, bits: 248, ones: 186, window: 1024},
	{name: "75 % ones, bound 1/8", form: inpacket.Single, k: 1, bits: 248, ones: 186, bound: 1. / 8},
	{name: "half ones, bound 1/8", form: inpacket.Single, k: 3, bits: 248, ones: 124, bound: 1. / 8},
	{name: "half ones, three planes, bound 1/8", form: inpacket.Linear, k: 8, bits: 128, ones: 64, bound: 1. / 8},
}

// lives are the TTLs of strangers' headers.
var lives = []uint8{4, 8, 32}

var guards = piece.Piece{
	Name:  "002/guards",
	Title: "Headers of a sender without a key",
	Note: `
A sender without a key can't encode a tree, but can send any bits. How far do 300 headers with a
given number of ones in random places go, each from a random node? Routers drop filters with
only ones, or with more than three quarters of ones; if "guard" is no, they drop only filters
with only ones. "Chance" is the computed probability that a link matches. "Copies" is the number
of copies per packet for each TTL, limited to 10 000. "Reached" is the share of all other nodes,
and "storms" the share of packets that reached the limit, both for the last TTL. A window stores
1024 sources.

The guard stops only headers with (almost) only ones. If an attacker uses one position per link,
or one plane, and at most three quarters of ones, packets are copied until the TTL ends, which
is late for a TTL of 32. Headers with more positions or planes die out. A window stops repeated
copies of headers with a sequence, but an attacker omits the sequence. Routers that bound the
chance of a match, as in the last rows, forward nothing that spreads; the headers of their own
senders are then longer.`,
	Make: makeGuards,
}

func makeGuards(ctx context.Context, r *piece.Run) error {
	maps, err := changing(r)
	if err != nil {
		return err
	}
	t := piece.Table{Head: []string{"network", "filter", "form", "K", "guard", "window", "chance"}}
	for _, ttl := range lives {
		t.Head = append(t.Head, "copies: "+strconv.Itoa(int(ttl)))
	}
	t.Head = append(t.Head, "reached", "storms")
	for _, g := range maps {
		for _, s := range strangers {
			row := []string{g.Name, s.name, scheme.FormName(s.form), strconv.Itoa(int(s.k)), yesNo(!s.anyFill), yesNo(s.window > 0),
				strconv.FormatFloat(s.chance(), 'g', 2, 64)}
			var of trial.Result
			for _, s.ttl = range lives {
				if of, err = r.Simulate(ctx, s.sending(g), min(mostTrees, r.Trials)); err != nil {
					return err
				}
				row = append(row, piece.Fixed(of.Of(copiesMade).Mean(), 1))
			}
			t.Append(append(row, piece.Fixed(of.Of(nodesTold).Mean()/float64(len(g.Nodes)-1), 3), piece.Fixed(of.Of(stormsMade).Mean(), 2))...)
		}
	}
	r.Tabulate(t)
	return nil
}

func yesNo(is bool) string {
	if is {
		return "yes"
	}
	return "no"
}

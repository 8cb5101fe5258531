package adaptive

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/umbel-filters/umbel/multicast/sim"
	"github.com/umbel-filters/umbel/research/papers/internal/forward"
	"github.com/umbel-filters/umbel/research/papers/internal/piece"
)

var costs = piece.Piece{
	Name:  "002/costs",
	Title: "Header sizes compared with BIER",
	Note: `
Bytes of whole headers and efficiencies from the previous table, for at least 8 receivers. BIER
and BIER-TE send nothing off their trees, so their efficiency is 1. "—" means that a scheme
can't encode any of the trees. A number in brackets is the share of trees that it can't encode;
the mean is then over the smaller trees. Names omit the collection.`,
	Make: func(ctx context.Context, r *piece.Run) error {
		groups, err := everything(ctx, r, "costs")
		if err != nil {
			return err
		}
		t := piece.Table{Head: []string{"network", "receivers", "links of the tree", "umbel", "LIPSIN", "adaptive, 0.01", "BIER", "BIER-TE",
			"efficiency: umbel", "efficiency: LIPSIN", "efficiency: adaptive, 0.01"}}
		for _, g := range ofMains(groups) {
			if g.receivers < 8 {
				continue
			}
			row := []string{short(g.graph.Name), strconv.Itoa(g.receivers), piece.Fixed(g.of(bierTE).TreeLinks, 1)}
			for _, c := range []forward.Contender{umbels, lipsin, adaptive01, bier, bierTE} {
				row = append(row, cell(g.of(c), 1, func(r sim.Result) float64 { return r.MeanBytes }))
			}
			for _, c := range []forward.Contender{umbels, lipsin, adaptive01} {
				row = append(row, cell(g.of(c), 3, func(r sim.Result) float64 { return r.Efficiency }))
			}
			t.Append(row...)
		}
		r.Tabulate(t)
		return nil
	},
}

var shortest = piece.Piece{
	Name:  "002/shortest",
	Title: "The scheme with the shortest header",
	Note: `
Bytes of whole headers: umbel / BIER / BIER-TE, averages over the same trees, for 4, 8, 16 and
32 receivers. The scheme with the shortest header is named if it isn't umbel. BIER's routers
keep a table of all receivers and choose the paths; with umbel and BIER-TE, the sender chooses
them.

BIER's header grows with the network, umbel's with the tree. So BIER's is shorter in small
networks of which a large part receives: of 25 maps of providers, on eight with 36 to 110 nodes
for 32 receivers, and on three of these for 16 receivers, by at most about 5 bytes. On the maps
with 138 nodes or more, umbel's header is shorter for up to 32 receivers; for more, see 002/drafts.
It is never longer than that of BIER-TE.`,
	Make: func(ctx context.Context, r *piece.Run) error {
		groups, err := everything(ctx, r, "shortest")
		if err != nil {
			return err
		}
		t := piece.Table{Head: []string{"network", "nodes", "links"}}
		for _, n := range groupSizes {
			t.Head = append(t.Head, "to "+strconv.Itoa(n))
		}
		rivals := []forward.Contender{umbels, bier, bierTE}
		for of := range byGraph(groups) {
			row := []string{of[0].graph.Name, strconv.Itoa(len(of[0].graph.Nodes)), strconv.Itoa(len(of[0].graph.Links))}
			for _, g := range of {
				row = append(row, compared(g, rivals))
			}
			for len(row) < len(t.Head) {
				row = append(row, "")
			}
			t.Append(row...)
		}
		r.Tabulate(t)
		return nil
	},
}

// short returns the name of a network without its collection.
func short(name string) string {
	switch from, rest, _ := strings.Cut(name, "-"); from {
	case "rocketfuel", "sndlib":
		return strings.ToUpper(rest)
	case "zoo":
		return rest
	}
	return name
}

// compared formats the header lengths of contenders, and the name of the shortest if it is
// not the first.
func compared(g group, cs []forward.Contender) string {
	best, text := 0, ""
	for i, c := range cs {
		if i > 0 {
			text += " / "
		}
		text += piece.Fixed(g.of(c).MeanBytes, 1)
		if g.of(c).MeanBytes < g.of(cs[best]).MeanBytes {
			best = i
		}
	}
	if best > 0 {
		text += " **" + cs[best].Name + "**"
	}
	return text
}

// cell formats a result: a dash if no tree was encoded, and the share of trees that could
// not be encoded, if it is not 0.
func cell(r sim.Result, decimals int, of func(r sim.Result) float64) string {
	switch {
	case !forward.Written(r):
		return "—"
	case r.Unplanned > 0:
		return piece.Fixed(of(r), decimals) + " (" + piece.Fixed(r.Unplanned, 3) + ")"
	}
	return piece.Fixed(of(r), decimals)
}

// of returns the result of a contender.
func (g group) of(c forward.Contender) sim.Result {
	return g.by[slices.IndexFunc(contenders, func(d forward.Contender) bool { return d.Name == c.Name })]
}

// byGraph yields the groups of each network.
func byGraph(groups []group) func(yield func([]group) bool) {
	return func(yield func([]group) bool) {
		for first := 0; first < len(groups); {
			end := first + 1
			for end < len(groups) && groups[end].graph == groups[first].graph {
				end++
			}
			if !yield(groups[first:end]) {
				return
			}
			first = end
		}
	}
}

// ofMains returns the groups of the main networks, or all groups if these are absent.
func ofMains(groups []group) (some []group) {
	for _, name := range mains {
		for _, g := range groups {
			if g.graph.Name == name {
				some = append(some, g)
			}
		}
	}
	if some == nil {
		return groups
	}
	return some
}

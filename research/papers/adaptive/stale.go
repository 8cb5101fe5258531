package adaptive

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/umbel-filters/umbel/multicast/sim"
	"github.com/umbel-filters/umbel/multicast/topology"
	"github.com/umbel-filters/umbel/research/papers/internal/chart"
	"github.com/umbel-filters/umbel/research/papers/internal/forward"
	"github.com/umbel-filters/umbel/research/papers/internal/piece"
)

// aged contains the schemes whose old headers are measured.
var aged = []forward.Contender{umbels, umbelStray05, umbelStray01, umbelSingle, lipsin, adaptive01, bier, bierTE}

// ages contains the numbers of links that change after the headers are made.
var ages = []int{0, 1, 2, 5, 10, 20}

var stale = piece.Piece{
	Name:  "002/stale",
	Title: "Old headers: all measurements",
	Note: `
16 receivers, 300 trees; the changed links are redrawn for every ten trees. Only links fail that
leave a path to every receiver. All routers know of the changes at once. Headers are those from
before the changes, except for BIER, whose headers contain no links.
The next two tables are extracts.`,
	Long: true,
	Make: func(ctx context.Context, r *piece.Run) error {
		t := piece.Table{Head: []string{"network", "scheme", "failed", "added", "trees", "bits", "bytes", "lost", "efficiency", "±", "false", "loops",
			"duplicates", "storms", "can't"}}
		for _, added := range []bool{false, true} {
			olds, err := olderAndOlder(ctx, r, "stale", added)
			if err != nil {
				return err
			}
			for _, o := range olds {
				for _, of := range o.by {
					t.Append(o.graph.Name, o.Name, strconv.Itoa(of.Fail), strconv.Itoa(of.Add), strconv.Itoa(of.Trees), piece.Fixed(of.MeanBits, 1),
						piece.Fixed(of.MeanBytes, 1), piece.Fixed(of.LostReceivers, 4), piece.Fixed(of.Efficiency, 4), piece.Fixed(of.EfficiencySE, 4),
						piece.Fixed(of.FalseForwards, 3), piece.Fixed(of.Loops, 3), piece.Fixed(of.Duplicates, 2), piece.Fixed(of.Storms, 3),
						piece.Fixed(of.Unplanned, 3))
				}
			}
		}
		r.Tabulate(t)
		return nil
	},
}

var failed = piece.Piece{
	Name:  "002/failed",
	Title: "Old headers after failures of links",
	Note: `
The share of receivers that don't receive the packet, by the number of failed links; for the
largest number also the efficiency and the share of trees with loops.

All headers that encode links lose the same receivers, those behind the failed links, except for
a few that false forwards reach. The length of a header makes no difference. BIER loses none
after its tables are rebuilt. Conditions as in 002/stale.`,
	Make: func(ctx context.Context, r *piece.Run) error {
		return makeCurve(ctx, r, false, curve{"lost", 4, func(r sim.Result) float64 { return r.LostReceivers },
			[]forward.Contender{umbels, bier}},
			chart.Chart{Title: "Old headers: links that failed", X: "links failed", Y: "share of receivers lost", Left: true})
	},
}

var added = piece.Piece{
	Name:  "002/added",
	Title: "Old headers after additions of links",
	Note: `
False forwards per packet, by the number of added links: a filter may contain a link that the
sender did not know. For the largest number also the efficiency and the share of trees with
loops.

The shortest headers don't exclude unknown links: a filter of one plane contains half of them,
one of two planes a quarter. A bound on this probability costs bytes: at 0.01, umbel's headers
are 4 to 6 bytes shorter than LIPSIN's, and have fewer false forwards. Conditions as in
002/stale.`,
	Make: func(ctx context.Context, r *piece.Run) error {
		return makeCurve(ctx, r, true, curve{"false", 2, func(r sim.Result) float64 { return r.FalseForwards },
			[]forward.Contender{umbels, umbelStray05, lipsin}},
			chart.Chart{Title: "Old headers: links that came", X: "links added", Y: "false forwards of a packet", Left: true})
	},
}

// curve is a result shown for each age.
type curve struct {
	name     string
	decimals int
	of       func(r sim.Result) float64
	drawn    []forward.Contender // in the chart, on each network
}

func makeCurve(ctx context.Context, r *piece.Run, added bool, of curve, c chart.Chart) error {
	olds, err := olderAndOlder(ctx, r, c.Title, added)
	if err != nil {
		return err
	}
	t := piece.Table{Head: []string{"network", "scheme", "bytes"}}
	for _, n := range ages {
		t.Head = append(t.Head, of.name+": "+strconv.Itoa(n))
	}
	last := ages[len(ages)-1]
	t.Head = append(t.Head, fmt.Sprintf("efficiency: %d", last), fmt.Sprintf("loops: %d", last))
	for _, o := range olds {
		row := []string{o.graph.Name, o.Name, piece.Fixed(o.by[0].MeanBytes, 1)}
		for _, r := range o.by {
			row = append(row, piece.Fixed(of.of(r), of.decimals))
		}
		oldest := o.by[len(o.by)-1]
		t.Append(append(row, piece.Fixed(oldest.Efficiency, 3), piece.Fixed(oldest.Loops, 3))...)
	}
	r.Tabulate(t)
	for _, o := range olds {
		if !slices.ContainsFunc(of.drawn, func(d forward.Contender) bool { return d.Name == o.Name }) {
			continue
		}
		s := chart.Series{Name: o.Name + ", " + short(o.graph.Name), Color: len(c.Series)}
		for i, n := range ages {
			s.Points = append(s.Points, chart.Point{X: float64(n), Y: of.of(o.by[i])})
		}
		c.Series = append(c.Series, s)
	}
	r.Draw(c)
	return nil
}

// old contains the results of a contender on a network, by age.
type old struct {
	forward.Contender
	graph *topology.Graph
	by    []sim.Result
}

// changing returns two networks of providers, or two generated ones.
func changing(r *piece.Run) ([]*topology.Graph, error) {
	maps, err := forward.Maps(r.Topologies)
	return forward.Named(maps, 2, "rocketfuel-as1221", "rocketfuel-as3257"), err
}

// olderAndOlder returns the results of aged for all ages, network by network.
func olderAndOlder(ctx context.Context, r *piece.Run, name string, added bool) (olds []old, err error) {
	maps, err := changing(r)
	if err != nil {
		return nil, err
	}
	var cells []forward.Cell
	for _, c := range cellsOf(r, maps, []int{16}, aged) {
		olds = append(olds, old{Contender: c.Contender, graph: c.Graph})
		for _, n := range ages {
			c.Together = true
			if added {
				c.Add = n
			} else {
				c.Fail = n
			}
			cells = append(cells, c)
		}
	}
	results, err := forward.Run(ctx, r.Runner, name, cells)
	if err != nil {
		return nil, err
	}
	for i := range olds {
		olds[i].by = results[i*len(ages) : (i+1)*len(ages)]
	}
	return olds, nil
}

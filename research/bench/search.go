package main

import (
	"context"
	"fmt"
	"math"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/umbel-filters/umbel/multicast/inpacket"
	"github.com/umbel-filters/umbel/multicast/scheme"
	"github.com/umbel-filters/umbel/multicast/sim"
	"github.com/umbel-filters/umbel/research/competitors"
)

// searchRounds is the largest number of rounds. Each has many trees.
const searchRounds = 3

// receiverCounts contains the numbers of receivers of the trees.
var receiverCounts = []int{8, 16, 32}

// writer is a scheme that encodes trees in headers, with a name.
type writer struct {
	name   string
	scheme scheme.Scheme
}

// searchRow is umbel with default options. boundRow is a bound: the bits that distinguish
// the links of the tree from adjacent links.
const (
	searchRow = "umbel"
	boundRow  = "log2 C(tree + adjacent, tree)"
)

// writers returns all schemes; umbel has several choices of forms and effort.
func writers() []writer {
	ws := []writer{
		{searchRow, scheme.Umbel{}},
		{"umbel, 16 seeds", scheme.Umbel{Seeds: 16}},
		{"umbel, 1024 seeds", scheme.Umbel{Seeds: 1024}},
		{"umbel, linear", scheme.Umbel{Forms: []inpacket.Form{inpacket.Linear}}},
		{"umbel, single and staged", scheme.Umbel{Forms: []inpacket.Form{inpacket.Single, inpacket.Staged}}},
		{"umbel, folded", scheme.Umbel{Forms: []inpacket.Form{inpacket.Folded}}},
	}
	for _, s := range competitors.All()[1:] {
		ws = append(ws, writer{rowName(s), s})
	}
	return ws
}

// rowName returns the name of the row of a scheme.
func rowName(s scheme.Scheme) string {
	switch s.Name() {
	case "lipsin":
		return "LIPSIN"
	case "adaptive":
		return "truncated adaptive, 1 %"
	}
	return strings.Replace(strings.ToUpper(s.Name()), "UMBEL", searchRow, 1)
}

func searchPath(network string) string { return "multicast/search/" + network }

// runSearch measures the length of headers for trees on a network and the time to find
// them, for each scheme. All schemes encode the same trees, those of umbel-multicast sim,
// and each header is forwarded along its tree in a simulation. The garbage collector runs,
// as it would at a sender.
func runSearch(name string, counts []int, o options, p *progress) (*Table, error) {
	p.scope = searchPath(name)
	ws := slices.DeleteFunc(writers(), func(w writer) bool { return !o.only.MatchString(p.scope + "/" + w.name) })
	if len(ws) == 0 {
		return nil, nil
	}
	g, err := network(name)
	if err != nil {
		return nil, err
	}
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	t := &Table{
		Section: "multicast", Path: p.scope, Title: fmt.Sprintf("Headers of trees on %s, %d nodes, %d links", name, len(g.Nodes), len(g.Links)),
		Unit: fmt.Sprintf("Averages over %d trees: bits of the filter and seed, or of the bit string; for the largest trees, "+
			"the share of copies on links of the tree, and the share of trees that can't be encoded; µs to find a header", o.trees),
		Rows: []*Row{{Name: boundRow, Figures: map[string]float64{}}},
	}
	for _, n := range counts {
		t.Figures = append(t.Figures, bitsTo(n))
		t.Columns = append(t.Columns, timeTo(n))
	}
	t.Figures = append(t.Figures, efficiency, unwritten)
	for _, w := range ws {
		t.Rows = append(t.Rows, &Row{Name: w.name, Figures: map[string]float64{}})
	}
	links := ""
	for _, n := range counts {
		if n >= len(g.Nodes) {
			continue
		}
		e := sim.Experiment{Graph: g, Key: networkKey, Receivers: n, Trees: o.trees, Seed: 1, Workers: 1, Scheme: ws[0].scheme}
		b, err := boundOf(&e)
		if err != nil {
			return nil, err
		}
		t.Rows[0].Figures[bitsTo(n)] = b.bits
		links += fmt.Sprintf("To %d receivers: %.1f links in a tree and %.1f adjacent to it. ", n, b.tree, b.adjacent)
		if err := t.search(e, ws, min(o.rounds, searchRounds), p); err != nil {
			return nil, fmt.Errorf("%s to %d receivers: %w", t.Path, n, err)
		}
	}
	t.Unit = links + t.Unit
	return t, nil
}

// search fills the columns of the experiment's number of receivers, in rounds over all
// schemes. The columns without a number of receivers are those of the last experiment.
func (t *Table) search(e sim.Experiment, ws []writer, rounds int, p *progress) error {
	n := e.Receivers
	times := make([][]float64, len(ws))
	for round := range rounds {
		for i, w := range ws {
			p.show("%d receivers, round %d of %d: %s", n, round+1, rounds, w.name)
			e.Scheme = w.scheme
			r, err := e.Run(context.Background(), nil)
			if err != nil {
				return fmt.Errorf("%s: %w", w.name, err)
			}
			times[i] = append(times[i], 1000*r.SearchMS)
			row := t.Rows[i+1].Figures // equal in all rounds
			row[bitsTo(n)], row[efficiency], row[unwritten] = r.MeanBits, 100*r.Efficiency, 100*r.Unplanned
		}
	}
	for i := range ws {
		t.Rows[i+1].set(timeTo(n), summary(times[i]))
	}
	return nil
}

const (
	efficiency = "efficiency %"
	unwritten  = "not encoded %"
)

func bitsTo(receivers int) string { return fmt.Sprintf("bits to %d", receivers) }
func timeTo(receivers int) string { return fmt.Sprintf("µs to %d", receivers) }

// bound contains averages over trees: the links of the tree, the adjacent links, which must
// not match, and the bits that select the tree from all these links for a reader with a
// list of them. Routers have no list, so a filter takes a few bits more; the length field of
// the header can carry some of these.
type bound struct{ tree, adjacent, bits float64 }

func boundOf(e *sim.Experiment) (b bound, err error) {
	for i := range e.Trees {
		t, err := e.Tree(i)
		if err != nil {
			return bound{}, err
		}
		tree, adjacent := len(t.Steps), 0
		for _, arcs := range t.Adjacent() {
			adjacent += len(arcs)
		}
		b.tree += float64(tree) / float64(e.Trees)
		b.adjacent += float64(adjacent) / float64(e.Trees)
		b.bits += log2Choose(tree+adjacent, tree) / float64(e.Trees)
	}
	return b, nil
}

// log2Choose returns log2 of the number of ways to choose k of n.
func log2Choose(n, k int) float64 {
	all, _ := math.Lgamma(float64(n) + 1)
	in, _ := math.Lgamma(float64(k) + 1)
	out, _ := math.Lgamma(float64(n-k) + 1)
	return (all - in - out) / math.Ln2
}

package main

import (
	"context"
	"fmt"
	"math"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/umbel-filters/umbel/inpacket"
	"github.com/umbel-filters/umbel/inpacket/multicast/scheme"
	"github.com/umbel-filters/umbel/inpacket/multicast/sim"
)

// searchRounds is how many rounds there are at most: each is of many trees.
const searchRounds = 3

// receiverCounts are to how many receivers the trees of the tables lead.
var receiverCounts = []int{8, 16, 32}

// writer is a way to write trees into headers.
type writer struct {
	name   string
	scheme scheme.Scheme
}

// searchRow is umbel's as it comes, boundRow that of what tells tree and other links apart.
const (
	searchRow = "umbel"
	boundRow  = "log2 C(tree + next to it, tree)"
)

// writers are all ways, umbel's with several choices of forms and effort.
func writers() []writer {
	ws := []writer{
		{searchRow, scheme.Umbel{}},
		{"umbel, 16 seeds", scheme.Umbel{Seeds: 16}},
		{"umbel, 1024 seeds", scheme.Umbel{Seeds: 1024}},
		{"umbel, linear", scheme.Umbel{Forms: []inpacket.Form{inpacket.Linear}}},
		{"umbel, single and staged", scheme.Umbel{Forms: []inpacket.Form{inpacket.Single, inpacket.Staged}}},
		{"umbel, folded", scheme.Umbel{Forms: []inpacket.Form{inpacket.Folded}}},
	}
	for _, s := range scheme.All()[1:] {
		ws = append(ws, writer{rowName(s), s})
	}
	return ws
}

// rowName returns the name of a scheme's row.
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

// runSearch measures how long headers for trees over a network are, by who writes
// them, and how long it takes to find one. All write the same trees, those of
// umbel multicast sim, and in a simulation each header is carried along its tree. A
// sender's garbage is collected here, as it would be.
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
		Unit: fmt.Sprintf("Means over %d trees each: bits of filter and seed, or of the bit string; of the largest trees, what share of copies goes over their links, and how many can't be written; µs to find a header", o.trees),
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
		links += fmt.Sprintf("To %d receivers %.1f links in a tree, and %.1f next to it. ", n, b.tree, b.beside)
		if err := t.search(e, ws, min(o.rounds, searchRounds), p); err != nil {
			return nil, fmt.Errorf("%s to %d receivers: %w", t.Path, n, err)
		}
	}
	t.Unit = links + t.Unit
	return t, nil
}

// search fills the columns of an experiment's number of receivers, in rounds over all
// writers. Columns that are for one number only are of the last.
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
			row := t.Rows[i+1].Figures // the same in each round
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
	unwritten  = "not written %"
)

func bitsTo(receivers int) string { return fmt.Sprintf("bits to %d", receivers) }
func timeTo(receivers int) string { return fmt.Sprintf("µs to %d", receivers) }

// bound is what trees are, in the mean: their links, those next to them that must not
// match, and the bits that tell which of all these are the tree's to somebody who has a
// list of them. Routers haven't; a filter that tells them takes that and a few bits
// more, of which some can hide in the header's field for its length.
type bound struct{ tree, beside, bits float64 }

func boundOf(e *sim.Experiment) (b bound, err error) {
	for i := range e.Trees {
		t, err := e.Tree(i)
		if err != nil {
			return bound{}, err
		}
		tree, beside := len(t.Steps), 0
		for _, arcs := range t.Adjacent() {
			beside += len(arcs)
		}
		b.tree += float64(tree) / float64(e.Trees)
		b.beside += float64(beside) / float64(e.Trees)
		b.bits += log2Choose(tree+beside, tree) / float64(e.Trees)
	}
	return b, nil
}

// log2Choose returns the bits that tell which k of n things were chosen.
func log2Choose(n, k int) float64 {
	all, _ := math.Lgamma(float64(n) + 1)
	in, _ := math.Lgamma(float64(k) + 1)
	out, _ := math.Lgamma(float64(n-k) + 1)
	return (all - in - out) / math.Ln2
}

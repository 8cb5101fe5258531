package bier

import (
	"errors"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/umbel-filters/umbel/internal/maps"
	"github.com/umbel-filters/umbel/multicast/tree"
)

// TestTopologies logs the lengths of bit strings for real networks, and sends one packet to 16
// receivers through each with both kinds.
func TestTopologies(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(maps.Dir(t), "edges", "*.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Fatal("a collection without networks")
	}
	t.Logf("%-24s %5s %5s %6s | BIER %4s, to 256: sets | BIER-TE %5s %4s", "", "nodes", "links", "leaves", "BSL", "bits", "BSL")
	for _, name := range files {
		g := maps.Graph(t, strings.TrimSuffix(filepath.Base(name), ".tsv"))
		n := network(g)
		d := newDomain(t, n, Options{Metric: tree.Weights})
		short := newDomain(t, n, Options{MaxBSL: 256, Metric: tree.Weights})
		e := newEngineered(t, n)
		leaves := 0
		for _, p := range g.Ports() {
			if len(p) == 1 {
				leaves++
			}
		}
		if want := len(g.Links) + len(g.Nodes) - leaves + min(1, leaves); e.Bits() != want {
			t.Errorf("%s: %d bits, want %d", g.Name, e.Bits(), want)
		}
		t.Logf("%-24s %5d %5d %6d |      %4d             %2d   |        %5d %4d",
			filepath.Base(name), len(g.Nodes), len(g.Links), leaves, d.BSL(), short.Sets(), e.Bits(), e.BSL())

		r := rand.New(rand.NewPCG(5, 5))
		tr, err := tree.ShortestPath(g, r.IntN(len(g.Nodes)), pick(r, len(g.Nodes), min(16, len(g.Nodes)-1)), tree.Weights)
		if err != nil && !errors.Is(err, tree.ErrNoReceivers) {
			t.Fatal(err)
		}
		headers, _, err := e.Plan(tr)
		if err != nil {
			t.Fatal(err)
		}
		j := send(t, n, e.Router, tr.Source, headers[0])
		wantOnce(t, j, tr.Receivers)
		if len(j.arcs) != len(tr.Steps) {
			t.Errorf("%s: %d copies, want %d", g.Name, len(j.arcs), len(tr.Steps))
		}
		headers, _, err = d.Plan(tr.Source, tr.Receivers)
		if err != nil {
			t.Fatal(err)
		}
		wantOnce(t, send(t, n, d.Router, tr.Source, headers[0]), tr.Receivers)
	}
}

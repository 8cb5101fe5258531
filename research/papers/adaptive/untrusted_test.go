package adaptive

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/umbel-filters/umbel/multicast/inpacket"
	"github.com/umbel-filters/umbel/multicast/scheme"
	"github.com/umbel-filters/umbel/multicast/sim"
	"github.com/umbel-filters/umbel/multicast/topology"
	"github.com/umbel-filters/umbel/research/papers/internal/forward"
	"github.com/umbel-filters/umbel/research/papers/internal/piece"
	"github.com/umbel-filters/umbel/research/papers/internal/trial"
)

// Untrusted headers are valid and have the given numbers of ones, and links match them with
// the computed probability.
func TestUntrusted(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, s := range untrusted {
		if s.form == inpacket.Dense {
			continue // codewords are not random bits
		}
		s.ttl = 8
		const headers, perHeader = 200, 64
		hits := 0
		for range headers {
			b, err := s.header(r)
			if err != nil {
				t.Fatalf("%s: %v", s.name, err)
			}
			var h inpacket.Header
			if _, err := h.Parse(b); err != nil {
				t.Fatalf("%s: %v", s.name, err)
			}
			if full := s.ones*4 > s.bits*3; h.Overfull() != full {
				t.Fatalf("%s: over-full is %v, want %v", s.name, h.Overfull(), full)
			}
			cs := make([]inpacket.Codeword, perHeader)
			for i := range cs {
				cs[i] = inpacket.Codeword{H1: r.Uint64(), H2: r.Uint64()}
			}
			held := make([]uint64, 1)
			inpacket.NewTable(cs).Match(held, &h)
			for i := range cs {
				hits += int(held[0] >> i & 1)
			}
		}
		n := float64(headers * perHeader)
		if p, got := s.chance(), float64(hits)/n; math.Abs(got-p) > 5*math.Sqrt(p*(1-p)/n)+0.001 {
			t.Errorf("%s, %s, K=%d: a share of %.4f matches, want %.4f", s.name, scheme.FormName(s.form), s.k, got, p)
		}
	}
}

// The guard drops a header with only ones at the first router. With a window, a header
// passes each link once.
func TestUntrustedEnd(t *testing.T) {
	g, err := topology.Grid(4, 4)
	if err != nil {
		t.Fatal(err)
	}
	runner := trial.Runner{Dir: t.TempDir(), Workers: 1}
	for _, c := range []struct {
		untrustedHeader
		least, most float64
	}{
		{untrustedHeader{name: "guarded", form: inpacket.Single, k: 5, bits: 64, ones: 64}, 0, 0},
		{untrustedHeader{name: "any fill", form: inpacket.Single, k: 5, bits: 64, ones: 63, anyFill: true}, 1000, sim.MaxCopies},
		{untrustedHeader{name: "seen", form: inpacket.Single, k: 1, bits: 64, ones: 48, sequenced: true, window: 8}, 1, 48},
	} {
		c.ttl = 32
		of, err := runner.Run(t.Context(), c.sending(g), 20)
		if err != nil {
			t.Fatal(err)
		}
		if copies := of.Of(copiesMade); copies.Mean() < c.least || float64(copies.Max()) > c.most {
			t.Errorf("%s: mean of %g copies, maximum %d, want %g and %g", c.name, copies.Mean(), copies.Max(), c.least, c.most)
		}
	}
}

// Cells are in the order of the groups and omit networks that are too small.
func TestMeasured(t *testing.T) {
	small, err := topology.Ring(6)
	if err != nil {
		t.Fatal(err)
	}
	large, err := topology.Grid(5, 5)
	if err != nil {
		t.Fatal(err)
	}
	r := &piece.Run{Trials: 5, Runner: &trial.Runner{Dir: t.TempDir(), Workers: 1}}
	groups, err := measured(t.Context(), r, "", []*topology.Graph{small, large}, []int{4, 8}, contenders)
	if err != nil {
		t.Fatal(err)
	}
	var got []int
	for of := range byGraph(groups) {
		got = append(got, len(of))
	}
	if !slices.Equal(got, []int{1, 2}) {
		t.Fatalf("groups of %d, want of 1 and 2", got)
	}
	for _, g := range groups {
		for _, c := range []forward.Contender{umbels, lipsin, bierTE} {
			of := g.of(c)
			if of.Graph != g.graph.Name || of.Receivers != g.receivers || of.Scheme != c.Scheme.Name() || of.Trees != 5 {
				t.Errorf("%s to %d by %s: got %s to %d by %s, %d trees", g.graph.Name, g.receivers, c.Name, of.Graph, of.Receivers, of.Scheme, of.Trees)
			}
		}
	}
}

func TestCompared(t *testing.T) {
	g := group{by: make([]sim.Result, len(contenders))}
	for i := range g.by {
		g.by[i].MeanBytes = 20
	}
	cs := []forward.Contender{umbels, bier}
	if got := compared(g, cs); got != "20.0 / 20.0" {
		t.Errorf("equally long: got %q", got)
	}
	g.by[0].MeanBytes = 21.04
	if got := compared(g, cs); got != "21.0 / 20.0 **BIER**" {
		t.Errorf("longer: got %q", got)
	}
}

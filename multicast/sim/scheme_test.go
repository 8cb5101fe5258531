package sim_test

import (
	"slices"
	"testing"

	"github.com/umbel-filters/umbel/multicast/inpacket"
	"github.com/umbel-filters/umbel/multicast/scheme"
	"github.com/umbel-filters/umbel/multicast/sim"
)

// schemes are the schemes with default options.
func schemes() []scheme.Scheme { return []scheme.Scheme{scheme.Umbel{}, &scheme.Adaptive{}} }

// TestNobodyIsLost: no scheme has false negatives.
func TestNobodyIsLost(t *testing.T) {
	for _, s := range schemes() {
		t.Run(s.Name(), func(t *testing.T) {
			r := mustRun(t, sim.Experiment{Graph: grown(t, 60, 2), Scheme: s, Receivers: 8, Trees: 30, Seed: 4, Key: inpacket.Key{1}})
			if r.LostReceivers != 0 || r.Wrong != 0 || r.Unplanned != 0 {
				t.Errorf("lost %g, delivered to others %g, unplanned %g %s, want none", r.LostReceivers, r.Wrong, r.Unplanned, r.UnplannedWhy)
			}
			if r.MeanBits <= 0 || r.MeanBytes*8 < r.MeanBits || r.Efficiency <= 0 || r.Copies < r.TreeLinks {
				t.Errorf("bits %g, bytes %g, efficiency %g, copies %g of %g links", r.MeanBits, r.MeanBytes, r.Efficiency, r.Copies, r.TreeLinks)
			}
		})
	}
}

// TestStaleHeadersReachWhatTheyCan: if links fail and others are added, receivers whose path in
// the tree is unchanged are reached. Others are reached by false forwards only.
func TestStaleHeadersReachWhatTheyCan(t *testing.T) {
	g := grown(t, 60, 2)
	failed, err := g.Fail(12, 1, false)
	if err != nil {
		t.Fatal(err)
	}
	came, err := g.Grow(12, 1)
	if err != nil {
		t.Fatal(err)
	}
	more, err := g.With(came)
	if err != nil {
		t.Fatal(err)
	}
	known, present := network(g), network(more.Without(failed))
	missed := 0
	for source := range 20 {
		tr := treeOf(t, g, source, 21, 27, 33, 39, 45, 51, 57)
		reached := map[int]bool{source: true}
		for _, s := range tr.Steps { // in the order of hops
			from, to := g.Ends(s.Arc)
			reached[to] = reached[from] && !slices.Contains(failed, s.Arc.Link())
		}
		for _, s := range schemes() {
			d, p := planned(t, s, known, present, tr)
			got := sim.NewFabric(present).Trace(d, tr, p, sim.Options{})
			conserved(t, got.Record)
			for _, node := range tr.Receivers {
				lost := slices.Contains(got.Missed, g.Nodes[node].Name)
				switch {
				case lost && reached[node]:
					t.Errorf("%s from %d: node %d got nothing, though its way is as it was\n%s", s.Name(), source, node, got.String())
				case lost:
					missed++
				case !reached[node] && got.Record.FalseForwards() == 0:
					t.Errorf("%s from %d: node %d is reached without false forwards, though its way is cut", s.Name(), source, node)
				}
			}
		}
	}
	if missed == 0 {
		t.Error("nobody was ever missed: the test is none")
	}
}

// TestUmbelIsExact: in an unchanged network umbel makes no unnecessary copy.
func TestUmbelIsExact(t *testing.T) {
	for _, clustered := range []bool{false, true} {
		r := mustRun(t, sim.Experiment{Graph: grown(t, 60, 2), Scheme: scheme.Umbel{}, Receivers: 12, Trees: 30, Seed: 4, Clustered: clustered})
		if r.Efficiency != 1 || r.Loops != 0 || r.Duplicates != 0 || r.FalseForwards != 0 || r.Twice != 0 || r.Copies != r.TreeLinks {
			t.Errorf("%+v, want each link of the tree once and no other", r)
		}
	}
}

// TestFloods: no router forwards a packet of umbel whose filter is all ones. A scheme whose routers have
// packets of their own floods them itself.
func TestFloods(t *testing.T) {
	e := sim.Experiment{Graph: grown(t, 60, 2), Scheme: scheme.Umbel{}, Receivers: 8, Trees: 30, Flood: true}
	r := mustRun(t, e)
	if r.Copies != 0 || r.Drops["all-ones"]+r.Drops["over-full"] != 30 || r.LostReceivers != 1 {
		t.Errorf("%g copies, drops %v, want none of 30 packets to go on", r.Copies, r.Drops)
	}
	e.Scheme = listed{}
	if _, err := e.Run(t.Context(), nil); err == nil {
		t.Error("packets that nobody can flood: no error")
	}
}

// TestRepair: detours reach receivers that are lost without them.
func TestRepair(t *testing.T) {
	run := func(repair bool, slack int, notice sim.FailureKnowledge) sim.Result {
		s := scheme.Umbel{Forms: []inpacket.Form{inpacket.Single}, Slack: slack, Seeds: 16, Routers: scheme.Routers{Repair: repair}}
		return mustRun(t, sim.Experiment{Graph: grown(t, 60, 3), Scheme: s, Receivers: 8, Trees: 60, Seed: 3, Fail: 5, Together: true, Knowledge: notice})
	}
	without, with := run(false, 4, sim.AtEnds), run(true, 4, sim.AtEnds)
	if without.LostReceivers == 0 || with.LostReceivers >= without.LostReceivers/2 {
		t.Errorf("lost %g with repair, %g without, want less than half", with.LostReceivers, without.LostReceivers)
	}
	if with.LostCopies != 0 || without.LostCopies != 0 {
		t.Errorf("copies on links known to be down: %g, %g, want none", with.LostCopies, without.LostCopies)
	}
	if r := run(true, 4, sim.Unnoticed); r.LostReceivers != without.LostReceivers || r.LostCopies == 0 {
		t.Errorf("nobody knows of the links: lost %g receivers and %g copies, want %g and some", r.LostReceivers, r.LostCopies, without.LostReceivers)
	}
}

// TestWindowsEndLoops: routers with a window don't forward a packet twice.
func TestWindowsEndLoops(t *testing.T) {
	e := sim.Experiment{Graph: grown(t, 60, 3), Receivers: 16, Trees: 30, Seed: 3, Sequenced: true}
	only := false
	run := func(window int) sim.Result {
		e.Scheme = &scheme.Adaptive{Rate: 0.1, Routers: scheme.Routers{Window: window, OnlySequenced: only}}
		return mustRun(t, e)
	}
	without, with := run(0), run(64)
	if without.Loops == 0 || with.Loops != 0 || with.Drops["duplicate"] == 0 || with.LostReceivers != 0 || with.Twice != 0 {
		t.Errorf("loops in %g of the trees without windows, %g with; drops %v; lost %g; delivered twice %g",
			without.Loops, with.Loops, with.Drops, with.LostReceivers, with.Twice)
	}
	if with.MeanBytes != without.MeanBytes || with.MeanBits != without.MeanBits {
		t.Errorf("headers of %g and %g bytes, want the same", with.MeanBytes, without.MeanBytes)
	}
	e.Sequenced = false
	if r := run(64); r.MeanBytes != with.MeanBytes-8 || r.Loops != without.Loops {
		t.Errorf("without numbers: %g bytes and loops in %g, want %g and %g", r.MeanBytes, r.Loops, with.MeanBytes-8, without.Loops)
	}
	only = true
	if r := run(64); r.Copies != 0 || r.LostReceivers != 1 || r.Drops["unsequenced"] != e.Trees {
		t.Errorf("without numbers where they are wanted: %g copies, lost %g, drops %v", r.Copies, r.LostReceivers, r.Drops)
	}
}

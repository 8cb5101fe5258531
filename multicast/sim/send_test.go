package sim_test

import (
	"reflect"
	"testing"

	"github.com/umbel-filters/umbel/multicast"
	"github.com/umbel-filters/umbel/multicast/sim"
	"github.com/umbel-filters/umbel/multicast/topology"
	"github.com/umbel-filters/umbel/multicast/tree"
)

// drops returns counts of reasons.
func drops(reason multicast.Reason, n int) (d [multicast.Reasons]int) {
	d[reason] = n
	return d
}

// TestSendByHand compares records with counts made by hand. Bits, form and bytes, which a plan
// returns, are tested elsewhere.
func TestSendByHand(t *testing.T) {
	only := func(from, to int) func(*tree.Tree) []topology.Arc {
		return func(tr *tree.Tree) []topology.Arc { return []topology.Arc{arc(t, tr.Graph, from, to)} }
	}
	star := graph(4, [2]int{0, 1}, [2]int{0, 2}, [2]int{0, 3})
	triangle := graph(4, [2]int{0, 1}, [2]int{1, 2}, [2]int{1, 3}, [2]int{2, 3})
	for _, c := range []struct {
		name      string
		graph     *topology.Graph
		source    int
		receivers []int
		scheme    listed
		options   sim.Options
		want      sim.Record
	}{
		{"line", line(4), 0, []int{3}, listed{}, sim.Options{},
			sim.Record{TreeLinks: 3, Copies: 3, Covered: 3, Hops: 3, Receivers: 1, Reached: 1}},
		{"line, two receivers", line(4), 1, []int{0, 3}, listed{}, sim.Options{},
			sim.Record{TreeLinks: 3, Copies: 3, Covered: 3, Hops: 2, Receivers: 2, Reached: 2}},
		{"line, the TTL ends early", line(4), 0, []int{3}, listed{ttl: 2}, sim.Options{},
			sim.Record{TreeLinks: 3, Copies: 2, Covered: 2, Hops: 2, Receivers: 1}},
		{"line, a link is down", line(4), 0, []int{1, 3}, listed{}, sim.Options{Down: []bool{false, true, false}},
			sim.Record{TreeLinks: 3, Copies: 2, Covered: 2, Lost: 1, Hops: 2, Receivers: 2, Reached: 1}},
		{"star, a false forward", star, 0, []int{1, 2}, listed{extra: only(0, 3)}, sim.Options{},
			sim.Record{TreeLinks: 2, Copies: 3, Covered: 2, Near: 1, Hops: 1, Receivers: 2, Reached: 2}},
		// A to C either way is as far; B and C get it from both sides with all arcs held,
		// and send it on to each other's neighbor until the TTL of 2 is used up: at A,
		// where it came from.
		{"ring of 3, all arcs, TTL 2", ring(3), 0, []int{1}, listed{ttl: 2, extra: everywhere}, sim.Options{},
			sim.Record{TreeLinks: 1, Copies: 4, Covered: 1, Near: 2, Far: 1, Hops: 2, Receivers: 1, Reached: 1, Duplicates: 2, Twice: 1}},
		// A to B, and round B, C, D with the TTL of 10 either way: 1 + 2 + 2 + ... The
		// packet that comes back to B goes to A as well, and round again.
		{"triangle, its arcs, TTL 10", triangle, 0, []int{1},
			listed{ttl: 10, extra: func(tr *tree.Tree) []topology.Arc {
				return []topology.Arc{arc(t, tr.Graph, 1, 2), arc(t, tr.Graph, 2, 3), arc(t, tr.Graph, 3, 1)}
			}}, sim.Options{},
			sim.Record{TreeLinks: 1, Copies: 10, Covered: 1, Near: 1, Far: 8, Hops: 10, Loops: 3,
				Receivers: 1, Reached: 1, Twice: 3, Duplicates: 7}},
		{"triangle, capped", triangle, 0, []int{1},
			listed{ttl: 200, extra: everywhere}, sim.Options{MaxCopies: 12},
			sim.Record{TreeLinks: 1, Copies: 12, Storm: true, Receivers: 1, Reached: 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			n, tr := network(c.graph), treeOf(t, c.graph, c.source, c.receivers...)
			d, p := planned(t, c.scheme, n, n, tr)
			got := sim.NewFabric(n).Send(d, tr, p, c.options)
			conserved(t, got)
			if c.want.Storm { // where it was cut off is no matter
				got = sim.Record{TreeLinks: got.TreeLinks, Copies: got.Copies, Storm: got.Storm, Receivers: got.Receivers, Reached: got.Reached}
			}
			got.Headers, got.Bits, got.Bytes, got.Form = 0, 0, 0, ""
			if !reflect.DeepEqual(got, c.want) {
				t.Errorf("got  %+v\nwant %+v", got, c.want)
			}
		})
	}
}

// conserved checks the invariants of a record.
func conserved(t testing.TB, r sim.Record) {
	t.Helper()
	if sum := r.Covered + r.Near + r.Far + r.Repeats; r.Copies != sum {
		t.Errorf("%d copies; covered, near, far and repeats are %d: %+v", r.Copies, sum, r)
	}
	if r.Reached > r.Receivers || r.Covered > r.TreeLinks || r.Lost > r.Copies {
		t.Errorf("more reached than there are, covered than the tree has, or lost than sent: %+v", r)
	}
	if e := r.Efficiency(); e < 0 || e > 1 {
		t.Errorf("efficiency %g", e)
	}
	if !r.Storm && r.Duplicates == 0 && (r.Loops > 0 || r.Twice > 0) {
		t.Errorf("loops or second deliveries without duplicates: %+v", r)
	}
}

func TestSendDropsByReason(t *testing.T) {
	g := line(3)
	n, tr := network(g), treeOf(t, g, 0, 2)
	d, p := planned(t, listed{}, n, n, tr)
	p.Headers[0] = p.Headers[0][:3]
	r := sim.NewFabric(n).Send(d, tr, p, sim.Options{})
	if r.Drops != drops(multicast.Malformed, 1) || r.Copies != 0 || r.Reached != 0 {
		t.Errorf("a packet cut off: %+v, want one drop as malformed and no copies", r)
	}
	if r.Efficiency() != 1 || r.StormFactor() != 0 {
		t.Errorf("efficiency %g, storm factor %g without copies, want 1 and 0", r.Efficiency(), r.StormFactor())
	}
}

// TestSendOnAnotherGraph sends along trees of a graph whose links have other numbers now.
func TestSendOnAnotherGraph(t *testing.T) {
	known := ring(5)
	present := graph(5, [2]int{0, 4}, [2]int{3, 4}, [2]int{0, 2}, [2]int{0, 1}, [2]int{1, 2}) // 2-3 failed, 0-2 came
	tr := treeOf(t, known, 0, 1, 2, 3)                                                        // 0-1-2, 0-4-3
	n := network(present)
	d, p := planned(t, listed{}, network(known), n, tr)
	r := sim.NewFabric(n).Send(d, tr, p, sim.Options{})
	if r.Copies != 4 || r.Covered != 4 || r.Near != 0 || r.Reached != 3 {
		t.Errorf("got %+v, want 4 copies, all the tree's, and 3 reached", r)
	}
	tr = treeOf(t, known, 1, 3) // 1-2-3
	d, p = planned(t, listed{}, network(known), n, tr)
	r = sim.NewFabric(n).Send(d, tr, p, sim.Options{})
	if r.Copies != 1 || r.Covered != 1 || r.TreeLinks != 2 || r.Reached != 0 {
		t.Errorf("got %+v, want 1 copy of 2 links, and nobody reached", r)
	}
}

// TestSendSets sends a tree that is encoded in two packets.
func TestSendSets(t *testing.T) {
	g := line(4)
	n := network(g)
	all, near := treeOf(t, g, 0, 2, 3), treeOf(t, g, 0, 2)
	far := treeOf(t, g, 0, 3)
	d, first := planned(t, listed{}, n, n, near)
	_, second := planned(t, listed{}, n, n, far)
	d.Receive(7, []int{2, 3})
	first.Headers = append(first.Headers, second.Headers...)
	r := sim.NewFabric(n).Send(d, all, first, sim.Options{})
	// Nodes 1 and 2 see two packets, but neither of them twice.
	if r.Headers != 2 || r.Copies != 5 || r.Covered != 3 || r.Repeats != 2 || r.Loops != 0 || r.Duplicates != 0 || r.Twice != 1 {
		t.Errorf("got %+v, want 5 copies, 2 of them repeats, and node 2 reached twice", r)
	}
	own := sim.NewFabric(n).Send(d, all, first, sim.Options{OwnPaths: true})
	if own.TreeLinks != 3 || own.Covered != 3 {
		t.Errorf("own paths: %+v, want 3 links", own)
	}
}

// TestSendOwnPaths uses a scheme that takes the other way around a ring.
func TestSendOwnPaths(t *testing.T) {
	g := ring(4)
	n := network(g)
	tr := treeOf(t, g, 0, 1)
	back := &tree.Tree{Graph: g, Source: 0, Receivers: []int{1}, Steps: []tree.Step{
		{Arc: arc(t, g, 0, 3)}, {Arc: arc(t, g, 3, 2), Hop: 1}, {Arc: arc(t, g, 2, 1), Hop: 2}}}
	d, p := planned(t, listed{extra: func(*tree.Tree) []topology.Arc { return nil }}, n, n, back)
	r := sim.NewFabric(n).Send(d, tr, p, sim.Options{OwnPaths: true})
	if r.TreeLinks != 3 || r.Covered != 3 || r.FalseForwards() != 0 || r.Reached != 1 {
		t.Errorf("own paths: %+v, want a tree of 3 links and no false forwards", r)
	}
	r = sim.NewFabric(n).Send(d, tr, p, sim.Options{})
	if r.TreeLinks != 1 || r.Covered != 0 || r.Near != 1 || r.Far != 2 {
		t.Errorf("%+v, want one false forward next to the tree and two after it", r)
	}
}

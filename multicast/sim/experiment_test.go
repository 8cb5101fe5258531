package sim_test

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"sync"
	"testing"

	"github.com/umbel-filters/umbel/multicast"
	"github.com/umbel-filters/umbel/multicast/scheme"
	"github.com/umbel-filters/umbel/multicast/sim"
	"github.com/umbel-filters/umbel/multicast/topology"
	"github.com/umbel-filters/umbel/multicast/tree"
)

func grown(t testing.TB, n, m int) *topology.Graph {
	t.Helper()
	g, err := topology.BarabasiAlbert(n, m, 1)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func mustRun(t testing.TB, e sim.Experiment) sim.Result {
	t.Helper()
	r, err := e.Run(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// nextTo returns the first arc adjacent to the tree, for at least one false forward.
func nextTo(t *tree.Tree) []topology.Arc {
	for _, arcs := range t.Adjacent() {
		if len(arcs) > 0 {
			return arcs[:1]
		}
	}
	return nil
}

func TestExactSchemeMakesNoMistakes(t *testing.T) {
	for _, kind := range []sim.TreeKind{sim.Shortest, sim.Steiner} {
		r := mustRun(t, sim.Experiment{Graph: grown(t, 60, 2), Scheme: listed{}, Receivers: 8, Trees: 50, Seed: 3, Kind: kind})
		if r.Efficiency != 1 || r.TotalEfficiency != 1 || r.EfficiencySE != 0 || r.Copies != r.TreeLinks || r.StormFactor != 1 {
			t.Errorf("%v: efficiency %g, copies %g for %g links, want a copy for each", kind, r.Efficiency, r.Copies, r.TreeLinks)
		}
		if r.FalseForwards != 0 || r.Loops != 0 || r.Duplicates != 0 || r.Storms != 0 || r.LostReceivers != 0 || r.Wrong != 0 || r.Twice != 0 || len(r.Drops) != 0 {
			t.Errorf("%v: %+v, want no mistakes", kind, r)
		}
		if r.MeanBits != r.TreeLinks || r.Headers != 1 || r.Forms["listed"] != 1 || r.MeanBytes < 5 {
			t.Errorf("%v: bits %g, want %g, one for each link; headers %g, forms %v", kind, r.MeanBits, r.TreeLinks, r.Headers, r.Forms)
		}
		if r.P50Bits > r.P95Bits || r.BitsSE <= 0 || r.Hops < 2 {
			t.Errorf("%v: median %g, p95 %g, standard error %g, hops %d", kind, r.P50Bits, r.P95Bits, r.BitsSE, r.Hops)
		}
	}
}

func TestSteinerTreesAreSmaller(t *testing.T) {
	e := sim.Experiment{Graph: grown(t, 60, 2), Scheme: listed{}, Receivers: 16, Trees: 50, Seed: 3}
	shortest := mustRun(t, e)
	e.Kind = sim.Steiner
	if r := mustRun(t, e); r.TreeLinks >= shortest.TreeLinks {
		t.Errorf("steiner trees of %g links, shortest of %g, want fewer", r.TreeLinks, shortest.TreeLinks)
	}
}

func TestClusteredTreesAreSmaller(t *testing.T) {
	g, err := topology.Grid(10, 10)
	if err != nil {
		t.Fatal(err)
	}
	e := sim.Experiment{Graph: g, Scheme: listed{}, Receivers: 10, Trees: 50, Seed: 3}
	anywhere := mustRun(t, e)
	e.Clustered = true
	if r := mustRun(t, e); r.TreeLinks >= 0.8*anywhere.TreeLinks {
		t.Errorf("clustered trees of %g links, others of %g, want a fifth fewer at least", r.TreeLinks, anywhere.TreeLinks)
	}
}

func TestRunIsTheSameForAnyNumberOfWorkers(t *testing.T) {
	e := sim.Experiment{
		Graph: grown(t, 40, 2), Scheme: listed{extra: nextTo, ttl: 12}, Receivers: 6, Trees: 57, Seed: 9,
		Fail: 3, Add: 2, Workers: 1,
	}
	want := mustRun(t, e)
	if want.FalseForwards == 0 || want.LostReceivers == 0 {
		t.Fatalf("%+v: nothing happens in this experiment", want)
	}
	for _, e.Workers = range []int{2, 3, 16} {
		if got := mustRun(t, e); !reflect.DeepEqual(got, want) {
			t.Errorf("%d workers: got %+v\nwant %+v", e.Workers, got, want)
		}
	}
	e.Seed++
	if got := mustRun(t, e); got.Copies == want.Copies && got.MeanBits == want.MeanBits {
		t.Errorf("another seed gives the same: %+v", got)
	}
}

// witness records the trees that a scheme encodes, by group.
type witness struct {
	listed
	mutex *sync.Mutex
	trees map[uint32]*tree.Tree
}

type witnessDomain struct {
	scheme.Domain
	witness
}

func (w witness) Domain(known, present *multicast.Network) (scheme.Domain, error) {
	d, err := w.listed.Domain(known, present)
	return witnessDomain{d, w}, err
}

func (d witnessDomain) Plan(t *tree.Tree, group uint32) (scheme.Plan, error) {
	d.mutex.Lock()
	d.trees[group] = t
	d.mutex.Unlock()
	return d.Domain.Plan(t, group)
}

func TestTreesDependOnSeedAndNumberOnly(t *testing.T) {
	trees := func(change func(*sim.Experiment)) map[uint32]*tree.Tree {
		w := witness{mutex: new(sync.Mutex), trees: map[uint32]*tree.Tree{}}
		e := sim.Experiment{Graph: grown(t, 40, 2), Scheme: w, Receivers: 6, Trees: 20, Seed: 9}
		change(&e)
		mustRun(t, e)
		return w.trees
	}
	want := trees(func(*sim.Experiment) {})
	for name, change := range map[string]func(*sim.Experiment){
		"more trees":   func(e *sim.Experiment) { e.Trees = 35 },
		"more workers": func(e *sim.Experiment) { e.Workers = 7 },
		"links fail":   func(e *sim.Experiment) { e.Fail, e.Add, e.Knowledge = 4, 4, sim.Unnoticed },
		"a flood key":  func(e *sim.Experiment) { e.Key[0] = 1 },
	} {
		got := trees(change)
		for group, tr := range want {
			if !reflect.DeepEqual(got[group].Steps, tr.Steps) {
				t.Errorf("%s: tree %d has other links", name, group)
			}
		}
	}
	if reflect.DeepEqual(want[1].Receivers, want[2].Receivers) {
		t.Error("two trees have the same receivers")
	}
}

// TestWorstTree: the tree that a result names as the worst can be found again.
func TestWorstTree(t *testing.T) {
	g := grown(t, 40, 2)
	worst := func(tr *tree.Tree) []topology.Arc {
		if tr.Source%7 != 3 {
			return nil
		}
		return nextTo(tr)
	}
	e := sim.Experiment{Graph: g, Scheme: listed{extra: worst}, Receivers: 6, Trees: 60, Seed: 9}
	r := mustRun(t, e)
	tr, err := e.Tree(r.WorstTree)
	if err != nil {
		t.Fatal(err)
	}
	if r.Efficiency == 1 || tr.Source%7 != 3 {
		t.Errorf("efficiency %g, the worst is tree %d, from %d, want one from 3, 10, 17, ...", r.Efficiency, r.WorstTree, tr.Source)
	}
	if _, err := e.Tree(-1); !errors.Is(err, sim.ErrExperiment) {
		t.Errorf("tree -1: got error %v, want %v", err, sim.ErrExperiment)
	}
	e.Receivers = 0
	if _, err := e.Tree(0); !errors.Is(err, sim.ErrExperiment) {
		t.Errorf("tree of no receivers: got error %v, want %v", err, sim.ErrExperiment)
	}
}

func TestStormsAreCapped(t *testing.T) {
	r := mustRun(t, sim.Experiment{
		Graph: grown(t, 40, 3), Scheme: listed{extra: everywhere, ttl: 255}, Receivers: 4, Trees: 20, MaxCopies: 500,
	})
	if r.Storms != 1 || r.Copies != 500 || r.Loops != 1 || r.Efficiency > 0.1 {
		t.Errorf("%+v, want 500 copies of each tree, all of them storms", r)
	}
}

func TestStale(t *testing.T) {
	e := sim.Experiment{Graph: grown(t, 60, 2), Scheme: listed{}, Receivers: 8, Trees: 60, Seed: 3}
	changes := []sim.Change{{}, {Fail: 1}, {Fail: 5}, {Fail: 20}, {Add: 5}}
	calls := 0
	curve, err := e.Stale(t.Context(), changes, func(done, total int) {
		calls++
		if done != calls || total != 5*60 {
			t.Errorf("progress says %d of %d, want %d of 300", done, total, calls)
		}
	})
	if err != nil || len(curve) != len(changes) {
		t.Fatalf("%d results of %d: %v", len(curve), len(changes), err)
	}
	if calls != 5*60 {
		t.Errorf("progress was called %d times, want 300", calls)
	}
	if curve[0].LostReceivers != 0 || curve[0].CutOff != 0 {
		t.Errorf("no link failed: %+v", curve[0])
	}
	for i, r := range curve {
		if r.Fail != changes[i].Fail || r.Add != changes[i].Add {
			t.Errorf("result %d has %d, %d, want %+v", i, r.Fail, r.Add, changes[i])
		}
		if r.CutOff > r.LostReceivers {
			t.Errorf("%d links failed: %g cut off, %g lost", r.Fail, r.CutOff, r.LostReceivers)
		}
		if r.MeanBits != curve[0].MeanBits {
			t.Errorf("%d links failed: headers of %g bits, want %g, as before", r.Fail, r.MeanBits, curve[0].MeanBits)
		}
	}
	if a, b, c := curve[1].LostReceivers, curve[2].LostReceivers, curve[3].LostReceivers; !(a > 0 && a < b && b < c) {
		t.Errorf("lost %g, %g, %g with 1, 5, 20 links that failed, want more and more", a, b, c)
	}
	// The scheme knows nothing of links that came.
	if curve[4].LostReceivers != 0 || curve[4].Efficiency != 1 {
		t.Errorf("5 links came: %+v", curve[4])
	}
}

func TestNotice(t *testing.T) {
	e := sim.Experiment{Graph: grown(t, 60, 2), Scheme: listed{}, Receivers: 8, Trees: 60, Seed: 3, Fail: 10}
	rebuilt := mustRun(t, e)
	e.Knowledge = sim.Unnoticed
	unnoticed := mustRun(t, e)
	if rebuilt.LostCopies != 0 || unnoticed.LostCopies == 0 {
		t.Errorf("lost copies: %g if all know, %g if nobody does, want 0 and more", rebuilt.LostCopies, unnoticed.LostCopies)
	}
	if rebuilt.LostReceivers != unnoticed.LostReceivers || rebuilt.LostReceivers == 0 {
		t.Errorf("lost receivers: %g if all know, %g if nobody does, want the same, since there is no way around",
			rebuilt.LostReceivers, unnoticed.LostReceivers)
	}
	if d := unnoticed.Copies - unnoticed.LostCopies - rebuilt.Copies; d > 1e-9 || d < -1e-9 {
		t.Errorf("%g copies of which %g are lost, want %g more than are lost", unnoticed.Copies, unnoticed.LostCopies, rebuilt.Copies)
	}
	e.Together = true
	if r := mustRun(t, e); r.CutOff != 0 || r.LostReceivers == 0 {
		t.Errorf("links that cut nobody off: %g cut off, %g lost, want 0 and some", r.CutOff, r.LostReceivers)
	}
}

func TestUnplanned(t *testing.T) {
	e := sim.Experiment{Graph: grown(t, 40, 2), Scheme: listed{most: 5}, Receivers: 6, Trees: 5}
	if _, err := e.Run(t.Context(), nil); !errors.Is(err, errTooMany) || !errors.Is(err, sim.ErrNone) {
		t.Errorf("got error %v, want %v and %v", err, sim.ErrNone, errTooMany)
	}
	e.Scheme = moody{}
	r := mustRun(t, e)
	if r.Unplanned != 0.4 || r.UnplannedWhy != errTooMany.Error() || r.Efficiency != 1 {
		t.Errorf("unplanned %g (%s), efficiency %g, want 0.4 and 1", r.Unplanned, r.UnplannedWhy, r.Efficiency)
	}
}

// moody is a scheme that can't encode every second group.
type moody struct{ listed }

type moodyDomain struct{ scheme.Domain }

func (m moody) Domain(known, present *multicast.Network) (scheme.Domain, error) {
	d, err := m.listed.Domain(known, present)
	return moodyDomain{d}, err
}

func (d moodyDomain) Plan(t *tree.Tree, group uint32) (scheme.Plan, error) {
	if group%2 == 0 {
		return scheme.Plan{}, errTooMany
	}
	return d.Domain.Plan(t, group)
}

func TestRunRefuses(t *testing.T) {
	whole := sim.Experiment{Graph: line(4), Scheme: listed{}, Receivers: 2, Trees: 3}
	for name, spoil := range map[string]func(*sim.Experiment){
		"no graph":           func(e *sim.Experiment) { e.Graph = nil },
		"one node":           func(e *sim.Experiment) { e.Graph = graph(1) },
		"a graph in parts":   func(e *sim.Experiment) { e.Graph = graph(4, [2]int{0, 1}, [2]int{2, 3}) },
		"no scheme":          func(e *sim.Experiment) { e.Scheme = nil },
		"no receivers":       func(e *sim.Experiment) { e.Receivers = 0 },
		"too many receivers": func(e *sim.Experiment) { e.Receivers = 4 },
		"no trees":           func(e *sim.Experiment) { e.Trees = 0 },
		"too many trees":     func(e *sim.Experiment) { e.Trees = sim.MaxTrees + 1 },
		"too many fail":      func(e *sim.Experiment) { e.Fail = 4 },
		"fewer than none":    func(e *sim.Experiment) { e.Fail = -1 },
		"no room for more":   func(e *sim.Experiment) { e.Add = 4 },
		"a kind of tree":     func(e *sim.Experiment) { e.Kind = 9 },
		"a notice":           func(e *sim.Experiment) { e.Knowledge = 9 },
	} {
		e := whole
		spoil(&e)
		if _, err := e.Run(t.Context(), nil); !errors.Is(err, sim.ErrExperiment) {
			t.Errorf("%s: got error %v, want %v", name, err, sim.ErrExperiment)
		}
	}
}

func TestRunEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	e := sim.Experiment{Graph: grown(t, 40, 2), Scheme: listed{}, Receivers: 6, Trees: 10_000, Workers: 2}
	last := 0
	_, err := e.Run(ctx, func(done, total int) {
		last = done
		if done == 25 {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) || last >= 100 {
		t.Errorf("after %d trees: %v, want an end soon after 25", last, err)
	}
}

func TestResultAsJSON(t *testing.T) {
	r := mustRun(t, sim.Experiment{Graph: line(4), Scheme: listed{}, Receivers: 2, Trees: 3})
	b, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var fields map[string]any
	if err := json.Unmarshal(b, &fields); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"meanBits", "p95Bits", "meanBytes", "efficiency", "totalEfficiency", "falseForwards",
		"loops", "duplicates", "storms", "lostReceivers", "copies", "treeLinks", "searchMs", "forms", "drops"} {
		if _, ok := fields[name]; !ok {
			t.Errorf("no %q in %s", name, b)
		}
	}
}

package sim

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"

	"github.com/umbel-filters/umbel/inpacket"
	"github.com/umbel-filters/umbel/inpacket/multicast"
	"github.com/umbel-filters/umbel/inpacket/multicast/scheme"
	"github.com/umbel-filters/umbel/inpacket/multicast/topology"
	"github.com/umbel-filters/umbel/inpacket/multicast/tree"
)

// Notice is who knows that links have failed.
type Notice uint8

const (
	// Rebuilt: all routers know. Their tables are those of the network without the
	// links; only the sources' headers are from before.
	Rebuilt Notice = iota
	// AtEnds: the routers at both ends know, and go around the link if the scheme lets
	// them. The domain's routers have a method SetDown(port int, down bool) then, as
	// [multicast.Node] has; others don't know, as with Unnoticed.
	AtEnds
	// Unnoticed: nobody knows. Packets are sent over the links, and are lost.
	Unnoticed
)

// String returns the notice in a word.
func (n Notice) String() string {
	switch n {
	case Rebuilt:
		return "rebuilt"
	case AtEnds:
		return "at-ends"
	case Unnoticed:
		return "unnoticed"
	}
	return fmt.Sprintf("notice %d", uint8(n))
}

// Kind is how a tree is found.
type Kind uint8

const (
	Shortest Kind = iota // each receiver on a shortest way from the source
	Steiner              // few links, or low weights, in all
)

// String returns the kind in a word.
func (k Kind) String() string {
	switch k {
	case Shortest:
		return "shortest"
	case Steiner:
		return "steiner"
	}
	return fmt.Sprintf("kind %d", uint8(k))
}

// Experiment carries the packets of many trees. Trees, and the links that fail or
// are added, depend on the graph, the seed and the tree's number only: all schemes get
// the same, and the result is the same for any number of workers, but for the times of
// the search.
type Experiment struct {
	Graph     *topology.Graph // connected, of 2 nodes at least
	Scheme    scheme.Scheme
	Key       inpacket.Key // of the network
	Receivers int          // of each tree, 1 or more
	Trees     int          // 1 to MaxTrees
	Seed      uint64

	Metric    tree.Metric
	Kind      Kind
	Clustered bool // receivers are near each other; otherwise they are anywhere

	// Fail and Add are how many links fail, and how many come, after the headers are
	// made: see [topology.Graph.Fail] and [topology.Graph.Grow]. They are drawn anew for
	// every 10 trees; those that fail are among those that fail if Fail is higher.
	Fail, Add int
	Together  bool // links only fail that leave a way between all nodes
	Notice    Notice
	// Sequenced gives headers with filters a source and a sequence number, 8 bytes, by
	// which routers with a window tell packets that they had before.
	Sequenced bool
	// Flood puts ones in place of all bits of the filters, or of the receivers, as
	// somebody does who wants a packet to go everywhere.
	Flood bool

	MaxCopies int // of a tree; 0 means the constant MaxCopies
	Workers   int // goroutines; 0 means as many as there are processors
}

// MaxTrees is how many trees an experiment has at most: what came of each is kept,
// some 300 bytes.
const MaxTrees = 1_000_000

// sameChange is how many trees, one after the other, meet the same failed and added
// links: to set a scheme up may take longer than to carry a packet.
const sameChange = 10

// ErrExperiment is wrapped when an experiment is none: too many receivers, for
// example.
var ErrExperiment = errors.New("sim: no such experiment")

func (e *Experiment) check() error {
	switch {
	case e.Graph == nil || len(e.Graph.Nodes) < 2:
		return fmt.Errorf("%w: the graph has no two nodes", ErrExperiment)
	case !e.Graph.Connected():
		return fmt.Errorf("%w: graph %q is in parts: take its largest component", ErrExperiment, e.Graph.Name)
	case e.Scheme == nil:
		return fmt.Errorf("%w: it has no scheme", ErrExperiment)
	case e.Receivers < 1 || e.Receivers >= len(e.Graph.Nodes):
		return fmt.Errorf("%w: %d receivers: the graph has %d nodes, give 1 to %d", ErrExperiment, e.Receivers, len(e.Graph.Nodes), len(e.Graph.Nodes)-1)
	case e.Trees < 1 || e.Trees > MaxTrees:
		return fmt.Errorf("%w: %d trees: give 1 to %d", ErrExperiment, e.Trees, MaxTrees)
	case e.Fail < 0 || e.Add < 0:
		return fmt.Errorf("%w: %d links fail and %d come: give 0 or more", ErrExperiment, e.Fail, e.Add)
	case e.Kind > Steiner || e.Notice > Unnoticed:
		return fmt.Errorf("%w: %v, %v", ErrExperiment, e.Kind, e.Notice)
	}
	return nil
}

// Run runs the experiment. It calls progress, if that isn't nil, after each tree,
// once at a time. A tree that the scheme can't write counts as Unplanned; it is an
// error that wraps ErrNone if it can write none. When ctx is done, Run ends soon with its error.
func (e Experiment) Run(ctx context.Context, progress func(done, total int)) (Result, error) {
	if err := e.check(); err != nil {
		return Result{}, err
	}
	known := multicast.NewNetwork(e.Graph, e.Key, 0)
	r := run{Experiment: &e, known: known, trials: make([]trial, e.Trees), progress: progress}
	if err := r.all(ctx); err != nil {
		return Result{}, err
	}
	return e.result(r.trials)
}

// Tree returns tree number i of the experiment, from 0: what a Result's WorstTree is
// about, for example. The error wraps ErrExperiment if there is no such experiment, or
// i is below 0.
func (e *Experiment) Tree(i int) (*tree.Tree, error) {
	if err := e.check(); err != nil {
		return nil, err
	}
	if i < 0 {
		return nil, fmt.Errorf("%w: tree %d: give 0 or more", ErrExperiment, i)
	}
	return e.tree(i, tree.NewFinder(e.Graph, e.Metric), e.Graph.Ports())
}

func (e *Experiment) tree(i int, f *tree.Finder, ports [][]topology.Port) (*tree.Tree, error) {
	g := drawn(numbers(e.Seed, drawGroup, i), e.Graph, ports, e.Receivers, e.Clustered)
	if e.Kind == Steiner {
		return f.Steiner(g.source, g.receivers)
	}
	return f.ShortestPath(g.source, g.receivers)
}

// run is an experiment at work.
type run struct {
	*Experiment
	known    *multicast.Network
	trials   []trial // by tree
	progress func(done, total int)

	mutex sync.Mutex
	done  int
	err   error // the first of any worker
}

// trial is what came of one tree.
type trial struct {
	record    Record
	cutOff    int   // receivers to which there is no way any more
	unplanned error // why the scheme can't write it; then there is no record
}

// all does all trees, in batches that meet the same links.
func (r *run) all(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	batches := make(chan int)
	var workers sync.WaitGroup
	for range r.workers() {
		workers.Go(func() {
			w := worker{run: r, finder: tree.NewFinder(r.Graph, r.Metric), ports: r.Graph.Ports()}
			for first := range batches {
				if err := w.batch(ctx, first); err != nil {
					r.fail(err)
					cancel()
				}
			}
		})
	}
	for first := 0; first < r.Trees && ctx.Err() == nil; first += sameChange {
		select {
		case batches <- first:
		case <-ctx.Done():
		}
	}
	close(batches)
	workers.Wait()
	if r.err != nil {
		return r.err
	}
	return ctx.Err()
}

func (r *run) workers() int {
	n := r.Workers
	if n <= 0 {
		n = runtime.GOMAXPROCS(0)
	}
	return min(n, (r.Trees+sameChange-1)/sameChange)
}

// fail keeps the first error.
func (r *run) fail(err error) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if r.err == nil {
		r.err = err
	}
}

// finished counts a tree that is done.
func (r *run) finished() {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.done++
	if r.progress != nil {
		r.progress(r.done, r.Trees)
	}
}

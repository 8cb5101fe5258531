package sim

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"

	"github.com/umbel-filters/umbel/internal/sentinel"
	"github.com/umbel-filters/umbel/multicast"
	"github.com/umbel-filters/umbel/multicast/inpacket"
	"github.com/umbel-filters/umbel/multicast/scheme"
	"github.com/umbel-filters/umbel/multicast/topology"
	"github.com/umbel-filters/umbel/multicast/tree"
)

// FailureKnowledge determines which routers know that links have failed.
type FailureKnowledge uint8

const (
	// Rebuilt: all routers know. Their tables are those of the network without the links;
	// only the sources' headers are older.
	Rebuilt FailureKnowledge = iota
	// AtEnds: the routers at both ends know, and use detours if the scheme supports them.
	// The domain's routers then have a method SetDown(port int, down bool), as
	// [multicast.Node] has; other routers behave as with Unnoticed.
	AtEnds
	// Unnoticed: no router knows. Packets are sent over the links and lost.
	Unnoticed
)

// String returns the knowledge as a word.
func (n FailureKnowledge) String() string {
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

// TreeKind is the method of finding trees.
type TreeKind uint8

const (
	Shortest TreeKind = iota // a shortest path from the source to each receiver
	Steiner                  // few links, or a low total weight
)

// String returns the kind as a word.
func (k TreeKind) String() string {
	switch k {
	case Shortest:
		return "shortest"
	case Steiner:
		return "steiner"
	}
	return fmt.Sprintf("kind %d", uint8(k))
}

// Experiment sends packets along many trees. Trees, and the links that fail or are added,
// depend only on the graph, the seed and the tree's number: all schemes get the same, and
// the result is the same for any number of workers, except for search times.
type Experiment struct {
	Graph     *topology.Graph // connected, with at least 2 nodes
	Scheme    scheme.Scheme
	Key       inpacket.Key // of the network
	Receivers int          // of each tree, at least 1
	Trees     int          // 1 to MaxTrees
	Seed      uint64

	Metric    tree.Metric
	Kind      TreeKind
	Clustered bool // whether receivers are close to each other; otherwise they are chosen among all nodes

	// Fail and Add are the numbers of links that fail and that are added after the
	// headers are made: see [topology.Graph.Fail] and [topology.Graph.Grow]. They are
	// drawn again for every 10 trees. If Fail is increased, the same links and more fail.
	Fail, Add int
	Together  bool // whether all nodes keep paths between them
	Knowledge FailureKnowledge
	// Sequenced adds a source and a sequence number, 8 bytes, to headers with filters.
	// Routers with a window use them to detect packets that they have seen.
	Sequenced bool
	// Flood sets all bits of the filters, or of the receivers, as an attacker would who
	// wants to reach all nodes. Routers other than [multicast.Node] need a method
	// Flood(packet []byte) error that does it.
	Flood bool

	MaxCopies int // of a tree; 0 means the constant MaxCopies
	Workers   int // goroutines; 0 means the number of processors
}

// MaxTrees is the largest number of trees of an experiment. A record of about 300 bytes
// is kept for each.
const MaxTrees = 1_000_000

// sameChange is the number of successive trees with the same failed and added links,
// because creating a domain may take longer than sending a packet.
const sameChange = 10

// ErrExperiment means that an experiment is not valid, for example because it has too
// many receivers.
var ErrExperiment = errors.New("no such experiment")

func (e *Experiment) check() error {
	switch {
	case e.Graph == nil || len(e.Graph.Nodes) < 2:
		return sentinel.Errorf(ErrExperiment, "the graph has fewer than two nodes")
	case !e.Graph.Connected():
		return sentinel.Errorf(ErrExperiment, "graph %q is not connected; use its largest component", e.Graph.Name)
	case e.Scheme == nil:
		return sentinel.Errorf(ErrExperiment, "no scheme")
	case e.Receivers < 1 || e.Receivers >= len(e.Graph.Nodes):
		return sentinel.Errorf(ErrExperiment, "%d receivers in a graph of %d nodes, want 1 to %d", e.Receivers, len(e.Graph.Nodes), len(e.Graph.Nodes)-1)
	case e.Trees < 1 || e.Trees > MaxTrees:
		return sentinel.Errorf(ErrExperiment, "%d trees, want 1 to %d", e.Trees, MaxTrees)
	case e.Fail < 0 || e.Add < 0:
		return sentinel.Errorf(ErrExperiment, "%d links fail and %d are added, want at least 0", e.Fail, e.Add)
	case e.Kind > Steiner || e.Knowledge > Unnoticed:
		return sentinel.Errorf(ErrExperiment, "%v, %v", e.Kind, e.Knowledge)
	}
	return nil
}

// Run runs the experiment. After each tree it calls progress, unless that is nil, never
// concurrently. A tree that the scheme can't encode counts as Unplanned; if it can encode
// none, Run returns an error wrapping ErrNone. If ctx is done, Run returns its error
// soon.
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

// Tree returns tree number i of the experiment, from 0: for example that of a Result's
// WorstTree. It returns an error wrapping ErrExperiment if the experiment is not valid or
// i is negative.
func (e *Experiment) Tree(i int) (*tree.Tree, error) {
	if err := e.check(); err != nil {
		return nil, err
	}
	if i < 0 {
		return nil, sentinel.Errorf(ErrExperiment, "tree %d, want at least 0", i)
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

// run is a running experiment.
type run struct {
	*Experiment
	known    *multicast.Network
	trials   []trial // by tree
	progress func(done, total int)

	mutex sync.Mutex
	done  int
	err   error // the first error of any worker
}

// trial is the result of one tree.
type trial struct {
	record    Record
	cutOff    int   // receivers without a path from the source
	unplanned error // why the scheme can't encode it; then there is no record
}

// all processes all trees, in batches with the same links.
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

// finished counts a completed tree.
func (r *run) finished() {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.done++
	if r.progress != nil {
		r.progress(r.done, r.Trees)
	}
}

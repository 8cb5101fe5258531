package sim

import (
	"context"
	"fmt"

	"github.com/umbel-filters/umbel/internal/sentinel"
	"github.com/umbel-filters/umbel/multicast"
	"github.com/umbel-filters/umbel/multicast/scheme"
	"github.com/umbel-filters/umbel/multicast/topology"
	"github.com/umbel-filters/umbel/multicast/tree"
)

// worker processes trees of a run in one goroutine.
type worker struct {
	*run
	finder *tree.Finder
	ports  [][]topology.Port

	present *present
}

// present is the network when the packets are sent.
type present struct {
	network *multicast.Network
	domain  scheme.Domain
	wires   *Fabric
	down    []bool            // links of the network that are down; nil if all are up
	ports   [][]topology.Port // without those of links that are down

	// rerouted means that the scheme has found its own paths in the present network. Then
	// nothing is encoded for receivers that are cut off.
	rerouted bool
}

// batch processes the trees from first on that have the same links.
func (w *worker) batch(ctx context.Context, first int) error {
	if w.present == nil || w.Fail+w.Add > 0 {
		var err error
		if w.present, err = w.setUp(first); err != nil {
			return err
		}
	}
	for i := first; i < min(first+sameChange, w.Trees); i++ {
		if ctx.Err() != nil {
			return nil
		}
		t, err := w.tree(i, w.finder, w.ports)
		if err != nil {
			return err
		}
		if w.trials[i], err = w.trial(t, uint32(i+1)); err != nil {
			return err
		}
		w.finished()
	}
	return nil
}

// trial encodes a tree into packets and sends them.
func (w *worker) trial(t *tree.Tree, group uint32) (trial, error) {
	p := w.present
	away := distances(p.ports, t.Source)
	var result trial
	still := tree.Tree{Graph: t.Graph, Source: t.Source, Steps: t.Steps} // without receivers that are cut off
	for _, node := range t.Receivers {
		if away[node] >= 0 {
			still.Receivers = append(still.Receivers, node)
		}
	}
	result.cutOff = len(t.Receivers) - len(still.Receivers)
	written := t
	if p.rerouted {
		if len(still.Receivers) == 0 {
			result.record.Receivers, result.record.Form = len(t.Receivers), "none"
			return result, nil
		}
		written = &still
	}
	plan, err := p.domain.Plan(written, group)
	if err != nil {
		return trial{unplanned: err}, nil
	}
	if w.Flood {
		if plan.Headers, err = flooded(p.domain.Router(t.Source), plan.Headers); err != nil {
			return trial{}, err
		}
	}
	if w.Sequenced {
		if plan.Headers, err = sequenced(p.domain.Router(t.Source), plan.Headers, uint32(t.Source), group); err != nil {
			return trial{}, err
		}
	}
	p.domain.Receive(group, t.Receivers)
	defer p.domain.Receive(group, nil)
	result.record = p.wires.Send(p.domain, t, plan, Options{
		MaxCopies: w.MaxCopies, Down: p.down, OwnPaths: OwnPaths(w.Scheme),
	})
	return result, nil
}

// setUp makes the domain for the batch of trees from first on.
func (w *worker) setUp(first int) (*present, error) {
	p := &present{network: w.known, ports: w.ports}
	known := w.known
	if w.Fail+w.Add > 0 {
		if err := w.change(p, first); err != nil {
			return nil, err
		}
		if p.rerouted = OwnPaths(w.Scheme) && w.Knowledge == Rebuilt; p.rerouted {
			known = p.network
		}
	}
	var err error
	if p.domain, err = w.Scheme.Domain(known, p.network); err != nil {
		return nil, fmt.Errorf("%s on %q: %w", w.Scheme.Name(), w.Graph.Name, err)
	}
	p.wires = NewFabric(p.network)
	if w.Knowledge == AtEnds && p.down != nil {
		p.notify()
	}
	return p, nil
}

// change sets p to the network after the failures of the batch from first on.
func (w *worker) change(p *present, first int) error {
	rng := numbers(w.Seed, drawChange, first)
	failed, err := w.Graph.Fail(w.Fail, rng.Uint64(), w.Together)
	if err != nil {
		return sentinel.Wrap(ErrExperiment, err)
	}
	grown, err := w.Graph.Grow(w.Add, rng.Uint64())
	if err != nil {
		return sentinel.Wrap(ErrExperiment, err)
	}
	after, err := w.Graph.With(grown)
	if err != nil {
		return err
	}
	up := after.Without(failed)
	p.ports = up.Ports()
	if w.Knowledge == Rebuilt {
		after = up
	} else {
		p.down = make([]bool, len(after.Links))
		for _, l := range failed {
			p.down[l] = true
		}
	}
	p.network = multicast.NewNetwork(after, w.Key, w.known.Epoch)
	return nil
}

// notify notifies the routers at the ends of links that are down.
func (p *present) notify() {
	for node := range p.network.Graph.Nodes {
		router, ok := p.domain.Router(node).(interface{ SetDown(port int, down bool) })
		if !ok {
			continue
		}
		for number, port := range p.network.Ports(node) {
			if p.down[port.Arc.Link()] {
				router.SetDown(number, true)
			}
		}
	}
}

// Change is the numbers of links that fail and are added after headers are made.
type Change struct{ Fail, Add int }

// Stale runs the experiment once for each change, with the same trees and headers: the
// cost of stale headers. Progress counts the trees of all runs.
func (e Experiment) Stale(ctx context.Context, changes []Change, progress func(done, total int)) ([]Result, error) {
	results := make([]Result, 0, len(changes))
	for i, c := range changes {
		e.Fail, e.Add = c.Fail, c.Add
		var report func(done, total int)
		if progress != nil {
			report = func(done, _ int) { progress(i*e.Trees+done, len(changes)*e.Trees) }
		}
		r, err := e.Run(ctx, report)
		if err != nil {
			return results, err
		}
		results = append(results, r)
	}
	return results, nil
}

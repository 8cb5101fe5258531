// Package forward carries packets over networks for the papers' pieces, a cell of a
// table at a time, and keeps what came of each, so that an interrupted run goes on and
// pieces share what they measure.
package forward

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/umbel-filters/umbel/inpacket/multicast/scheme"
	"github.com/umbel-filters/umbel/inpacket/multicast/sim"
	"github.com/umbel-filters/umbel/inpacket/multicast/topology"
)

// Contender is a scheme with options, by the name it has in tables.
type Contender struct {
	Name    string
	Scheme  scheme.Scheme
	options string
}

// New returns the scheme of a name with options as a contender. It panics if there is
// no such scheme.
func New(name, schemeName string, o scheme.Options) Contender {
	s, err := scheme.ByName(schemeName, o)
	if err != nil {
		panic(err)
	}
	return Contender{name, s, fmt.Sprintf("%s %+v", schemeName, o)}
}

// Cell is an experiment of a contender.
type Cell struct {
	Contender
	sim.Experiment // but for its scheme, seed and workers, which the runner knows
}

// key is what the cell's result depends on.
func (c Cell) key(seed uint64) (string, error) {
	e := c.Experiment
	hash := sha256.New()
	if err := topology.WriteTSV(hash, e.Graph); err != nil {
		return "", err
	}
	b, err := json.Marshal([]any{
		e.Graph.Name, fmt.Sprintf("%x", hash.Sum(nil)[:8]), c.options, seed, e.Receivers, e.Trees, e.Metric.String(), e.Kind.String(),
		e.Clustered, e.Fail, e.Add, e.Together, e.Notice.String(), e.Sequenced, e.Flood, e.MaxCopies,
	})
	return string(b), err
}

// none returns the result of a cell of which no tree can be written, if that is what
// an error says.
func none(e *sim.Experiment, err error) (sim.Result, error) {
	if !errors.Is(err, sim.ErrNone) {
		return sim.Result{}, err
	}
	return sim.Result{Graph: e.Graph.Name, Scheme: e.Scheme.Name(), Receivers: e.Receivers, Trees: e.Trees, Seed: e.Seed,
		Unplanned: 1, UnplannedWhy: err.Error()}, nil
}

// Written reports whether a result is of any tree at all.
func Written(r sim.Result) bool { return r.Unplanned < 1 }

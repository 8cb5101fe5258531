// Package forward simulates packets on networks for the papers' pieces, one cell of a
// table at a time. It stores the result of each cell, so an interrupted run can continue
// and pieces can share results.
package forward

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/umbel-filters/umbel/multicast/scheme"
	"github.com/umbel-filters/umbel/multicast/sim"
	"github.com/umbel-filters/umbel/multicast/topology"
	"github.com/umbel-filters/umbel/research/competitors"
	"github.com/umbel-filters/umbel/research/papers/internal/trial"
)

// stored is a line of the file of results.
type stored struct {
	Key   string
	First json.RawMessage // the result of the first tree alone, to detect that results have changed
	All   sim.Result
}

// Run returns the result of each cell. It takes results of earlier runs with the same seed
// from the file in the directory of r, if their first tree still has the same result. If
// ctx is done, Run returns its error and keeps the complete cells.
func Run(ctx context.Context, r *trial.Runner, name string, cells []Cell) ([]sim.Result, error) {
	file := filepath.Join(r.Dir, "forwarded.jsonl")
	earlier, err := load(file)
	if err != nil {
		return nil, err
	}
	p := progress{runner: r, name: name, start: time.Now()}
	for _, c := range cells {
		p.total += c.Trees
	}
	results := make([]sim.Result, len(cells))
	for i, c := range cells {
		if results[i], err = run(ctx, r, c, earlier, file, &p); err != nil {
			return nil, err
		}
	}
	return results, nil
}

// run returns the result of a cell and stores it.
func run(ctx context.Context, r *trial.Runner, c Cell, earlier map[string]stored, file string, p *progress) (sim.Result, error) {
	c.Experiment.Scheme, c.Seed, c.Workers = c.Contender.Scheme, r.Seed, r.Workers
	key, err := c.key(r.Seed)
	if err != nil {
		return sim.Result{}, err
	}
	first := c.Experiment
	first.Trees = 1
	result, err := once(ctx, first, nil)
	if err != nil {
		return sim.Result{}, err
	}
	seen, err := json.Marshal(result)
	if err != nil {
		return sim.Result{}, err
	}
	if k, ok := earlier[key]; ok && bytes.Equal(k.First, seen) {
		p.total -= c.Trees
		return k.All, nil
	}
	if result, err = once(ctx, c.Experiment, p.show); err != nil {
		return sim.Result{}, err
	}
	p.done += c.Trees
	return result, store(file, stored{key, seen, result})
}

// once makes an experiment and clears the times, which are never the same.
func once(ctx context.Context, e sim.Experiment, show func(done, total int)) (sim.Result, error) {
	result, err := e.Run(ctx, show)
	if err != nil {
		return none(&e, err)
	}
	result.SearchMS, result.P95Search = 0, 0
	return result, nil
}

// load returns the lines of a file by their keys. If several lines have the same key, it
// returns the last one. It omits incomplete lines.
func load(file string) (map[string]stored, error) {
	all := map[string]stored{}
	f, err := os.Open(file)
	if errors.Is(err, fs.ErrNotExist) {
		return all, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var k stored
		if json.Unmarshal(lines.Bytes(), &k) == nil {
			all[k.Key] = k
		}
	}
	return all, lines.Err()
}

// store appends a line to a file, after an empty line, because the file may end with an
// incomplete line.
func store(file string, k stored) error {
	b, err := json.Marshal(k)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		return err
	}
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	_, err = f.Write(append(append([]byte{'\n'}, b...), '\n'))
	return errors.Join(err, f.Close())
}

// progress counts the trees of a run.
type progress struct {
	runner      *trial.Runner
	name        string
	start       time.Time
	done, total int // without trees of earlier runs
}

// show reports how many trees are done, including those of the current cell.
func (p *progress) show(done, _ int) {
	if done += p.done; p.runner.Show != nil && done%10 == 0 {
		p.runner.Show(p.name, done, p.total, time.Since(p.start).Seconds()/float64(done))
	}
}

// Contender is a scheme with options, and its name in tables.
type Contender struct {
	Name    string
	Scheme  scheme.Scheme
	options string
}

// New returns the contender for a scheme with options. It panics if no scheme has the
// name.
func New(name, schemeName string, o competitors.Options) Contender {
	s, err := competitors.ByName(schemeName, o)
	if err != nil {
		panic(err)
	}
	return Contender{name, s, fmt.Sprintf("%s %+v", schemeName, o)}
}

// Cell is an experiment with a contender.
type Cell struct {
	Contender
	sim.Experiment // the runner sets its scheme, seed and workers
}

// key contains everything that determines the result of the cell.
func (c Cell) key(seed uint64) (string, error) {
	e := c.Experiment
	hash := sha256.New()
	if err := topology.WriteTSV(hash, e.Graph); err != nil {
		return "", err
	}
	b, err := json.Marshal([]any{
		e.Graph.Name, fmt.Sprintf("%x", hash.Sum(nil)[:8]), c.options, seed, e.Receivers, e.Trees, e.Metric.String(), e.Kind.String(),
		e.Clustered, e.Fail, e.Add, e.Together, e.Knowledge.String(), e.Sequenced, e.Flood, e.MaxCopies,
	})
	return string(b), err
}

// none returns the result of a cell for which no tree can be encoded, if err wraps
// sim.ErrNone, and otherwise err.
func none(e *sim.Experiment, err error) (sim.Result, error) {
	if !errors.Is(err, sim.ErrNone) {
		return sim.Result{}, err
	}
	return sim.Result{Graph: e.Graph.Name, Scheme: e.Scheme.Name(), Receivers: e.Receivers, Trees: e.Trees, Seed: e.Seed,
		Unplanned: 1, UnplannedWhy: err.Error()}, nil
}

// Written reports whether at least one tree of the result was encoded.
func Written(r sim.Result) bool { return r.Unplanned < 1 }

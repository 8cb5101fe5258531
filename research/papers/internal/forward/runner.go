package forward

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/umbel-filters/umbel/inpacket/multicast/sim"
	"github.com/umbel-filters/umbel/research/papers/internal/trial"
)

// kept is a line of the file that has what came of cells.
type kept struct {
	Key   string
	First json.RawMessage // what came of the first tree alone, to see whether results are what they were
	All   sim.Result
}

// Run returns what came of each cell. Those that an earlier run made with the same
// seed are taken from its file, in the directory of r, if their first tree comes out
// as it did then. When ctx is done it returns its error, and keeps whole cells.
func Run(ctx context.Context, r *trial.Runner, name string, cells []Cell) ([]sim.Result, error) {
	file := filepath.Join(r.Dir, "forwarded.jsonl")
	old, err := load(file)
	if err != nil {
		return nil, err
	}
	p := progress{runner: r, name: name, began: time.Now()}
	for _, c := range cells {
		p.total += c.Trees
	}
	results := make([]sim.Result, len(cells))
	for i, c := range cells {
		if results[i], err = run(ctx, r, c, old, file, &p); err != nil {
			return nil, err
		}
	}
	return results, nil
}

// run returns what came of a cell, and keeps it.
func run(ctx context.Context, r *trial.Runner, c Cell, old map[string]kept, file string, p *progress) (sim.Result, error) {
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
	if k, ok := old[key]; ok && bytes.Equal(k.First, seen) {
		p.total -= c.Trees
		return k.All, nil
	}
	if result, err = once(ctx, c.Experiment, p.show); err != nil {
		return sim.Result{}, err
	}
	p.done += c.Trees
	return result, keep(file, kept{key, seen, result})
}

// once makes an experiment, and leaves out the times, which are never the same.
func once(ctx context.Context, e sim.Experiment, show func(done, total int)) (sim.Result, error) {
	result, err := e.Run(ctx, show)
	if err != nil {
		return none(&e, err)
	}
	result.SearchMS, result.P95Search = 0, 0
	return result, nil
}

// load returns the lines of a file by their keys; of several with one key the last. A
// line that isn't whole is left out.
func load(file string) (map[string]kept, error) {
	all := map[string]kept{}
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
		var k kept
		if json.Unmarshal(lines.Bytes(), &k) == nil {
			all[k.Key] = k
		}
	}
	return all, lines.Err()
}

// keep adds a line to a file, after an empty one: what was there may end within a
// line.
func keep(file string, k kept) error {
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
	began       time.Time
	done, total int // without those of earlier runs
}

// show shows how many trees are done, those of the present cell among them.
func (p *progress) show(done, _ int) {
	if done += p.done; p.runner.Show != nil && done%10 == 0 {
		p.runner.Show(p.name, done, p.total, time.Since(p.began).Seconds()/float64(done))
	}
}

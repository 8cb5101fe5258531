// Package trial repeats random experiments on several cores. It continues where an
// interrupted run stopped.
package trial

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Simulation is an experiment to be repeated.
type Simulation struct {
	Name   string   // unique; determines the file of the state and the seeds
	Values []string // what a trial measures
	Worker func() (Trial, error)
}

// Trial makes one experiment with random numbers from r and sets out, which has one
// element for each value of the simulation. One goroutine calls it repeatedly, so it may
// reuse its memory.
type Trial func(r *rand.ChaCha8, out []int64) error

// Result contains the results of all trials.
type Result struct {
	Trials  int
	values  []string
	tallies []Tally
}

// Of returns the tally of a value. It panics if the simulation does not have the value.
func (r Result) Of(value string) Tally {
	i := slices.Index(r.values, value)
	if i < 0 {
		panic(fmt.Sprintf("trial: no value %q, want one of %q", value, r.values))
	}
	return r.tallies[i]
}

// Runner makes trials.
type Runner struct {
	Dir     string // where states are kept
	Seed    uint64
	Workers int                                              // goroutines, at least 1
	Show    func(name string, done, trials int, per float64) // seconds per trial; nil: show nothing
}

// round is the number of trials between two checks of the clock and the context.
const round = 256

// Run makes trials until their number is at least trials, including those of earlier runs
// with the same seed. If ctx is done, Run returns its error and keeps all rounds except
// the last. The result depends only on sim, the seed and the number of trials.
func (r *Runner) Run(ctx context.Context, sim Simulation, trials int) (Result, error) {
	s, err := r.open(sim)
	if err != nil {
		return Result{}, fmt.Errorf("trial: %s: %w", sim.Name, err)
	}
	start, saved, before := time.Now(), time.Now(), s.Trials
	for s.Trials < trials {
		n := min(round, trials-s.Trials)
		tallies, err := r.round(ctx, sim, s.Trials, n)
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			if e := s.save(); e != nil {
				err = fmt.Errorf("%w; %w", err, e)
			}
			return Result{}, fmt.Errorf("trial: %s: %w", sim.Name, err)
		}
		s.add(n, tallies)
		if r.Show != nil {
			r.Show(sim.Name, s.Trials, trials, time.Since(start).Seconds()/float64(s.Trials-before))
		}
		if time.Since(saved) > 5*time.Second {
			if err := s.save(); err != nil {
				return Result{}, err
			}
			saved = time.Now()
		}
	}
	if s.Trials > before {
		if err := s.save(); err != nil {
			return Result{}, err
		}
	}
	return Result{s.Trials, sim.Values, s.Tallies}, nil
}

// round makes n trials, starting with number first. After ctx is done, it starts no trial
// and its result is incomplete.
func (r *Runner) round(ctx context.Context, sim Simulation, first, n int) ([]Tally, error) {
	var (
		next   atomic.Int64
		mu     sync.Mutex
		all    = newTallies(len(sim.Values))
		group  sync.WaitGroup
		failed error
	)
	for range min(r.Workers, n) {
		group.Go(func() {
			mine := newTallies(len(sim.Values))
			err := r.work(ctx, sim, func() int {
				if i := int(next.Add(1)) - 1; i < n {
					return first + i
				}
				return -1
			}, mine)
			mu.Lock()
			defer mu.Unlock()
			for i := range all {
				all[i].add(mine[i])
			}
			if err != nil {
				failed = err
			}
		})
	}
	group.Wait()
	return all, failed
}

// work makes the trials whose numbers next returns, until the number is negative.
func (r *Runner) work(ctx context.Context, sim Simulation, next func() int, to []Tally) error {
	one, err := sim.Worker()
	if err != nil {
		return err
	}
	out := make([]int64, len(sim.Values))
	var source rand.ChaCha8
	for i := next(); i >= 0 && ctx.Err() == nil; i = next() {
		source.Seed(r.seed(sim.Name, i))
		if err := one(&source, out); err != nil {
			return fmt.Errorf("trial %d: %w", i, err)
		}
		for j, v := range out {
			to[j][v]++
		}
	}
	return nil
}

// seed returns the seed of a trial, which is unique.
func (r *Runner) seed(name string, trial int) [32]byte {
	b := binary.LittleEndian.AppendUint64(nil, r.Seed)
	b = binary.LittleEndian.AppendUint64(b, uint64(trial))
	return sha256.Sum256(append(b, name...))
}

func newTallies(n int) []Tally {
	ts := make([]Tally, n)
	for i := range ts {
		ts[i] = make(Tally)
	}
	return ts
}

// state is the stored state of a simulation.
type state struct {
	Values  []string
	First   []Tally // of the first trial, to detect that the trials have changed
	Trials  int
	Tallies []Tally

	path string
}

// open returns the state of an earlier run with the same seed if it has the same values
// and if its first trial still has the same result. Otherwise it returns an empty state.
func (r *Runner) open(sim Simulation) (*state, error) {
	first, err := r.round(context.Background(), sim, 0, 1)
	if err != nil {
		return nil, err
	}
	name := strings.NewReplacer("/", "-", " ", "_").Replace(sim.Name)
	s := &state{path: filepath.Join(r.Dir, fmt.Sprintf("%s.%d.json", name, r.Seed))}
	b, err := os.ReadFile(s.path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if json.Unmarshal(b, s) == nil && slices.Equal(s.Values, sim.Values) &&
		len(s.Tallies) == len(s.Values) && reflect.DeepEqual(s.First, first) {
		return s, nil
	}
	return &state{Values: sim.Values, First: first, Tallies: newTallies(len(sim.Values)), path: s.path}, nil
}

func (s *state) add(n int, tallies []Tally) {
	s.Trials += n
	for i, t := range tallies {
		s.Tallies[i].add(t)
	}
}

// save replaces the file of the state atomically.
func (s *state) save() error {
	b, err := json.Marshal(s)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(s.path), 0o777); err != nil {
		return err
	}
	half := s.path + ".tmp"
	if err := os.WriteFile(half, b, 0o666); err != nil {
		return err
	}
	return os.Rename(half, s.path)
}

// Package trial repeats random experiments on several cores, and goes on where an
// interrupted run stopped.
package trial

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Simulation is an experiment to be repeated.
type Simulation struct {
	Name   string   // unlike all others; the state's file and the seeds come from it
	Values []string // what a trial measures
	Worker func() (Trial, error)
}

// Trial makes one experiment with the random numbers of r and sets out, which has a
// place for each of the simulation's values. One goroutine calls it again and again,
// so it may keep its memory.
type Trial func(r *rand.ChaCha8, out []int64) error

// Result is what all trials gave.
type Result struct {
	Trials  int
	values  []string
	tallies []Tally
}

// Of returns the tally of a value. It panics if the simulation has no such value.
func (r Result) Of(value string) Tally {
	i := slices.Index(r.values, value)
	if i < 0 {
		panic(fmt.Sprintf("trial: no value %q, there are %q", value, r.values))
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

// round is the number of trials between two looks at the clock and the context.
const round = 256

// Run makes trials until there are that many, those of earlier runs with the same
// seed included; the result may have more. When ctx is done it returns its error,
// and all but the last round is kept. The result depends on the seed and the number
// of trials, and on nothing else.
func (r *Runner) Run(ctx context.Context, sim Simulation, trials int) (Result, error) {
	s, err := r.open(sim)
	if err != nil {
		return Result{}, fmt.Errorf("trial: %s: %w", sim.Name, err)
	}
	began, saved, before := time.Now(), time.Now(), s.Trials
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
			r.Show(sim.Name, s.Trials, trials, time.Since(began).Seconds()/float64(s.Trials-before))
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

// round makes n trials from number first on. Once ctx is done no trial begins, and
// what is returned isn't whole.
func (r *Runner) round(ctx context.Context, sim Simulation, first, n int) ([]Tally, error) {
	var (
		next  atomic.Int64
		mu    sync.Mutex
		all   = newTallies(len(sim.Values))
		group sync.WaitGroup
		wrong error
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
				wrong = err
			}
		})
	}
	group.Wait()
	return all, wrong
}

// work makes the trials that next gives, until that is negative.
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

// seed returns the seed of a trial: unlike that of any other.
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

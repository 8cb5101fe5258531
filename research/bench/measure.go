package main

import (
	"runtime"
	"slices"
	"sync/atomic"
	"time"
)

// Sample is what the rounds of one measurement gave.
type Sample struct {
	Best   float64 `json:"best"` // the least time, the highest speed
	Median float64 `json:"median"`
}

// task is one measurement, for a cell of a row. A run gives one time; its turn is
// the part of a round that it is in.
type task struct {
	row    *Row
	column string
	run    func(turn int) (float64, error)
}

// interleave runs all tasks in turn: for a round to warm up and so many that count,
// each of so many turns. It calls before at the beginning of each round. Turns are
// short, so that the machine's good and bad times fall on all alike.
func interleave(rounds, turns int, p *progress, tasks []task, before func()) error {
	got := make([][]float64, len(tasks))
	for round := range rounds + 1 {
		before()
		for turn := range turns {
			for i, t := range tasks {
				p.show("%s, round %d of %d: %s", t.column, round, rounds, t.row.Name)
				x, err := t.run(turn)
				if err != nil {
					return err
				}
				if round > 0 {
					got[i] = append(got[i], x)
				}
			}
		}
	}
	for i, t := range tasks {
		t.row.set(t.column, summary(got[i]))
	}
	return nil
}

// summary returns the least and the median of times. It sorts them.
func summary(times []float64) Sample {
	slices.Sort(times)
	return Sample{Best: times[0], Median: times[len(times)/2]}
}

func timed(f func()) time.Duration {
	start := time.Now()
	f()
	return time.Since(start)
}

// inTwo runs f on both halves of k at once and returns the time from the moment
// when both can start to the one when both are done.
func inTwo(k *keys, f func(*keys)) time.Duration {
	here, there := k.slice(0, k.n/2), k.slice(k.n/2, k.n)
	var ready, start, done atomic.Bool
	go func() {
		ready.Store(true)
		await(&start)
		f(there)
		done.Store(true)
	}()
	await(&ready)
	return timed(func() {
		start.Store(true)
		f(here)
		await(&done)
	})
}

// await spins, since to be woken takes longer than a filter in cache does.
func await(b *atomic.Bool) {
	for spins := 0; !b.Load(); spins++ {
		if spins%1000 == 999 {
			runtime.Gosched()
		}
	}
}

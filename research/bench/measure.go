package main

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/umbel-filters/umbel"
)

// Sample is the result of the rounds of one measurement.
type Sample struct {
	Best   float64 `json:"best"` // the smallest time or the highest speed
	Median float64 `json:"median"`
}

// task is one measurement, a cell of a row. run returns one time; turn is the number of the
// turn in the round.
type task struct {
	row    *Row
	column string
	run    func(turn int) (float64, error)
}

// interleave runs all tasks alternately, in one warm-up round and the given number of
// counted rounds, each with the given number of turns. It calls before at the beginning of
// each round. Turns are short, so that a disturbance of the machine affects all tasks.
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

// summary returns the smallest and the median of times. It sorts times.
func summary(times []float64) Sample {
	slices.Sort(times)
	return Sample{Best: times[0], Median: times[len(times)/2]}
}

func timed(f func()) time.Duration {
	start := time.Now()
	f()
	return time.Since(start)
}

// inParts runs f concurrently on n equal parts of k, the first of them in the calling
// goroutine. It returns the time from the moment when all goroutines are ready to the moment
// when all are done.
func inParts(n int, k *keys, f func(*keys)) time.Duration {
	var ready, start, done atomic.Int64
	for i := 1; i < n; i++ {
		part := k.slice(i*k.n/n, (i+1)*k.n/n)
		go func() {
			ready.Add(1)
			await(&start, 1)
			f(part)
			done.Add(1)
		}()
	}
	first := k.slice(0, k.n/n)
	await(&ready, n-1)
	return timed(func() {
		start.Store(1)
		f(first)
		await(&done, n-1)
	})
}

// await waits until x is n. It spins, because waking a goroutine takes longer than an
// operation in cache.
func await(x *atomic.Int64, n int) {
	for spins := 0; x.Load() != int64(n); spins++ {
		if spins%1000 == 999 {
			runtime.Gosched()
		}
	}
}

// progress shows the current measurement on a terminal. It writes nothing to other files.
// Its methods are safe for concurrent use.
type progress struct {
	scope string // path of the case

	terminal *os.File // nil to show nothing
	mu       sync.Mutex
}

func newProgress(f *os.File) *progress {
	p := &progress{}
	if info, err := f.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
		p.terminal = f
	}
	return p
}

// show replaces the line.
func (p *progress) show(format string, args ...any) {
	if p.terminal == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	fmt.Fprintf(p.terminal, "\r\x1b[K%s: %s", p.scope, fmt.Sprintf(format, args...))
}

// clear deletes the line.
func (p *progress) clear() {
	if p.terminal != nil {
		fmt.Fprint(p.terminal, "\r\x1b[K")
	}
}

// The loops of all contestants. They are small enough to be inlined together with the
// function literal that is their argument, so each use is a loop around a direct call.

func eachHash(k *keys, do func(uint64)) {
	for _, h := range k.hashes {
		do(h)
	}
}

func countHashes(k *keys, has func(uint64) bool) (n int) {
	for _, h := range k.hashes {
		if has(h) {
			n++
		}
	}
	return n
}

func eachDigest(k *keys, do func(umbel.Digest)) {
	for _, d := range k.digests {
		do(d)
	}
}

func countDigests(k *keys, has func(umbel.Digest) bool) (n int) {
	for _, d := range k.digests {
		if has(d) {
			n++
		}
	}
	return n
}

func eachKey(k *keys, do func([]byte)) {
	for i := range k.n {
		do(k.at(i))
	}
}

func countKeys(k *keys, has func([]byte) bool) (n int) {
	for i := range k.n {
		if has(k.at(i)) {
			n++
		}
	}
	return n
}

// eachBatch calls do with the bounds of each batch of n keys.
func eachBatch(n int, do func(i, j int)) {
	for i := 0; i < n; i += batch {
		do(i, min(i+batch, n))
	}
}

package main

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
)

// nearKeys is the largest number of keys of a filter that is emptied and filled
// again for each timing of additions.
const nearKeys = 1 << 20

// pool is where an operation takes its keys from.
type pool uint8

const (
	fresh   pool = iota // not in the filter yet
	present             // in the filter
	missing             // never added
)

// operation is a column of the table: what is timed.
type operation struct {
	name string
	pool pool
	// loop returns nil where the subject can't do it.
	loop func(*subject) func(*keys)
	// undoes says that the keys are to be added again afterwards, untimed.
	undoes bool
}

// singleOps and sharedOps are what is timed by one goroutine and by two, removeOps
// what is where keys can be removed. Those of one group are timed in the same turns, so that they can be compared with each
// other too.
var (
	singleOps = [][]operation{
		{
			{name: "add", pool: fresh, loop: func(s *subject) func(*keys) { return s.add }},
			{name: "batch add", pool: fresh, loop: func(s *subject) func(*keys) { return s.addBatch }},
		}, {
			{name: "hit", pool: present, loop: func(s *subject) func(*keys) { return asking(s.has) }},
			{name: "batch hit", pool: present, loop: func(s *subject) func(*keys) { return s.hasBatch }},
		}, {
			{name: "miss", pool: missing, loop: func(s *subject) func(*keys) { return asking(s.has) }},
			{name: "batch miss", pool: missing, loop: func(s *subject) func(*keys) { return s.hasBatch }},
		},
	}
	removeOps = append(singleOps[:len(singleOps):len(singleOps)], []operation{
		{name: "remove", pool: present, loop: func(s *subject) func(*keys) { return asking(s.remove) }, undoes: true},
	})
	sharedOps = [][]operation{
		{
			{name: "add", pool: fresh, loop: func(s *subject) func(*keys) { return s.addShared }},
			{name: "batch add", pool: fresh, loop: func(s *subject) func(*keys) { return s.addSharedBatch }},
		},
		{{name: "hit", pool: present, loop: func(s *subject) func(*keys) { return asking(s.hasShared) }}},
		{{name: "miss", pool: missing, loop: func(s *subject) func(*keys) { return asking(s.hasShared) }}},
	}
)

// answered takes the answers of loops, so that none is left out.
var answered atomic.Int64

func asking(has func(*keys) int) func(*keys) {
	if has == nil {
		return nil
	}
	return func(k *keys) { answered.Add(int64(has(k))) }
}

// match is a case while it runs.
type match struct {
	filterCase
	options
	*progress
	entrants []*entrant

	pools [3]*keys
	turns int    // of a round
	piece int    // keys of a turn, of a filter that isn't near
	next  uint64 // the first key that no filter has
}

// near reports whether filters are emptied and filled again.
func (m *match) near() bool { return m.keys <= nearKeys }

// mostPiece is the largest number of keys of one timing of a filter that isn't near.
const mostPiece = 100_000

// prepare makes the keys; filters that aren't filled again and again it fills as
// far as the timings leave to do. Additions are so many operations.
func (m *match) prepare(adds int) {
	n := int(m.keys)
	if m.near() {
		m.turns = max(1, m.timedNear/n)
		m.pools = [3]*keys{makeKeys(m.input, 0, n), makeKeys(m.input, 0, n), makeKeys(m.input, absent, n)}
		m.pools[present].scatter(m.keys)
		return
	}
	rounds := m.rounds + 1
	n = min(m.timedFar, n/(2*rounds*adds)) // at most half of the keys are added while timed
	m.piece = min(n, mostPiece)
	m.turns = n / m.piece
	n = m.turns * m.piece
	m.pools = [3]*keys{makeKeys(m.input, 0, n*adds), makeKeys(m.input, 0, n), makeKeys(m.input, absent, n)}
	m.next = m.keys - uint64(rounds*n*adds)
	m.pools[present].scatter(m.next)
	m.fill()
}

// fill adds all keys before next to all filters, several filters at a time.
func (m *match) fill() {
	var wait sync.WaitGroup
	var left atomic.Int64
	left.Store(int64(len(m.entrants)))
	work := make(chan *entrant)
	for range runtime.GOMAXPROCS(0) {
		wait.Go(func() {
			for e := range work {
				if e.role == filter {
					m.show("fill %d filters", left.Load())
					const chunk = 1 << 16
					k := makeKeys(m.input, 0, chunk)
					for i := uint64(0); i < m.next; i += chunk {
						k.renumber(i)
						e.fill(k.slice(0, int(min(chunk, m.next-i))))
					}
				}
				left.Add(-1)
			}
		})
	}
	for _, e := range m.entrants {
		work <- e
	}
	close(work)
	wait.Wait()
	runtime.GC()
}

// measure fills the columns of a group of operations.
func (m *match) measure(group []operation) error {
	var tasks []task
	idle := make([][]*entrant, len(group)) // that have no such operation
	for i, op := range group {
		for _, e := range m.entrants {
			loop := op.loop(e.subject)
			if loop == nil || e.role == static && op.pool == fresh {
				idle[i] = append(idle[i], e)
				continue
			}
			tasks = append(tasks, task{e.row, op.name, func(turn int) (float64, error) {
				if m.near() {
					return m.timeNear(op, e, loop), nil
				}
				return m.clock(op, e, loop, m.part(op.pool, turn, i, len(group))), nil
			}})
		}
	}
	return interleave(m.rounds, m.turns, m.progress, tasks, func() {
		if group[0].pool == fresh && !m.near() {
			m.freshKeys(idle)
		}
	})
}

// freshKeys makes the keys of a round of additions, as many for each operation, and
// gives them to those filters that take no part in it.
func (m *match) freshKeys(idle [][]*entrant) {
	k := m.pools[fresh]
	k.renumber(m.next)
	m.next += uint64(k.n)
	for turn := range m.turns {
		for i, es := range idle {
			part := m.part(fresh, turn, i, len(idle))
			for _, e := range es {
				if e.role == filter {
					e.fill(part)
				}
			}
		}
	}
}

// part returns the keys of a far filter's turn with operation i of so many. No two
// operations have the same keys near each other: to add, since they would be there,
// to ask, since they would be in cache.
func (m *match) part(from pool, turn, i, of int) *keys {
	at := (turn + i*m.turns/of) % m.turns
	if from == fresh {
		at = i*m.turns + turn
	}
	return m.pools[from].slice(at*m.piece, (at+1)*m.piece)
}

// timeNear returns the time of an operation with all keys, after making the filter
// near.
func (m *match) timeNear(op operation, e *entrant, loop func(*keys)) float64 {
	k := m.pools[op.pool]
	switch {
	case op.pool != fresh:
		m.clock(op, e, loop, k)
	case e.role == filter:
		e.clear()
	}
	return m.clock(op, e, loop, k)
}

// clock returns the time of an operation's loop in ns per key.
func (m *match) clock(op operation, e *entrant, loop func(*keys), k *keys) float64 {
	if op.undoes {
		defer e.fill(k)
	}
	if m.shared {
		return perKey(inTwo(k, loop), k.n)
	}
	return perKey(timed(func() { loop(k) }), k.n)
}

// verify measures the rates and checks that keys which were added are found and
// that both ways of asking agree: times of a filter that errs count for nothing.
func (m *match) verify() error {
	k := makeKeys(m.input, absent, min(m.trials, 1<<16))
	for _, e := range m.entrants {
		if e.role == floor {
			continue
		}
		m.show("verify %s", e.row.Name)
		for _, p := range []pool{fresh, present} {
			if err := found(e, m.pools[p]); err != nil {
				return fmt.Errorf("%s: %s: %w", m.path(), e.row.Name, err)
			}
		}
		asked, yes := 0, 0
		for asked < m.trials {
			k.renumber(absent + uint64(asked))
			n := e.has(k)
			if e.hasBatch != nil {
				if e.hasBatch(k); k.yes() != n {
					return fmt.Errorf("%s: %s: %d of %d absent keys are there one by one, %d by batch", m.path(), e.row.Name, n, k.n, k.yes())
				}
			}
			yes += n
			asked += k.n
		}
		e.row.BitsPerKey = float64(e.size()) / float64(m.keys)
		e.row.Rate = float64(yes) / float64(asked)
		e.row.Sigma = math.Sqrt(e.row.Rate * (1 - e.row.Rate) / float64(asked))
		if m.near() && e.role == filter && e.grown == nil {
			e.row.Allocs = m.allocations(e)
		}
	}
	return nil
}

// found returns an error unless all keys are in the filter.
func found(e *entrant, k *keys) error {
	if n := e.has(k); n != k.n {
		return fmt.Errorf("%d of %d keys that were added are missing", k.n-n, k.n)
	}
	if e.hasBatch != nil {
		if e.hasBatch(k); k.yes() != k.n {
			return fmt.Errorf("%d of %d keys that were added are missing when asked by batch", k.n-k.yes(), k.n)
		}
	}
	return nil
}

// allocations returns the number of allocations in adding and asking the keys of
// a pool by all ways there are.
func (m *match) allocations(e *entrant) *float64 {
	total := 0.0
	for _, op := range slices.Concat(m.ops...) {
		if loop := op.loop(e.subject); loop != nil {
			total += testing.AllocsPerRun(1, func() { m.clock(op, e, loop, m.pools[op.pool]) })
		}
	}
	return &total
}

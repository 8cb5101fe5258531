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

// nearKeys is the largest number of keys of a filter that is cleared and filled for each
// timing of additions.
const nearKeys = 1 << 20

// pool is the set from which an operation takes its keys.
type pool uint8

const (
	fresh   pool = iota // not in the filter yet
	present             // in the filter
	missing             // never added
)

// operation is a timed operation, a column of the table.
type operation struct {
	name string
	pool pool
	// loop returns nil if the subject does not support the operation.
	loop func(*subject) func(*keys)
	// removes is true if the keys must be added again afterwards, untimed.
	removes bool
}

// singleOps contains the operations of one goroutine, sharedOps those of several goroutines,
// and removeOps those of filters with removal. The operations of a group are timed in the
// same turns, so they can be compared with each other.
var (
	singleOps = [][]operation{
		{
			{name: "add", pool: fresh, loop: func(s *subject) func(*keys) { return s.add }},
			{name: "batch add", pool: fresh, loop: func(s *subject) func(*keys) { return s.addBatch }},
		}, {
			{name: "hit", pool: present, loop: func(s *subject) func(*keys) { return counted(s.has) }},
			{name: "batch hit", pool: present, loop: func(s *subject) func(*keys) { return s.hasBatch }},
		}, {
			{name: "miss", pool: missing, loop: func(s *subject) func(*keys) { return counted(s.has) }},
			{name: "batch miss", pool: missing, loop: func(s *subject) func(*keys) { return s.hasBatch }},
		},
	}
	removeOps = append(singleOps[:len(singleOps):len(singleOps)], []operation{
		{name: "remove", pool: present, loop: func(s *subject) func(*keys) { return counted(s.remove) }, removes: true},
	})
	sharedOps = [][]operation{
		{
			{name: "add", pool: fresh, loop: func(s *subject) func(*keys) { return s.addShared }},
			{name: "batch add", pool: fresh, loop: func(s *subject) func(*keys) { return s.addSharedBatch }},
		},
		{{name: "hit", pool: present, loop: func(s *subject) func(*keys) { return counted(s.hasShared) }}},
		{{name: "miss", pool: missing, loop: func(s *subject) func(*keys) { return counted(s.hasShared) }}},
	}
)

// sink receives the results of loops, so that the compiler keeps them.
var sink atomic.Int64

func counted(has func(*keys) int) func(*keys) {
	if has == nil {
		return nil
	}
	return func(k *keys) { sink.Add(int64(has(k))) }
}

// match is a running case.
type match struct {
	filterCase
	options
	*progress
	entrants []*entrant

	pools [3]*keys
	turns int    // per round
	piece int    // keys per turn, if the filter is not near
	next  uint64 // number of the first key that is in no filter
}

// near reports whether the filters are cleared and filled for each timing.
func (m *match) near() bool { return m.keys <= nearKeys }

// maxPiece is the largest number of keys of one timing of a filter that is not near.
const maxPiece = 100_000

// prepare makes the keys. If the filters are not near, it adds all keys except those that
// are added while timed. adds is the number of timed operations that add.
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
	m.piece = min(n, maxPiece)
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
	idle := make([][]*entrant, len(group)) // entrants without the operation
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

// freshKeys makes the keys of a round of additions, equally many for each operation, and
// adds them to the filters that do not have the operation.
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

// part returns the keys of a turn with operation i of n, for filters that are not near. The
// operations use the same keys at different times, because a second addition would find
// the key present, and a second query would find it in cache.
func (m *match) part(from pool, turn, i, n int) *keys {
	at := (turn + i*m.turns/n) % m.turns
	if from == fresh {
		at = i*m.turns + turn
	}
	return m.pools[from].slice(at*m.piece, (at+1)*m.piece)
}

// timeNear returns the time of an operation with all keys, after loading the filter into
// cache.
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

// clock returns the time of the loop of an operation in ns per key.
func (m *match) clock(op operation, e *entrant, loop func(*keys), k *keys) float64 {
	if op.removes {
		defer e.fill(k)
	}
	if m.goroutines != 0 {
		return perKey(inParts(m.goroutines, k, loop), k.n)
	}
	return perKey(timed(func() { loop(k) }), k.n)
}

// verify measures the rates. It returns an error if an added key is missing or if single
// and batch queries disagree.
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
		queries, positives := 0, 0
		for queries < m.trials {
			k.renumber(absent + uint64(queries))
			n := e.has(k)
			if e.hasBatch != nil {
				if e.hasBatch(k); k.positives() != n {
					return fmt.Errorf("%s: %s: %d of %d absent keys are positive in single queries, %d in batches", m.path(), e.row.Name, n, k.n, k.positives())
				}
			}
			positives += n
			queries += k.n
		}
		e.row.BitsPerKey = float64(e.size()) / float64(m.keys)
		e.row.Rate = float64(positives) / float64(queries)
		e.row.Sigma = math.Sqrt(e.row.Rate * (1 - e.row.Rate) / float64(queries))
		if m.near() && e.role == filter && e.grown == nil {
			e.row.Allocs = m.allocations(e)
		}
	}
	return nil
}

// found returns an error unless the filter contains all keys.
func found(e *entrant, k *keys) error {
	if n := e.has(k); n != k.n {
		return fmt.Errorf("%d of %d added keys are missing", k.n-n, k.n)
	}
	if e.hasBatch != nil {
		if e.hasBatch(k); k.positives() != k.n {
			return fmt.Errorf("%d of %d added keys are missing in batch queries", k.n-k.positives(), k.n)
		}
	}
	return nil
}

// allocations returns the number of allocations of all operations that the subject
// supports.
func (m *match) allocations(e *entrant) *float64 {
	total := 0.0
	for _, op := range slices.Concat(m.ops...) {
		if loop := op.loop(e.subject); loop != nil {
			total += testing.AllocsPerRun(1, func() { m.clock(op, e, loop, m.pools[op.pool]) })
		}
	}
	return &total
}

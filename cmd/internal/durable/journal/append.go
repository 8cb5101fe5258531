package journal

import (
	"context"
	"sync"
	"time"

	"github.com/umbel-filters/umbel/cmd/internal/durable/changes"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
)

// batch is a batch that collects changes or waits to be written.
type batch struct {
	changes.Batch
	number       uint64        // in the log; 0 until it is written
	since        time.Time     // of its first change
	begun, ended []*longPart   // long changes that begin or end in it
	settled      chan struct{} // closed when it is committed, and when that fails
	scope        []byte        // see changes.Scope
}

// batches contains batches that were committed, whose memory is used again. The garbage collector frees
// those that are not: they would be a large part of the memory of a node with small filters.
var batches = sync.Pool{New: func() any {
	return &batch{Batch: changes.Batch{Bytes: make([]byte, 0, changes.MaxBatch)}}
}}

// Room waits while 64 MiB or more are queued. It returns an error at once if nothing can be written (see
// Ready), and when ctx is done.
func (j *Journal) Room(ctx context.Context) error {
	for j.crowded.Load() {
		j.mu.Lock()
		freed := j.freed
		j.mu.Unlock()
		if err := j.Ready(); err != nil {
			return err
		}
		if freed == nil {
			continue
		}
		select {
		case <-freed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return j.Ready()
}

// HasRoom reports whether Room would return at once.
func (j *Journal) HasRoom() bool { return !j.crowded.Load() }

// updateRoom notes whether there is room, and wakes those who wait for it. The caller holds mu.
func (j *Journal) updateRoom() {
	crowded := len(j.full) >= maxFull && !j.closed
	if crowded && j.freed == nil {
		j.freed = make(chan struct{})
	}
	j.crowded.Store(crowded)
	if !crowded {
		j.wakeRoom()
	}
}

// wakeRoom wakes those who wait for room. The caller holds mu.
func (j *Journal) wakeRoom() {
	if j.freed != nil {
		close(j.freed)
		j.freed = nil
	}
	if j.crowded.Load() {
		j.freed = make(chan struct{})
	}
}

// Append queues a change and returns its position. It does not wait.
func (j *Journal) Append(c engine.Change) engine.Position {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.o.Durability == None {
		return j.take()
	}
	if changes.IsLong(&c) {
		return j.appendLong(c)
	}
	for ds := c.Digests; ; {
		c.Digests = ds[:min(len(ds), changes.MaxDigests)]
		if b := j.reserve(changes.MaxBytes(&c)); b != nil {
			b.Append(&c)
			j.wakeIfLong(b)
		}
		pos := j.take()
		if ds = ds[len(c.Digests):]; len(ds) == 0 {
			return pos
		}
	}
}

// appendLong queues a change of several records. (In Append, the change would be allocated.) The caller
// holds mu.
func (j *Journal) appendLong(c engine.Change) engine.Position {
	l := longChange{j: j, filter: c.Filter}
	j.writing = c
	_ = l.write(&j.writing, j.put) // a closed journal keeps nothing
	j.writing = engine.Change{}
	return l.end((*batch).End)
}

// take takes the next position. The caller holds mu.
func (j *Journal) take() engine.Position { return engine.Position(j.last.Add(1)) }

// put appends a record of at most n bytes that ends no change. The caller holds mu.
func (j *Journal) put(n int, write func(*batch)) error {
	b := j.reserve(n)
	if b == nil {
		return errClosed
	}
	write(b)
	j.wakeIfLong(b)
	return nil
}

// reserve returns the batch that has room for n bytes, or nil if the journal is closed. The caller
// holds mu.
func (j *Journal) reserve(n int) *batch {
	if j.closed {
		return nil
	}
	if b := j.active; b != nil {
		if len(b.Bytes)+n <= changes.MaxBatch {
			return b
		}
		j.full = append(j.full, b)
		j.active = nil
		j.updateRoom()
		j.wake()
	}
	return j.newBatch()
}

// newBatch begins a batch. The caller holds mu.
func (j *Journal) newBatch() *batch {
	if j.o.Growing != nil {
		j.o.Growing(j.queuedBytes(), j.bytes)
	}
	b := batches.Get().(*batch)
	b.settled = make(chan struct{})
	b.Start(j.Last()+1, j.session)
	j.session = false
	j.active = b
	b.since = time.Now()
	j.wake()
	return b
}

// wakeIfLong wakes the writer if b is long enough to be written. The caller holds mu.
func (j *Journal) wakeIfLong(b *batch) {
	if j.sleeping && len(b.Bytes) >= flushBytes {
		j.wake()
	}
}

// wake makes the writer look again. The caller holds mu.
func (j *Journal) wake() {
	if j.sleeping {
		j.sleeping = false
		j.woken <- struct{}{}
	}
}

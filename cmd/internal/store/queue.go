package store

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/oplog"
)

// ErrClosed: the store was closed, and keeps nothing any more.
var ErrClosed = errors.New("store: closed")

const (
	// maxFull is the number of full batches from which Room waits: 64 MiB.
	maxFull = 64 << 20 / oplog.MaxBatch
	// enough is how many bytes go to the log though nobody waits for them.
	enough = 64 << 10
	// lazy is how long changes wait for company that nobody waits for. With the time that
	// the disk takes it is less than the second of EverySec, which is patient.
	lazy    = time.Second / 2
	patient = time.Second
	// maxSpare is how many batches' memory is kept for the next.
	maxSpare = 4
)

// queue is the changes that are not in the log yet. A single goroutine, keep, takes them
// from it, one batch at a time.
type queue struct {
	durability Durability
	delay      time.Duration
	failed     func(error) // is called with the error of each failed write

	last     atomic.Uint64         // position appended last; written with mu held
	kept     atomic.Uint64         // position of the last change in the log; written with mu held
	trouble  atomic.Pointer[error] // why the last write failed; nil if it succeeded
	blocked  atomic.Pointer[error] // why nothing is to be appended, though writes may succeed
	closing  atomic.Bool           // as closed
	crowded  atomic.Bool           // there is no room; written with mu held
	hasTaken chan struct{}         // one message: there is something to do

	mu      sync.Mutex
	freed   chan struct{}   // closed when crowded ends, or when waiting is pointless
	active  *batch          // being filled; nil if nothing waits
	full    []*batch        // to be written, in order
	flight  *batch          // being written
	spare   []*batch        // whose memory is free
	wanted  engine.Position // the last that somebody waits for
	asked   time.Time       // when that began
	dozing  bool            // keep waits for hasTaken
	closed  bool            // nothing is taken any more
	over    bool            // keep has ended
	session bool            // the next batch is the first of the process
	batch   uint64          // number of the last batch in the log
	rows    map[*row]struct{}
	commits uint64
	bytes   uint64
}

func newQueue(o Options, last engine.Position, batch uint64) *queue {
	q := &queue{
		durability: o.Durability, delay: o.CommitDelay, batch: batch, session: true,
		failed: func(error) {}, hasTaken: make(chan struct{}, 1), rows: make(map[*row]struct{}),
	}
	q.last.Store(uint64(last))
	q.kept.Store(uint64(last))
	return q
}

// ready returns why nothing is to be appended, nil if it may.
func (q *queue) ready() error {
	if q.closing.Load() {
		return ErrClosed
	}
	if p := q.blocked.Load(); p != nil {
		return *p
	}
	return q.err()
}

// block makes ready return err until unblock. What is queued is still written.
func (q *queue) block(err error) { q.blocked.Store(&err) }

func (q *queue) unblock() { q.blocked.Store(nil) }

// err returns why nothing can be kept, nil if it can.
func (q *queue) err() error {
	if p := q.trouble.Load(); p != nil {
		return *p
	}
	return nil
}

// room waits while maxFull batches or more wait to be written. It returns at once if none can be
// written: see ready.
func (q *queue) room(ctx context.Context) error {
	for q.crowded.Load() {
		q.mu.Lock()
		freed := q.freed
		q.mu.Unlock()
		if err := q.ready(); err != nil {
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
	return q.ready()
}

// crowd notes whether there is room, and wakes who waits for it. Called with mu held.
func (q *queue) crowd() {
	crowded := len(q.full) >= maxFull && !q.closed
	if crowded && q.freed == nil {
		q.freed = make(chan struct{})
	}
	q.crowded.Store(crowded)
	if !crowded {
		q.release()
	}
}

// release wakes who waits for room. Called with mu held.
func (q *queue) release() {
	if q.freed != nil {
		close(q.freed)
		q.freed = nil
	}
	if q.crowded.Load() {
		q.freed = make(chan struct{})
	}
}

// append queues a change. It never waits: whoever changes filters calls room before, without locks.
func (q *queue) append(c engine.Change) engine.Position {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.durability == None {
		return q.next()
	}
	if isLong(&c) {
		return q.appendLong(c)
	}
	if c.Op != engine.OpAdd && c.Op != engine.OpRemove {
		b := q.reserve(maxFixed + len(c.Name) + len(c.Data))
		if b != nil {
			b.short(&c)
			q.grown(b)
		}
		return q.next()
	}
	for ds := c.Digests; ; {
		n := min(len(ds), maxDigests)
		b := q.reserve(maxFixed + n*digestBytes)
		if b != nil {
			b.digests(c.Op, c.Filter, ds[:n])
			q.grown(b)
		}
		pos := q.next()
		if ds = ds[n:]; len(ds) == 0 {
			return pos
		}
	}
}

// next takes the next position. Called with mu held.
func (q *queue) next() engine.Position { return engine.Position(q.last.Add(1)) }

// appendLong queues a change of several records. Called with mu held.
func (q *queue) appendLong(c engine.Change) engine.Position {
	l := longChange{q: q, filter: c.Filter}
	_ = l.write(&c, q.put) // a closed queue keeps nothing
	return l.end((*batch).end)
}

// put has a record of up to n bytes written, which ends no change. Called with mu held.
func (q *queue) put(n int, write func(*batch)) error {
	b := q.reserve(n)
	if b == nil {
		return ErrClosed
	}
	write(b)
	q.grown(b)
	return nil
}

// reserve returns the batch to which up to n bytes may go; nil if the queue is closed. Called with
// mu held.
func (q *queue) reserve(n int) *batch {
	if q.closed {
		return nil
	}
	if b := q.active; b != nil {
		if len(b.bytes)+n <= oplog.MaxBatch {
			return b
		}
		q.full = append(q.full, b)
		q.active = nil
		q.crowd()
		q.wake()
	}
	return q.fresh()
}

// fresh begins a batch. Called with mu held.
func (q *queue) fresh() *batch {
	var b *batch
	if n := len(q.spare); n > 0 {
		b = q.spare[n-1]
		q.spare = q.spare[:n-1]
	} else {
		b = &batch{bytes: make([]byte, 0, oplog.MaxBatch)}
	}
	b.settled = make(chan struct{})
	b.start(engine.Position(q.last.Load()+1), q.session)
	q.session = false
	q.active = b
	b.since = time.Now()
	q.wake()
	return b
}

// grown wakes keep when b has become long enough to be written. Called with mu held.
func (q *queue) grown(b *batch) {
	if q.dozing && len(b.bytes) >= enough {
		q.wake()
	}
}

// wake has keep look what there is to do. Called with mu held.
func (q *queue) wake() {
	if q.dozing {
		q.dozing = false
		q.hasTaken <- struct{}{}
	}
}

// wait returns when pos is in the log, or why it isn't.
func (q *queue) wait(ctx context.Context, pos engine.Position) error {
	q.mu.Lock()
	for q.kept.Load() < uint64(pos) {
		err := q.err()
		b := q.holder(pos)
		switch {
		case err == nil && b == nil && q.closed:
			err = ErrClosed
		case err == nil && b == nil:
			err = fmt.Errorf("store: nobody appended a change at position %d", pos)
		}
		if err != nil {
			q.mu.Unlock()
			return err
		}
		if pos > q.wanted {
			if q.wanted < b.first {
				q.asked = time.Now()
			}
			q.wanted = pos
			q.wake()
		}
		settled := b.settled
		q.mu.Unlock()
		select {
		case <-settled:
		case <-ctx.Done():
			return ctx.Err()
		}
		q.mu.Lock()
	}
	q.mu.Unlock()
	return nil
}

// holder returns the batch in which the change at pos ends. Called with mu held.
func (q *queue) holder(pos engine.Position) *batch {
	if q.flight != nil && pos <= q.flight.last {
		return q.flight
	}
	for _, b := range q.full {
		if pos <= b.last {
			return b
		}
	}
	if q.active != nil && pos <= q.active.last {
		return q.active
	}
	return nil
}

// settle tells all who wait to look again. Called with mu held.
func (q *queue) settle() {
	again := func(b *batch) {
		if b != nil {
			close(b.settled)
			b.settled = make(chan struct{})
		}
	}
	again(q.flight)
	again(q.active)
	for _, b := range q.full {
		again(b)
	}
}

// replayFrom returns the number of the batch from which all changes come that are not in
// the log now, and the position of the last that is.
func (q *queue) replayFrom() (uint64, engine.Position) {
	q.mu.Lock()
	defer q.mu.Unlock()
	from := q.batch + 1
	for r := range q.rows {
		if r.begin != 0 {
			from = min(from, r.begin)
		}
	}
	return from, engine.Position(q.kept.Load())
}

// pending returns how many bytes are not in the log, and how old the first of them is.
func (q *queue) pending() (n uint64, lag time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, b := range append([]*batch{q.flight, q.active}, q.full...) {
		if b != nil {
			n += uint64(len(b.bytes))
		}
	}
	return n, q.lag()
}

// lag returns how old the first change is that isn't in the log. Called with mu held.
func (q *queue) lag() time.Duration {
	first := q.flight
	switch {
	case first != nil:
	case len(q.full) > 0:
		first = q.full[0]
	case q.active != nil:
		first = q.active
	default:
		return 0
	}
	return time.Since(first.since)
}

// late reports whether changes aren't on the disk within the second that EverySec gives them.
func (q *queue) late() bool {
	if q.closing.Load() {
		return true
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.lag() > patient
}

// written returns how many bytes of batches went to the log since the process began.
func (q *queue) written() uint64 {
	_, bytes := q.counts()
	return bytes
}

// counts returns how many batches and bytes went to the log since the process began.
func (q *queue) counts() (batches, bytes uint64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.commits, q.bytes
}

package store

import (
	"context"

	"github.com/umbel-filters/umbel/cmd/internal/engine"
)

// longChange is a change that is written as several records. Those of other changes may be between
// them. It is made by its end; until then, and if it is aborted, nobody sees it.
type longChange struct {
	q      *queue
	filter uint64
	row    row
	begun  bool
}

// begin writes all records of a change except the end. It waits for room, without a lock. If the
// log fails meanwhile it aborts the change and returns the error.
func (q *queue) begin(ctx context.Context, c *engine.Change) (*longChange, error) {
	l := &longChange{q: q, filter: c.Filter}
	if q.durability == None {
		return l, nil
	}
	err := l.write(c, func(n int, write func(*batch)) error {
		if err := q.room(ctx); err != nil {
			return err
		}
		q.mu.Lock()
		defer q.mu.Unlock()
		return q.put(n, write)
	})
	if err != nil {
		l.Abort()
		return nil, err
	}
	return l, nil
}

// write passes the records to put, straight from the memory of the change.
func (l *longChange) write(c *engine.Change, put func(n int, write func(*batch)) error) error {
	head := longHead(c)
	err := put(maxFixed, func(b *batch) {
		b.begin(c, len(head))
		b.begun = append(b.begun, &l.row)
		l.q.rows[&l.row] = struct{}{}
		l.begun = true
	})
	for err == nil && len(head) > 0 {
		piece := head[:min(len(head), maxPiece)]
		head = head[len(piece):]
		err = put(maxFixed+len(piece), func(b *batch) { b.head(c.Filter, piece) })
	}
	if c.State == nil {
		return err
	}
	for i, p := range planes(c.State) {
		if err != nil {
			break
		}
		runs(p.Words, func(offset uint64, run []uint64) bool {
			err = put(maxFixed+len(run)*8, func(b *batch) { b.cells(c.Filter, i, offset, run) })
			return err == nil
		})
	}
	return err
}

// End makes the change. It does not wait.
func (l *longChange) End() engine.Position {
	l.q.mu.Lock()
	defer l.q.mu.Unlock()
	return l.end((*batch).end)
}

// Abort discards the change. It takes a position, because the ID of a filter that was not made
// must not be higher than all positions. It does not wait.
func (l *longChange) Abort() {
	l.q.mu.Lock()
	defer l.q.mu.Unlock()
	if l.begun {
		l.end((*batch).abort)
	}
}

// end writes the last record and returns its position. Called with mu held.
func (l *longChange) end(record func(*batch, uint64)) engine.Position {
	if l.begun {
		if b := l.q.reserve(maxFixed); b != nil {
			record(b, l.filter)
			b.ended = append(b.ended, &l.row)
			l.q.grown(b)
		}
	}
	return l.q.next()
}

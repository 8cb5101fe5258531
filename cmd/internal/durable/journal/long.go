package journal

import (
	"context"

	"github.com/umbel-filters/umbel/cmd/internal/durable/changes"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
)

// longChange is a change that is written as several records. Those of other changes may be between
// them. Its end makes it; until then, and if it is aborted, it has no effect.
type longChange struct {
	j      *Journal
	filter uint64
	part   longPart
	begun  bool
}

// longPart is the part of a long change that is queued or in the log.
type longPart struct {
	number uint64 // of the batch in which it begins, 0 before that is in the log
}

// Begin queues a long change except its end. It waits for room, and returns an error if the log fails or
// the journal is closed meanwhile. See engine.Journal.
func (j *Journal) Begin(c engine.Change) (engine.LongChange, error) {
	l := &longChange{j: j, filter: c.Filter}
	if j.o.Durability == None {
		return l, nil
	}
	err := l.write(&c, func(n int, write func(*batch)) error {
		if err := j.Room(context.Background()); err != nil {
			return err
		}
		j.mu.Lock()
		defer j.mu.Unlock()
		return j.put(n, write)
	})
	if err != nil {
		l.Abort()
		return nil, err
	}
	return l, nil
}

// write passes the records to put, straight from the memory of the change.
func (l *longChange) write(c *engine.Change, put func(n int, write func(*batch)) error) error {
	return changes.WriteLong(c, func(n int, write func(*changes.Batch)) error {
		return put(n, func(b *batch) {
			write(&b.Batch)
			if !l.begun {
				l.begun = true
				b.begun = append(b.begun, &l.part)
				l.j.long[&l.part] = struct{}{}
			}
		})
	})
}

// End makes the change. It does not wait.
func (l *longChange) End() engine.Position {
	l.j.mu.Lock()
	defer l.j.mu.Unlock()
	return l.end((*batch).End)
}

// Abort discards the change. It takes a position, because the ID of a filter that was not made must not
// be higher than all positions. It does not wait.
func (l *longChange) Abort() {
	l.j.mu.Lock()
	defer l.j.mu.Unlock()
	if l.begun {
		l.end((*batch).Abort)
	}
}

// end appends the last record and returns its position. The caller holds mu.
func (l *longChange) end(record func(*batch, uint64)) engine.Position {
	if l.begun {
		if b := l.j.reserve(changes.EndBytes); b != nil {
			record(b, l.filter)
			b.ended = append(b.ended, &l.part)
			l.j.wakeIfLong(b)
		}
	}
	return l.j.take()
}

package wal

import (
	"context"
	"errors"
	"fmt"

	"github.com/umbel-filters/umbel/cmd/internal/durable/disk"
	"github.com/umbel-filters/umbel/internal/event"
)

// hole is the error of entries that are lost.
func hole(first, last uint64, why string) error {
	if first == last {
		return fmt.Errorf("%w: batch %d: %s", ErrHole, first, why)
	}
	return fmt.Errorf("%w: batches %d to %d: %s", ErrHole, first, last, why)
}

// Read calls each with the durable batches from a number on, in order. Every batch is checked: its
// number, its sum and the hash of the batch before. The error wraps ErrHole if a batch is missing or
// altered, also if from is less than the first number or more than one after the last one. The batch is
// valid until each returns; an error of each, or of ctx, ends Read.
func (l *Log) Read(ctx context.Context, from uint64, each func(number uint64, batch []byte) error) error {
	return l.ReadOver(ctx, from, each, func(h Hole) error { return h.Err })
}

// ReadOver is Read for callers that accept losses: it calls lost with each hole, in order among the batches, and
// continues after the hole. Propose then
// continues after the hole at the end, and its batch proves that the loss was accepted. Other holes
// are reported again until Purge removes them.
func (l *Log) ReadOver(ctx context.Context, from uint64, each func(number uint64, batch []byte) error, lost func(Hole) error) error {
	from = max(from, 1)
	l.mu.Lock()
	if l.closed {
		l.mu.Unlock()
		return errClosed
	}
	l.readers++
	first, last, atEnd := l.first, l.last(), l.lost
	segments := append([]*segment(nil), l.segments...)
	l.mu.Unlock()
	defer l.endRead()
	switch {
	case from < first:
		if err := lost(Hole{First: from, Last: first - 1, Err: hole(from, first-1, fmt.Sprintf("they were removed: the log begins with %d", first))}); err != nil {
			return err
		}
		from = first
	case from > last+1:
		if err := lost(Hole{First: last + 1, Last: from - 1, Err: hole(last+1, from-1, fmt.Sprintf("the log ends with %d", last))}); err != nil {
			return err
		}
		l.accept(from - 1)
		return nil
	}
	r := reader{ctx: ctx, next: from, last: last, scopes: make(scopes), each: each, lost: lost}
	if err := r.segments(l.dir, segments); err != nil {
		return err
	}
	if r.next <= last && r.good.index < last {
		if err := r.gap(last, "they are missing at the end of the log"); err != nil {
			return err
		}
	} else if errors.Is(atEnd, errNoHead) || errors.Is(atEnd, errForeign) || errors.Is(atEnd, errUnread) {
		if err := lost(Hole{First: last + 1, Last: last, Err: atEnd}); err != nil {
			return err
		}
	}
	l.accept(last)
	return nil
}

// accept allows entries after an index to be written although others are lost.
func (l *Log) accept(floor uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lost = nil
	l.floor = max(l.floor, floor)
}

// endRead notes the end of a Read, and removes the files that it held.
func (l *Log) endRead() {
	l.mu.Lock()
	l.readers--
	idle := l.readers == 0
	l.mu.Unlock()
	if !idle {
		return
	}
	l.syncing.Lock()
	defer l.syncing.Unlock()
	if err := l.collect(); err != nil {
		l.o.Log.Warn("removing obsolete segments failed", event.CleanupFailed, "error", err)
	}
}

// reader checks the entries of a log one after the other.
type reader struct {
	ctx    context.Context
	next   uint64 // index that should come
	last   uint64 // index of the last entry that is read
	good   link   // the last entry that was right
	bad    error  // of the first bytes since then that were wrong
	each   func(number uint64, batch []byte) error
	lost   func(Hole) error
	scopes scopes // of entries whose frames were not found
}

// gap reports that the entries from r.next to last are lost.
func (r *reader) gap(last uint64, otherwise string) error {
	return r.lost(Hole{First: r.next, Last: last, Scopes: r.scopes.of(r.next, last), Err: hole(r.next, last, r.reason(otherwise))})
}

func (r *reader) reason(otherwise string) string {
	if r.bad != nil {
		return r.bad.Error()
	}
	return otherwise
}

func (r *reader) note(bad error) {
	if r.bad == nil {
		r.bad = bad
	}
}

// segments reads the segments that contain entries from r.next to r.last.
func (r *reader) segments(dir disk.Dir, all []*segment) error {
	for i, s := range all {
		end := r.last
		if i+1 < len(all) {
			if all[i+1].first <= r.next {
				continue
			}
			// What follows that entry was torn, or is damaged.
			if all[i+1].bad == nil {
				end = min(end, all[i+1].before.index)
			}
		}
		if s.bad != nil {
			r.note(s.bad)
			continue
		}
		if r.good.index >= r.last {
			return nil
		}
		if err := r.segment(dir, s, end); err != nil {
			return err
		}
	}
	return nil
}

// segment reads the entries of a segment up to the index end.
func (r *reader) segment(dir disk.Dir, s *segment, end uint64) (err error) {
	if end < s.first {
		return nil
	}
	f, err := dir.Open(s.name())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	scan := newScanner(f, s)
	scan.lost = r.scopes
	for r.good.index < end {
		f, ok, err := scan.next()
		if scan.bad != nil {
			r.note(fmt.Errorf("%s: %w", s.name(), scan.bad))
		}
		if err != nil || !ok {
			return err
		}
		if f.index > end {
			return nil
		}
		if err := r.entry(&f); err != nil {
			return err
		}
	}
	return nil
}

// entry checks an entry and passes it on, if it is one of those that are read.
func (r *reader) entry(f *found) error {
	if f.index < r.next && r.good.index < f.index {
		r.good, r.bad = f.link, nil
		return nil
	}
	if err := r.check(&f.frame); err != nil {
		return err
	}
	r.good, r.bad, r.next = f.link, nil, f.index+1
	if err := r.ctx.Err(); err != nil || f.what != batch {
		return err
	}
	return r.each(f.index, f.data)
}

// check reports the hole before an entry, if there is one.
func (r *reader) check(f *frame) error {
	switch {
	case f.before == r.good:
		return nil
	case f.before.index < r.next && r.good.index == 0:
		return nil // nothing before it was read
	case f.index < r.next:
		return r.odd(f.index, fmt.Sprintf("it comes after batch %d", r.good.index))
	case f.before.index == r.good.index:
		return r.odd(r.good.index, fmt.Sprintf("batch %d follows another one of this index", f.index))
	case f.before.index < r.next:
		if f.index == r.next && f.before.index < r.good.index {
			return r.odd(f.index, fmt.Sprintf("it names batch %d as the one before, and %d precedes it", f.before.index, r.good.index))
		}
		return nil // entries before the first that is wanted are lost
	}
	return r.gap(f.index-1, "they are missing in the middle of the log")
}

// odd reports an entry that is not the one that was durable.
func (r *reader) odd(index uint64, why string) error {
	return r.lost(Hole{First: index, Last: index, Err: hole(index, index, why)})
}

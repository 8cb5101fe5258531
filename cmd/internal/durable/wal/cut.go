package wal

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// Purge removes the batches before a number, which is at most one more than that of the last durable one.
// Their files are removed, or kept to be used again, when no Read is in progress.
func (l *Log) Purge(ctx context.Context, before uint64) error {
	_, err := l.syncing.do(ctx, func() (uint64, error) {
		err := l.cutFront(before)
		if err == nil {
			err = l.collect()
		}
		return 0, l.outcome(err, "purge")
	})
	return err
}

// StartAt makes an empty log begin with a number: what is before it is elsewhere. It returns an error if the log is not empty.
func (l *Log) StartAt(ctx context.Context, number uint64) error {
	_, err := l.syncing.do(ctx, func() (uint64, error) {
		l.mu.Lock()
		used := l.tip.index
		if used == 0 && l.lost == nil {
			l.tip.index, l.durable.index, l.head.durable.index = number-1, number-1, number-1
		}
		l.mu.Unlock()
		if used != 0 {
			return 0, fmt.Errorf("the log has batches up to %d, want none", used)
		}
		return 0, l.outcome(l.cutFront(number), "start")
	})
	return err
}

// cutFront is Purge, but leaves the files. Called with syncing held.
func (l *Log) cutFront(before uint64) error {
	if err := l.ready(); err != nil {
		return err
	}
	l.mu.Lock()
	first, last := l.first, l.last()
	l.mu.Unlock()
	switch {
	case before > last+1:
		return fmt.Errorf("batches before %d: the last durable one is %d", before, last)
	case before <= first:
		return nil
	}
	// The head has the new first index before the files are removed: what is missing after it is
	// lost, and what is missing before it is not.
	l.head.first = before
	if err := l.writeHead(); err != nil {
		return err
	}
	if err := l.headFile.sync(); err != nil {
		return l.die(err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.first = before
	return nil
}

// collect removes the files whose entries were all removed by Purge, or makes them spares. Called with syncing
// held.
func (l *Log) collect() error {
	if l.ready() != nil {
		return nil // the next Purge removes them
	}
	defer l.count()
	l.mu.Lock()
	var obsolete []*segment
	if l.readers == 0 {
		n := 0
		for n+1 < len(l.segments) && l.segments[n+1].first <= l.first {
			n++
		}
		obsolete = slices.Clone(l.segments[:n])
		l.segments = slices.Delete(l.segments, 0, n)
	}
	var remove []string
	most := maxSpare
	if l.frugal.Load() {
		most = 0
	}
	for len(l.spares) > most {
		remove = append(remove, l.spares[0])
		l.spares = l.spares[1:]
	}
	spare := most - len(l.spares)
	l.mu.Unlock()
	var errs []error
	for _, s := range obsolete {
		if spare > 0 && s.size == l.o.SegmentBytes && !l.dir.isUnread(s.name()) {
			err := l.dir.Rename(s.name(), s.spareName())
			errs = append(errs, err)
			if err == nil {
				spare--
				l.mu.Lock()
				l.spares = append(l.spares, s.spareName())
				l.mu.Unlock()
			}
			continue
		}
		remove = append(remove, s.name())
	}
	for _, name := range remove {
		errs = append(errs, l.dir.Remove(name))
	}
	if len(obsolete)+len(remove) > 0 {
		if err := l.dir.Sync(); err != nil {
			errs = append(errs, l.die(err))
		}
	}
	return errors.Join(errs...)
}

// Frugal makes the log take little room, or ends that: a new segment has only the room that its first entries
// need, and no file is kept to be used again. It is for a disk that is nearly full. Files that exist stay
// until Purge or Trim is called.
func (l *Log) Frugal(on bool) { l.frugal.Store(on) }

// Trim removes the files that are kept to be used again, for a disk that is full.
func (l *Log) Trim(ctx context.Context) error {
	_, err := l.writing.do(ctx, func() (uint64, error) { return 0, l.trim() })
	return err
}

// trim is Trim. Called with writing held.
func (l *Log) trim() error {
	if err := l.ready(); err != nil {
		return l.outcome(err, "trim")
	}
	l.mu.Lock()
	spares := slices.Clone(l.spares)
	l.spares = nil
	l.mu.Unlock()
	var errs []error
	for _, name := range spares {
		errs = append(errs, l.dir.Remove(name))
	}
	l.count()
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("trim: %w", err)
	}
	return nil
}

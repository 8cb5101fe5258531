package wal

import (
	"errors"
	"fmt"
	"slices"
)

// CutFront removes the entries before an index, which is at most one more than the last durable one.
// Their files are removed, or kept to be used again, when no Read is in progress.
func (l *Log) CutFront(before uint64) error {
	l.syncing.Lock()
	err := l.cutFront(before)
	l.syncing.Unlock()
	if err == nil {
		err = l.collect()
	}
	return l.outcome(err, "cut the front")
}

// cutFront is CutFront, but leaves the files. Called with syncing held.
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

// collect removes the files of which all entries were removed by CutFront, or makes them spares.
func (l *Log) collect() error {
	l.syncing.Lock()
	defer l.syncing.Unlock()
	if l.ready() != nil {
		return nil // the next CutFront removes them
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
	most := l.o.Spare
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
// until CutFront or Trim is called.
func (l *Log) Frugal(on bool) { l.frugal.Store(on) }

// Trim removes the files that are kept to be used again, for a disk that is full.
func (l *Log) Trim() error {
	l.writing.Lock()
	defer l.writing.Unlock()
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

// CutBack removes the entries after an index, which must not be less than that of Commit. It waits
// until no Read is in progress. Terms of other entries may then be written for the same indices.
func (l *Log) CutBack(after uint64) error {
	l.writing.Lock()
	defer l.writing.Unlock()
	l.syncing.Lock()
	defer l.syncing.Unlock()
	return l.outcome(l.cutBack(after), "cut the back")
}

func (l *Log) cutBack(after uint64) error {
	if err := l.ready(); err != nil {
		return err
	}
	if _, err := l.sync(); err != nil {
		return err
	}
	l.mu.Lock()
	for l.readers > 0 {
		l.idle.Wait()
	}
	first, last, commit, tip := l.first, l.last(), l.commit, l.tip
	l.mu.Unlock()
	switch {
	case after >= last:
		return nil
	case after < commit:
		return fmt.Errorf("batches after %d: batches up to %d are committed", after, commit)
	case after+1 < first:
		return fmt.Errorf("batches after %d: the log begins with %d", after, first)
	case tip.index < last:
		return fmt.Errorf("batches after %d: batches up to %d are lost", after, last)
	}
	tip, err := l.find(after)
	if err != nil {
		return err
	}
	// The head no longer requires the entries before they disappear. They do so when a segment
	// exists that continues after the last entry that is kept.
	l.head.durable = tip
	if err := l.seal(false); err != nil {
		return err
	}
	if err := l.dropAfter(tip); err != nil {
		return l.die(err) // some entries are gone and others are not: only Open finds out
	}
	return nil
}

// find returns the link to an entry.
func (l *Log) find(index uint64) (link, error) {
	l.mu.Lock()
	segments := slices.Clone(l.segments)
	l.mu.Unlock()
	i := len(segments) - 1
	for i > 0 && segments[i].before.index > index {
		i--
	}
	tip := segments[i].before
	file, err := l.dir.Open(segments[i].name())
	if err != nil {
		return tip, err
	}
	scan := newScanner(file, segments[i])
	for err == nil && tip.index < index {
		var f found
		var ok bool
		if f, ok, err = scan.next(); err == nil && (!ok || f.before != tip) {
			err = hole(index, index, "it is missing or altered")
		}
		tip = f.link
	}
	return tip, errors.Join(err, file.Close())
}

// dropAfter begins a segment after an entry and removes the later ones. Called with writing and
// syncing held.
func (l *Log) dropAfter(tip link) error {
	l.mu.Lock()
	segments := l.segments
	l.tip, l.durable, l.floor = tip, tip, tip.index
	l.mu.Unlock()
	if err := l.begin(tip.index+1, 0); err != nil {
		return err
	}
	for _, s := range slices.Backward(segments) {
		if s.first <= tip.index+1 {
			break
		}
		if err := l.dir.Remove(s.name()); err != nil {
			return err
		}
	}
	return l.dir.Sync()
}

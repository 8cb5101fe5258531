package wal

import (
	"fmt"
	"slices"
	"sync"
)

// Append writes and syncs entries.
func (l *Log) Append(entries []Entry) error {
	if err := l.Write(entries); err != nil {
		return err
	}
	_, err := l.Sync()
	return err
}

// Write writes entries, whose indices begin with Next and are consecutive, with one operation. They
// are durable when Sync has returned. While a Sync is in progress, Write does not wait for it,
// unless a new segment begins. After an error nothing was written, and Write may be called again.
// The error wraps ErrHole if the end of the log is lost and neither Read nor ReadOver has accepted
// that.
func (l *Log) Write(entries []Entry) error {
	l.writing.Lock()
	defer l.writing.Unlock()
	return l.outcome(l.write(entries), "write")
}

func (l *Log) write(entries []Entry) error {
	if err := l.ready(); err != nil {
		return err
	}
	if len(entries) == 0 {
		return nil
	}
	l.mu.Lock()
	a, tip, next, durable := l.active, l.tip, l.next(), l.durable.index
	l.mu.Unlock()
	need := int64(0)
	for i, e := range entries {
		if e.Index != next+uint64(i) {
			return fmt.Errorf("batch %d, want %d", e.Index, next+uint64(i))
		}
		if len(e.Data) > MaxData {
			return fmt.Errorf("a batch of %d bytes, want at most %d", len(e.Data), MaxData)
		}
		if len(e.Scope) > MaxScope {
			return fmt.Errorf("a scope of %d bytes, want at most %d", len(e.Scope), MaxScope)
		}
		need += scopeBytes(len(e.Scope)) + frameBytes(len(e.Data))
	}
	if a == nil || a.end+need > a.size {
		var err error
		if a, err = l.roll(next, need); err != nil {
			return err
		}
		durable = tip.index
	}
	if l.unclean {
		if err := clean(a); err != nil {
			return err
		}
		l.unclean = false
	}
	memory := frames.Get().(*[]byte)
	defer frames.Put(memory)
	*memory = slices.Grow((*memory)[:0], int(need))
	buf := *memory
	for _, e := range entries {
		if a.version >= scopedVersion {
			buf = appendScope(buf, a.salt, &e)
		}
		buf, tip = appendFrame(buf, a.salt, &frame{Entry: e, durable: durable, before: tip})
	}
	if _, err := a.file.WriteAt(buf, a.end); err != nil {
		l.unclean = true
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	a.end += int64(len(buf))
	l.tip = tip
	return nil
}

// frames contains memory for frames that are being written. The garbage collector frees it when nothing
// is written.
var frames = sync.Pool{New: func() any { return new([]byte) }}

// clean removes what a failed write left after the last frame.
func clean(a *active) error {
	if err := a.file.Truncate(a.end); err != nil {
		return err
	}
	return a.file.Allocate(a.size)
}

// Sync makes everything durable that was written before, with one operation, and returns the index
// of the last entry that is durable. If the disk reports an error, the log accepts nothing any more:
// the state of the disk is unknown until another process reads it.
func (l *Log) Sync() (uint64, error) {
	l.syncing.Lock()
	defer l.syncing.Unlock()
	durable, err := l.sync()
	return durable, l.outcome(err, "sync")
}

// sync is Sync. Called with syncing held.
func (l *Log) sync() (uint64, error) {
	if err := l.ready(); err != nil {
		return 0, err
	}
	l.mu.Lock()
	a, target, durable := l.active, l.tip, l.durable
	l.head.committed = l.commit
	l.mu.Unlock()
	if target == durable {
		return target.index, nil
	}
	if err := a.file.Sync(); err != nil {
		return 0, l.die(err)
	}
	// An entry is acknowledged after the head names it: after a kill the head is exact.
	l.head.durable = target
	if err := l.writeHead(); err != nil {
		return 0, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.durable = target
	return target.index, nil
}

// writeHead writes the head. Called with syncing held.
func (l *Log) writeHead() error {
	l.head.sequence++
	return l.headFile.write(l.head)
}

// seal writes two copies of the head and syncs them. Called with syncing held.
func (l *Log) seal(closed bool) error {
	l.head.closed = closed
	for range 2 {
		if err := l.writeHead(); err != nil {
			return err
		}
	}
	if err := l.headFile.sync(); err != nil {
		return l.die(err)
	}
	return nil
}

package wal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/umbel-filters/umbel/cmd/internal/durable/disk"
	"github.com/umbel-filters/umbel/cmd/internal/service/budget"
)

// Log is an open log. Its methods may be called concurrently. Propose and Trim wait for each other,
// Commit and Purge wait for each other, and reading waits for nothing. A method with a context returns when that
// is done, although the disk hangs; its operation goes on.
//
// Lock order: writing, syncing, mu. mu is never held during an operation of the disk.
type Log struct {
	dir    *reads
	o      Options
	lock   io.Closer
	torn   string
	frugal atomic.Bool
	disk   *budget.Files // what the files take of Options.Disk

	writing    turn   // held while frames are changed
	generation uint64 // of the last segment that was made; guarded by writing
	unclean    bool   // a write failed, so the bytes after the last frame may be anything; guarded by writing

	syncing  turn       // held during a sync of the last segment and while the head is written
	head     head       // guarded by syncing
	headFile headWriter // guarded by syncing

	abandoned atomic.Bool // a caller of Propose did not wait for its end

	mu       sync.Mutex
	segments []*segment // in order
	spares   []string   // names of obsolete files
	active   *active    // the segment that is written to; nil: the next Propose makes one
	first    uint64     // index of the first entry that should be there
	tip      link       // last frame that was written
	durable  link       // last frame that was synced
	floor    uint64     // highest index that is not to be used again, even if its entry is lost
	readers  int
	lost     error // entries at the end are lost, and that was not accepted
	dead     error // a sync failed
	failed   error // the last change failed
	closed   bool
}

// active is the last segment, open for writing.
type active struct {
	*segment
	file disk.File
	end  int64 // offset of the next frame
}

// last returns the highest index that was used and synced. Called with mu held.
func (l *Log) last() uint64 { return max(l.durable.index, l.floor) }

// Bounds returns the number of the first batch that should be there and of the last one that is durable.
// first is last+1 if the log is empty.
func (l *Log) Bounds() (first, last uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.first, l.last()
}

// Next returns the number that the next batch gets.
func (l *Log) Next() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.next()
}

// next returns the index of the next entry. Called with mu held.
func (l *Log) next() uint64 { return max(l.tip.index, l.floor) + 1 }

// Torn describes what Open discarded at the end of the log: batches that were never acknowledged.
// It is empty if nothing was discarded.
func (l *Log) Torn() string { return l.torn }

// Health returns nil, or why nothing can be written.
func (l *Log) Health() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.closed:
		return errClosed
	case l.dead != nil:
		return l.dead
	case l.lost != nil:
		return l.lost
	}
	return l.failed
}

// Bytes returns the size of all files.
func (l *Log) Bytes() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return uint64(l.size())
}

// size is Bytes. Called with mu held.
func (l *Log) size() int64 {
	n := int64(len(headNames)*slots*slotBytes) + int64(len(l.spares))*l.o.SegmentBytes
	for _, s := range l.segments {
		n += s.size
	}
	return n
}

// count corrects what the files take of Options.Disk. It is not called while a file is made.
func (l *Log) count() { l.disk.Set(int64(l.Bytes())) }

// Room returns the number of bytes that can be written to the files that exist.
func (l *Log) Room() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := int64(len(l.spares)) * l.o.SegmentBytes
	if l.active != nil {
		n += l.active.size - l.active.end
	}
	return uint64(n)
}

// ready returns why nothing can be changed.
func (l *Log) ready() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.closed:
		return errClosed
	case l.o.ReadOnly:
		return ErrReadOnly
	case l.dead != nil:
		return l.dead
	}
	return l.lost
}

// outcome notes for Health how a change ended.
func (l *Log) outcome(err error, what string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err == nil {
		l.failed = nil
		return nil
	}
	if err != errClosed && err != ErrReadOnly && err != l.lost {
		l.failed = err
	}
	return fmt.Errorf("%s: %w", what, err)
}

// die notes that a sync failed. What was written before may be in memory only, and no later sync
// reports it: only another process can find out what is on the disk.
func (l *Log) die(err error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.dead = fmt.Errorf("a sync failed, so the log accepts nothing until the process is restarted: %w", err)
	return l.dead
}

// patience is how long Close waits for a disk that hangs.
const patience = 5 * time.Second

// Close commits what was proposed and closes the log. It may be called again. If the disk hangs, Close returns an
// error after patience.
func (l *Log) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	_, err := l.writing.do(ctx, func() (uint64, error) {
		l.syncing.Lock()
		defer l.syncing.Unlock()
		return 0, l.close()
	})
	if err != nil && err == ctx.Err() {
		return errHangs
	}
	return err
}

// close is Close. Called with writing and syncing held.
func (l *Log) close() error {
	l.mu.Lock()
	closed, healthy := l.closed, l.dead == nil && l.lost == nil && !l.o.ReadOnly
	l.mu.Unlock()
	if closed {
		return nil
	}
	var errs []error
	if healthy {
		_, err := l.sync()
		if err == nil {
			err = l.seal(true)
		}
		errs = append(errs, err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	if l.active != nil {
		errs = append(errs, l.active.file.Close())
	}
	errs = append(errs, l.headFile.close())
	return errors.Join(append(errs, l.lock.Close())...)
}

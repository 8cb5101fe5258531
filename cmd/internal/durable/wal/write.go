package wal

import (
	"context"
	"fmt"
	"slices"
	"sync"
)

// turn is a lock for which a caller waits at most until its context is done.
type turn chan struct{}

func (t turn) Lock()   { t <- struct{}{} }
func (t turn) Unlock() { <-t }

// do calls f while it holds the turn and returns its result, or the error of ctx when that is done: an operation
// of a disk that hangs does not return.
func (t turn) do(ctx context.Context, f func() (uint64, error)) (uint64, error) {
	select {
	case t <- struct{}{}:
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	if err := ctx.Err(); err != nil {
		t.Unlock()
		return 0, err
	}
	type result struct {
		number uint64
		err    error
	}
	done := make(chan result, 1)
	go func() {
		n, err := f()
		t.Unlock()
		done <- result{n, err}
	}()
	select {
	case r := <-done:
		return r.number, r.err
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}

// Propose writes a batch of 1 to MaxBatch bytes and returns its number, which is greater than that of the batch
// before. The batch is durable when Commit has returned. While a Commit is in progress, Propose does not wait for
// it, unless a new segment begins. After an error nothing was written, and the batch may be proposed again, unless
// ctx is done: then it may have been written, and nothing can be proposed any more. The error wraps ErrHole while
// the end of the log is lost and neither Read nor ReadOver has accepted that.
//
// scope says what the batch concerns, in at most MaxScope bytes; it may be nil. It is stored with a sum of its own:
// if only the batch is lost, the Hole has the scope.
func (l *Log) Propose(ctx context.Context, data, scope []byte) (number uint64, err error) {
	switch {
	case len(data) == 0 || len(data) > MaxBatch:
		return 0, fmt.Errorf("a batch of %d bytes, want 1 to %d", len(data), MaxBatch)
	case len(scope) > MaxScope:
		return 0, fmt.Errorf("a scope of %d bytes, want at most %d", len(scope), MaxScope)
	case l.abandoned.Load():
		return 0, errEnd
	}
	number, err = l.writing.do(ctx, func() (uint64, error) {
		n, err := l.write(entry{term: term, what: batch, data: data, scope: scope})
		return n, l.outcome(err, "write")
	})
	if err != nil && ctx.Err() != nil {
		l.abandoned.Store(true)
	}
	return number, err
}

// write writes an entry, whose index it sets and returns. Called with writing held.
func (l *Log) write(e entry) (uint64, error) {
	if err := l.ready(); err != nil {
		return 0, err
	}
	need := scopeBytes(len(e.scope)) + frameBytes(len(e.data))
	l.mu.Lock()
	a, tip, durable := l.active, l.tip, l.durable.index
	e.index = l.next()
	l.mu.Unlock()
	if a == nil || a.end+need > a.size {
		var err error
		if a, err = l.roll(e.index, need); err != nil {
			return 0, err
		}
		durable = tip.index
	}
	if l.unclean {
		if err := clean(a); err != nil {
			return 0, err
		}
		l.unclean = false
	}
	memory := frames.Get().(*[]byte)
	defer frames.Put(memory)
	*memory = slices.Grow((*memory)[:0], int(need))
	buf := *memory
	if a.version >= scopedVersion {
		buf = appendScope(buf, a.salt, &e)
	}
	buf, tip = appendFrame(buf, a.salt, &frame{entry: e, durable: durable, before: tip})
	if _, err := a.file.WriteAt(buf, a.end); err != nil {
		l.unclean = true
		return 0, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	a.end += int64(len(buf))
	l.tip = tip
	return e.index, nil
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

// Commit makes all batches durable that were proposed before, with one operation, and returns the number of the
// last one that is durable. It may run at the same time as Propose. After an error it may be called again, unless the
// disk reported that a sync failed: then the log accepts nothing any more, since the state of the disk is unknown
// until another process reads it.
func (l *Log) Commit(ctx context.Context) (number uint64, err error) {
	return l.syncing.do(ctx, func() (uint64, error) {
		durable, err := l.sync()
		return durable, l.outcome(err, "sync")
	})
}

// sync is Commit. Called with syncing held.
func (l *Log) sync() (uint64, error) {
	if err := l.ready(); err != nil {
		return 0, err
	}
	l.mu.Lock()
	a, target, durable := l.active, l.tip, l.durable
	l.mu.Unlock()
	l.head.committed = durable.index
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

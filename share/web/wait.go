package web

import (
	"bytes"
	"context"
	"sync"
	"time"

	"github.com/umbel-filters/umbel/internal/pause"
	"github.com/umbel-filters/umbel/share"
)

// The times between two requests to a source that is not a Watcher, and after an error.
const (
	sourceInterval = 200 * time.Millisecond
	errorInterval  = time.Second
)

// board shows the heads to the requests that wait for them. One goroutine for each record watches the
// source while there are any.
type board struct {
	source  share.Source
	limit   int
	closed  chan struct{}
	mu      sync.Mutex
	waiters int               // in all
	watches map[string]*watch // by record
}

// watch is one run of the goroutine for a record.
type watch struct {
	record  string
	cancel  context.CancelFunc
	waiters int // guarded by the board
	mu      sync.Mutex
	head    []byte
	tag     string        // of head, "" before the first
	changed chan struct{} // closed when head changes
}

// wait returns a head when it has another tag. It returns nil if the time is over, the context ends
// or the board is closed before, or if too many requests wait.
func (b *board) wait(ctx context.Context, record string, limit time.Duration, tag string) []byte {
	w := b.enter(record)
	if w == nil {
		return nil
	}
	defer b.leave(w)
	end := time.NewTimer(limit)
	defer end.Stop()
	for {
		w.mu.Lock()
		head, now, changed := w.head, w.tag, w.changed
		w.mu.Unlock()
		if now != "" && now != tag {
			return head
		}
		select {
		case <-changed:
		case <-end.C:
			return nil
		case <-b.closed:
			return nil
		case <-ctx.Done():
			return nil
		}
	}
}

func (b *board) enter(record string) *watch {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.waiters >= b.limit {
		return nil
	}
	w := b.watches[record]
	if w == nil {
		ctx, cancel := context.WithCancel(context.Background())
		w = &watch{record: record, cancel: cancel, changed: make(chan struct{})}
		if b.watches == nil {
			b.watches = make(map[string]*watch)
		}
		b.watches[record] = w
		go w.run(ctx, b.source)
	}
	b.waiters++
	w.waiters++
	return w
}

func (b *board) leave(w *watch) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.waiters--
	if w.waiters--; w.waiters == 0 {
		w.cancel()
		delete(b.watches, w.record)
	}
}

// run shows each head of the source until ctx ends.
func (w *watch) run(ctx context.Context, source share.Source) {
	var last []byte
	for ctx.Err() == nil {
		head, err := w.next(ctx, source, last)
		if err != nil {
			pause.For(ctx, errorInterval)
			continue
		}
		if last == nil || !bytes.Equal(head, last) {
			w.show(head)
			last = head
		}
	}
}

// next returns the head when it differs from last, or after some time.
func (w *watch) next(ctx context.Context, source share.Source, last []byte) ([]byte, error) {
	if s, ok := source.(share.Watcher); ok && last != nil {
		return s.WatchRecord(ctx, w.record, last)
	}
	if last != nil {
		pause.For(ctx, sourceInterval)
	}
	return source.Record(ctx, w.record)
}

func (w *watch) show(head []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.head, w.tag = head, tagOf(head)
	close(w.changed)
	w.changed = make(chan struct{})
}

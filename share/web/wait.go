package web

import (
	"bytes"
	"context"
	"sync"
	"time"

	"github.com/umbel-filters/umbel/share"
)

// The times between two requests to a source that is not a Watcher, and after an error.
const (
	sourceInterval = 200 * time.Millisecond
	errorInterval  = time.Second
)

// board shows the head to the requests that wait for it. One goroutine watches the source while
// there are any.
type board struct {
	source  share.Source
	limit   int
	closed  chan struct{}
	mu      sync.Mutex
	waiters int
	watch   *watch // nil without waiters
}

// watch is one run of the goroutine.
type watch struct {
	cancel  context.CancelFunc
	mu      sync.Mutex
	head    []byte
	tag     string        // of head, "" before the first
	changed chan struct{} // closed when head changes
}

// wait returns the head when it has another tag. It returns nil if the time is over, the context ends
// or the board is closed before, or if too many requests wait.
func (b *board) wait(ctx context.Context, limit time.Duration, tag string) []byte {
	w := b.enter()
	if w == nil {
		return nil
	}
	defer b.leave()
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

func (b *board) enter() *watch {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.waiters >= b.limit {
		return nil
	}
	if b.waiters++; b.watch == nil {
		ctx, cancel := context.WithCancel(context.Background())
		b.watch = &watch{cancel: cancel, changed: make(chan struct{})}
		go b.watch.run(ctx, b.source)
	}
	return b.watch
}

func (b *board) leave() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.waiters--; b.waiters == 0 {
		b.watch.cancel()
		b.watch = nil
	}
}

// run shows each head of the source until ctx ends.
func (w *watch) run(ctx context.Context, source share.Source) {
	var last []byte
	for ctx.Err() == nil {
		head, err := nextHead(ctx, source, last)
		if err != nil {
			sleep(ctx, errorInterval)
			continue
		}
		if last == nil || !bytes.Equal(head, last) {
			w.show(head)
			last = head
		}
	}
}

// nextHead returns the head when it differs from last, or after some time.
func nextHead(ctx context.Context, source share.Source, last []byte) ([]byte, error) {
	if s, ok := source.(share.Watcher); ok && last != nil {
		return s.WatchRecord(ctx, share.HeadName, last)
	}
	if last != nil {
		sleep(ctx, sourceInterval)
	}
	return source.Record(ctx, share.HeadName)
}

func (w *watch) show(head []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.head, w.tag = head, tagOf(head)
	close(w.changed)
	w.changed = make(chan struct{})
}

// sleep waits, at most until ctx ends.
func sleep(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

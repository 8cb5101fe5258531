package journal

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
)

// slowLog is a log whose Commit waits, or fails.
type slowLog struct {
	mu       sync.Mutex
	proposed int
	release  chan struct{} // Commit waits for it
	fail     int           // number of Commits that fail
	commits  int
	second   chan struct{} // if it is not nil, the second Commit closes it, and the batch after maxFlight waits for that
}

func (l *slowLog) Propose(context.Context, []byte, []byte) (uint64, error) {
	if l.second != nil && l.count() == maxFlight {
		<-l.second
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.proposed++
	return uint64(l.proposed), nil
}

func (l *slowLog) Commit(ctx context.Context) (uint64, error) {
	l.mu.Lock()
	n, fails := l.proposed, l.fail > 0
	if fails {
		l.fail--
	}
	if l.commits++; l.commits == 2 && l.second != nil {
		close(l.second)
	}
	l.mu.Unlock()
	if fails {
		return 0, errSlow
	}
	select {
	case <-l.release:
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	return uint64(n), nil
}

func (l *slowLog) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.proposed
}

var errSlow = errors.New("slow log")

// long is a change of more than flushBytes.
func long() engine.Change {
	return engine.Change{Op: engine.OpAdd, Filter: 1, Digests: make([]umbel.Digest, flushBytes/16+1)}
}

// While a Commit is under way, long batches are written, up to a limit, and short changes share a batch.
func TestFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &slowLog{release: make(chan struct{}), second: make(chan struct{})}
		j := New(l, 0, 0, Options{})
		var run sync.WaitGroup
		run.Go(func() { j.Run(t.Context()) })
		var ends []uint64 // positions
		for i := range maxFlight {
			ends = append(ends, uint64(j.Append(long())))
			synctest.Wait()
			if n := l.count(); n != i+1 {
				t.Fatalf("%d batches are written after %d long changes", n, i+1)
			}
		}
		j.Append(long())
		time.Sleep(10 * maxDelay)
		if n := l.count(); n != maxFlight {
			t.Fatalf("%d batches are in flight, want %d", n, maxFlight)
		}
		l.release <- struct{}{} // of the first
		synctest.Wait()
		if n, last := l.count(), j.kept.Load(); n != maxFlight+1 || last != ends[0] {
			t.Fatalf("%d batches are written and %d changes committed, want %d and %d", n, last, maxFlight+1, ends[0])
		}
		l.release <- struct{}{} // of the second to the fourth; the fifth was written after that Commit began
		synctest.Wait()
		if last := j.kept.Load(); last != ends[maxFlight-1] {
			t.Fatalf("%d changes are committed, want %d", last, ends[maxFlight-1])
		}
		// The fifth is in flight. Short changes wait for it, although somebody waits for them.
		waiting := make(chan error, 3)
		for range cap(waiting) {
			pos := j.Append(engine.Change{Op: engine.OpAdd, Filter: 1, Digests: make([]umbel.Digest, 1)})
			go func() { waiting <- j.Wait(t.Context(), pos) }()
		}
		time.Sleep(10 * maxDelay)
		if n := l.count(); n != maxFlight+1 {
			t.Fatalf("%d batches are written, want %d", n, maxFlight+1)
		}
		close(l.release)
		for range cap(waiting) {
			if err := <-waiting; err != nil {
				t.Error(err)
			}
		}
		if n := l.count(); n != maxFlight+2 {
			t.Errorf("%d batches are written, want %d: short changes share one", n, maxFlight+2)
		}
		j.Close()
		run.Wait()
	})
}

// A batch whose Commit fails is committed later, and not written again.
func TestFailedCommit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &slowLog{release: make(chan struct{}), fail: 3}
		close(l.release)
		j := New(l, 0, 0, Options{})
		var run sync.WaitGroup
		run.Go(func() { j.Run(t.Context()) })
		if err := j.Wait(t.Context(), j.Append(long())); !errors.Is(err, errSlow) {
			t.Errorf("error %v, want %v", err, errSlow)
		}
		if err := j.Ready(); !errors.Is(err, errSlow) {
			t.Errorf("ready: error %v, want %v", err, errSlow)
		}
		if err := j.Drain(t.Context()); err != nil {
			t.Error(err)
		}
		if n := l.count(); n != 1 || j.Ready() != nil {
			t.Errorf("%d batches are written, want 1; ready: %v", n, j.Ready())
		}
		j.Close()
		run.Wait()
	})
}

// readOnlyLog is a log on a file system that has become read-only.
type readOnlyLog struct{ *slowLog }

func (readOnlyLog) Commit(context.Context) (uint64, error) {
	return 0, fmt.Errorf("write: %w", syscall.EROFS)
}

// A file system that is read-only stays so: Drain does not wait for changes that cannot be kept.
func TestDrainOfReadOnlyFileSystem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := New(readOnlyLog{new(slowLog)}, 0, 0, Options{})
		ctx, stop := context.WithCancel(t.Context())
		var run sync.WaitGroup
		run.Go(func() { j.Run(ctx) })
		j.Append(add(1, 1))
		began := time.Now()
		if err := j.Drain(t.Context()); !errors.Is(err, syscall.EROFS) || time.Since(began) > firstRetry {
			t.Errorf("after %v: %v, want %v at once", time.Since(began), err, syscall.EROFS)
		}
		j.Close()
		stop()
		run.Wait()
	})
}

// A journal whose log never commits ends when it is aborted, although a change waits behind the batch in
// flight.
func TestAbortBehindAFailedCommit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := New(&slowLog{fail: 1 << 30}, 0, 0, Options{})
		ctx, abort := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			j.Run(ctx)
			close(ended)
		}()
		j.Append(add(1, 1))
		time.Sleep(time.Minute) // it is in flight
		j.Append(add(1, 2))
		time.Sleep(time.Minute)
		j.Close()
		abort()
		<-ended // otherwise synctest reports a deadlock
		if err := j.Sync(t.Context(), 2); !errors.Is(err, errClosed) {
			t.Errorf("error %v, want %v", err, errClosed)
		}
	})
}

package node

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/umbel-filters/umbel/internal/event"
	"github.com/umbel-filters/umbel/internal/pause"
)

// lifecycle has what runs in a node, and ends it.
type lifecycle struct {
	tasks      sync.WaitGroup
	stop       context.CancelFunc // ends working
	working    context.Context    // context of tasks
	serving    context.Context    // done when streams shall end
	endStreams context.CancelFunc // ends serving
	draining   atomic.Bool
	asked      chan struct{} // closed when a client requests shutdown
	ask        sync.Once
	again      chan error  // see Again
	abandoned  atomic.Bool // see Abandon
	end        sync.Once
	ended      error
}

// stopping is closed when a client requests shutdown.
func (n *Node) stopping() <-chan struct{} { return n.asked }

// Failed yields an error if the node cannot continue to serve.
func (n *Node) Failed() <-chan error { return n.servers.Failed() }

// Shutdown stops the node. /readyz fails at once; after the drain delay no clients are accepted.
// Received requests are answered, changes are written, and the data directory is released. If ctx
// is done or the time limit expires first, clients are disconnected; acknowledged changes are
// still written. Further calls return the result of the first.
func (n *Node) Shutdown(ctx context.Context) error {
	n.end.Do(func() { n.ended = n.shutdown(ctx) })
	return n.ended
}

// lastWritesTimeout is the minimum time for closing the store.
const lastWritesTimeout = 5 * time.Second

func (n *Node) shutdown(ctx context.Context) error {
	n.draining.Store(true)
	n.log.Info("shutting down", event.Stopping, "drain", n.config.DrainDelay, "timeout", n.config.ShutdownTimeout)
	timeout := n.config.ShutdownTimeout
	if n.abandoned.Load() {
		timeout = abandonTimeout
	} else {
		pause.For(ctx, n.config.DrainDelay)
	}
	if errors.Is(n.store.Writable(), syscall.EROFS) {
		timeout = min(timeout, lastWritesTimeout) // no change will be written
	}
	closing, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	n.endStreams()
	cut := n.servers.Shutdown(closing)
	n.stop()
	final, cancel := withMinimum(closing, lastWritesTimeout)
	defer cancel()
	err := n.closeStore(closing, final)
	if err != nil {
		n.log.Error("shutdown completed with errors", event.StoppedWithErrors, "error", err)
		return err
	}
	n.log.Info("shutdown complete", event.Stopped, "disconnected", cut != nil, "uptime", time.Since(n.began).Round(time.Millisecond))
	return nil
}

// abandonTimeout is the time for requests of a node that starts again: none of their changes can be made.
const abandonTimeout = time.Second / 2

// closeStore waits for the background tasks and closes store and log. Tasks may wait for a filter
// whose change waits for the disk, and only closing the store ends that wait. So the store is
// closed after the tasks or, if they have not ended when closing is done, before them.
func (n *Node) closeStore(closing, final context.Context) error {
	ended := make(chan struct{})
	go func() {
		n.tasks.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-closing.Done():
	}
	var err error
	if n.config.SnapshotAtShutdown && closing.Err() == nil && n.store.Writable() == nil {
		err = n.store.Snapshot(closing)
	}
	if n.abandoned.Load() {
		done, cancel := context.WithCancel(final)
		cancel()
		_ = n.store.Close(done) // which says that changes are lost that were not acknowledged
	} else {
		err = errors.Join(err, n.store.Close(final))
	}
	if n.member != nil {
		err = errors.Join(err, n.member.Close(final))
	}
	select {
	case <-ended:
	case <-final.Done(): // a task waits for a call of the operating system
		err = errors.Join(err, errTasks)
	}
	if n.wal != nil {
		err = errors.Join(err, n.wal.Close())
	}
	return err
}

var errTasks = errors.New("background tasks have not ended, because the disk does not respond")

// cleanup releases everything after a failed start.
func (n *Node) cleanup() error {
	n.listeners.close()
	done, cancel := context.WithCancel(context.Background())
	cancel()
	_ = n.servers.Shutdown(done) // nobody was served
	n.endStreams()
	n.stop()
	n.tasks.Wait()
	var err error
	if n.store != nil {
		ctx, cancel := context.WithTimeout(context.Background(), lastWritesTimeout)
		defer cancel()
		err = n.store.Close(ctx)
	}
	if n.wal != nil {
		err = errors.Join(err, n.wal.Close())
	}
	return err
}

// withMinimum returns a context with the deadline of ctx, but at least the given time.
func withMinimum(ctx context.Context, least time.Duration) (context.Context, context.CancelFunc) {
	end := time.Now().Add(least)
	if d, ok := ctx.Deadline(); ok && d.After(end) && ctx.Err() == nil {
		end = d
	}
	return context.WithDeadline(context.WithoutCancel(ctx), end)
}

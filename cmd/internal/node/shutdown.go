package node

import (
	"context"
	"errors"
	"sync"
	"time"
)

// Shutdown ends the node: /readyz says no, and after the drain's delay no client is taken. Those
// there are get their answers, what was changed is written to the disk, and the directory is free.
// Where ctx is done before, or the settings' time is over, clients are cut; changes that were
// acknowledged are written all the same. A second call returns what the first did.
func (n *Node) Shutdown(ctx context.Context) error {
	n.end.Do(func() { n.ended = n.shutdown(ctx) })
	return n.ended
}

// lastWrites is how long the store has to close at the least, however late it is.
const lastWrites = 5 * time.Second

func (n *Node) shutdown(ctx context.Context) error {
	n.draining.Store(true)
	n.log.Info("ending", "drain", n.config.DrainDelay.String(), "timeout", n.config.ShutdownTimeout.String())
	pause(ctx, n.config.DrainDelay)
	closing, cancel := context.WithTimeout(ctx, n.config.ShutdownTimeout)
	defer cancel()
	cut := n.hangUp(closing)
	n.stop()
	n.tasks.Wait()
	var err error
	if n.config.SnapshotAtShutdown && closing.Err() == nil {
		err = n.store.Snapshot(closing)
	}
	final, cancel := withRoom(closing, lastWrites)
	defer cancel()
	err = errors.Join(err, n.store.Close(final), n.oplog.Close())
	if err != nil {
		n.log.Error("ended, but not well", "error", err)
		return err
	}
	n.log.Info("ended", "cut", cut != nil, "served", time.Since(n.began).Round(time.Millisecond).String())
	return nil
}

// hangUp ends the servers, all at once. The error says that clients were cut.
func (n *Node) hangUp(ctx context.Context) error {
	var all sync.WaitGroup
	errs := make([]error, len(n.web)+1)
	for i, s := range n.web {
		all.Go(func() {
			if errs[i] = s.Shutdown(ctx); errs[i] != nil {
				_ = s.Close() // what is left
			}
		})
	}
	if n.resp != nil {
		all.Go(func() { errs[len(n.web)] = n.resp.Shutdown(ctx) })
	}
	all.Wait()
	return errors.Join(errs...)
}

// abandon takes down what a start that failed has put up.
func (n *Node) abandon() error {
	n.listeners.close()
	done, cancel := context.WithCancel(context.Background())
	cancel()
	_ = n.hangUp(done) // nobody was served
	n.stop()
	n.tasks.Wait()
	var err error
	if n.store != nil {
		ctx, cancel := context.WithTimeout(context.Background(), lastWrites)
		defer cancel()
		err = n.store.Close(ctx)
	}
	if n.oplog != nil {
		err = errors.Join(err, n.oplog.Close())
	}
	return err
}

// pause waits, until ctx is done at most.
func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}

// withRoom returns a context that ends with ctx, but not before so long.
func withRoom(ctx context.Context, least time.Duration) (context.Context, context.CancelFunc) {
	end := time.Now().Add(least)
	if d, ok := ctx.Deadline(); ok && d.After(end) && ctx.Err() == nil {
		end = d
	}
	return context.WithDeadline(context.WithoutCancel(ctx), end)
}

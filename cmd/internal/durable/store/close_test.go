package store

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/durable/disk/disktest"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/internal/await"
)

// A disk that hangs while changes wait for room, and a snapshot for the filter that they
// change, doesn't keep the process from ending.
func TestCloseOfAStoreThatIsStuck(t *testing.T) {
	d := newDisk()
	n := start(t, d, Options{SnapshotInterval: time.Second})
	f, _, err := n.Create("a", "bloom", umbel.Goal{Bytes: 4 << 20, FPRate: .01}, nil)
	if err != nil {
		t.Fatal(err)
	}
	f.Add(nil, digests(0, 200_000))
	if err := n.Sync(t.Context()); err != nil {
		t.Fatal(err)
	}
	d.Hang(t)
	var changes sync.WaitGroup
	var last engine.Position
	changes.Go(func() {
		for range 30 {
			pos, err := f.Update(func(g umbel.Filter) (umbel.Filter, error) { return g, nil })
			if err != nil {
				return // the store says so since it is closed
			}
			last = pos
		}
	})
	await.True(t, "the queue is full", func() bool { return n.Status().Pending > 56<<20 })
	await.True(t, "a snapshot waits", func() bool { return n.Status().Snapshotting })
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	closed := make(chan error)
	go func() { closed <- n.Store.Close(ctx) }()
	select {
	case err := <-closed:
		if err == nil {
			t.Error("changes aren't written, and Close doesn't say so")
		}
	case <-time.After(time.Minute):
		t.Fatal("Close doesn't end")
	}
	changes.Wait()
	if err := n.Wait(t.Context(), last); err == nil {
		t.Error("a change that isn't written was acknowledged")
	}
	n.log.Close()
}

// A call of the file system that does not return does not keep Close from returning: while a snapshot is
// written, and while the files of an older one are deleted.
func TestCloseWhileASnapshotHangs(t *testing.T) {
	for _, op := range []disktest.Op{disktest.Sync, disktest.Remove} {
		for _, durability := range []Durability{Always, None} {
			d := newDisk()
			n := start(t, d, Options{Durability: durability, SnapshotInterval: time.Second})
			f, _, err := n.Create("a", "bloom", umbel.Goal{Keys: 1000, FPRate: .01}, nil)
			if err != nil {
				t.Fatal(err)
			}
			hangs, release := make(chan struct{}), make(chan struct{})
			var once sync.Once
			for i := 0; op == disktest.Remove && i < 2; i++ { // the third deletes the first
				snap(t, n)
				if _, _, err := f.Add(nil, digests(i, i+1)); err != nil {
					t.Fatal(err)
				}
			}
			d.files.Before(func(call disktest.Op, _ string) error {
				if call == op {
					once.Do(func() { close(hangs) })
					<-release
				}
				return nil
			})
			if _, _, err := f.Add(nil, digests(2, 3)); err != nil { // for a snapshot that begins from now on
				t.Fatal(err)
			}
			<-hangs
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			if err := n.Store.Close(ctx); !errors.Is(err, context.Canceled) {
				t.Errorf("%s, durability %v: error %v, want %v", op, durability, err, context.Canceled)
			}
			close(release)
			n.runs.Wait()
			n.log.Close()
		}
	}
}

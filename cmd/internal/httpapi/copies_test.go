package httpapi

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/budget"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/filter"
)

// copied returns a filter of a bit more than a MiB and the copies of its server.
func copied(t *testing.T, disk uint64) (*engine.Filter, *copies) {
	t.Helper()
	e := engine.New(engine.Options{Kinds: filter.All, Now: func() int64 { return 1 }})
	f, _, err := e.Create("f", "bloom", umbel.Goal{Bytes: 1 << 20, FPRate: 0.01}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return f, newCopies(t.TempDir(), budget.New(disk))
}

// change changes the version of a filter.
func change(t *testing.T, f *engine.Filter) {
	t.Helper()
	if _, err := f.Clear(); err != nil {
		t.Fatal(err)
	}
}

// Readers of a filter that changes all the time share a copy: while one is made, the others wait for
// the next.
func TestOneCopyAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, cs := copied(t, 0)
		done := make(chan struct{})
		cs.making[f.ID()] = done // a copy that takes long
		const readers = 20
		got := make(chan *containerCopy, readers)
		for range readers {
			change(t, f)
			go func() {
				k, err := cs.acquire(t.Context(), f, "")
				if err != nil {
					t.Error(err)
				}
				got <- k
			}()
			synctest.Wait()
		}
		if len(got) > 0 {
			t.Fatalf("%d readers did not wait", len(got))
		}
		cs.mu.Lock()
		delete(cs.making, f.ID())
		cs.mu.Unlock()
		close(done)
		first := <-got
		for range readers - 1 {
			if k := <-got; k != first {
				t.Error("two copies were made")
			}
		}
		for range readers {
			cs.release(first)
		}
		if used := cs.disk.Used(); used != 0 || len(cs.open) > 0 {
			t.Errorf("%d copies of %d bytes are left", len(cs.open), used)
		}
	})
}

// Slow readers of many versions take at most the budget on the disk.
func TestDiskOfCopies(t *testing.T) {
	f, cs := copied(t, 5<<20)
	var held []*containerCopy
	for {
		k, err := cs.acquire(t.Context(), f, "")
		if err != nil {
			if problemTypeOf(err) != busy {
				t.Fatal(err)
			}
			break
		}
		held = append(held, k)
		change(t, f)
	}
	if len(held) != 3 { // the fourth would need room for the cells and the container
		t.Errorf("%d copies of 1 MiB were made within 5 MiB", len(held))
	}
	for _, k := range held {
		cs.release(k)
	}
	if used := cs.disk.Used(); used != 0 {
		t.Errorf("%d bytes are taken after the readers have gone", used)
	}
	k, err := cs.acquire(t.Context(), f, "")
	if err != nil {
		t.Fatal(err)
	}
	cs.release(k)
}

// The making of a copy ends when its last reader leaves.
func TestCopyIsCancelled(t *testing.T) {
	f, cs := copied(t, 0)
	inside, leave, changed := make(chan struct{}), make(chan struct{}), make(chan error)
	go func() { // a change, for which the copy waits
		_, err := f.Update(func(g umbel.Filter) (umbel.Filter, error) {
			close(inside)
			<-leave
			return g, nil
		})
		changed <- err
	}()
	<-inside
	ctx, cancel := context.WithCancel(t.Context())
	k, err := cs.join(ctx, f, "")
	if err != nil {
		t.Fatal(err)
	}
	other, err := cs.join(t.Context(), f, "")
	if err != nil || other != k {
		t.Fatalf("another copy, %v", err)
	}
	cs.release(other)
	cancel()
	if _, err := cs.acquire(ctx, f, ""); !errors.Is(err, context.Canceled) {
		t.Errorf("a reader that has left: %v", err)
	}
	cs.release(k)
	close(leave)
	if err := <-changed; err != nil {
		t.Error(err)
	}
	<-k.ready
	if !errors.Is(k.err, context.Canceled) {
		t.Errorf("the copy that nobody waits for: %v", k.err)
	}
	if used := cs.disk.Used(); used != 0 || len(cs.open) > 0 {
		t.Errorf("%d copies of %d bytes are left", len(cs.open), used)
	}
}

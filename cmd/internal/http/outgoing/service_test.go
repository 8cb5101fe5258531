package outgoing

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/durable/disk"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/engine/operation"
	"github.com/umbel-filters/umbel/cmd/internal/service/budget"
	"github.com/umbel-filters/umbel/filter"
)

// copied returns a filter of a bit more than a MiB and the copies of its server.
func copied(t *testing.T, limit uint64) (*engine.Filter, *Service) {
	t.Helper()
	e := engine.New(engine.Options{Kinds: filter.All, Now: func() int64 { return 1 }})
	f, _, err := e.Create("f", "bloom", umbel.Goal{Bytes: 1 << 20, FPRate: 0.01}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return f, New(disk.OS(t.TempDir()), budget.New(limit))
}

// change changes the version of a filter.
func change(t *testing.T, f *engine.Filter) {
	t.Helper()
	if _, err := f.Do(operation.Clear, umbel.Number{}); err != nil {
		t.Fatal(err)
	}
}

// Readers of a filter that changes all the time share a copy: while one is made, the others wait for
// the next.
func TestOneCopyAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, s := copied(t, 0)
		done := make(chan struct{})
		s.making[f.ID()] = done // a copy that takes long
		const readers = 20
		got := make(chan *Copy, readers)
		for range readers {
			change(t, f)
			go func() {
				k, err := s.Acquire(t.Context(), f, "")
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
		s.mu.Lock()
		delete(s.making, f.ID())
		s.mu.Unlock()
		close(done)
		first := <-got
		for range readers - 1 {
			if k := <-got; k != first {
				t.Error("two copies were made")
			}
		}
		for range readers {
			first.Release()
		}
		if used := s.disk.Used(); used != 0 || len(s.open) > 0 {
			t.Errorf("%d copies of %d bytes are left", len(s.open), used)
		}
	})
}

// Slow readers of many versions take at most the budget on the disk.
func TestDiskOfCopies(t *testing.T) {
	f, s := copied(t, 5<<20)
	var held []*Copy
	for {
		k, err := s.Acquire(t.Context(), f, "")
		if err != nil {
			if !errors.Is(err, ErrNoRoom) {
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
		k.Release()
	}
	if used := s.disk.Used(); used != 0 {
		t.Errorf("%d bytes are taken after the readers have gone", used)
	}
	k, err := s.Acquire(t.Context(), f, "")
	if err != nil {
		t.Fatal(err)
	}
	k.Release()
}

// The making of a copy ends when its last reader leaves.
func TestCopyIsCancelled(t *testing.T) {
	f, s := copied(t, 0)
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
	k, err := s.join(ctx, f, "")
	if err != nil {
		t.Fatal(err)
	}
	other, err := s.join(t.Context(), f, "")
	if err != nil || other != k {
		t.Fatalf("another copy, %v", err)
	}
	other.Release()
	cancel()
	if _, err := s.Acquire(ctx, f, ""); !errors.Is(err, context.Canceled) {
		t.Errorf("a reader that has left: %v", err)
	}
	k.Release()
	close(leave)
	if err := <-changed; err != nil {
		t.Error(err)
	}
	<-k.ready
	if !errors.Is(k.err, context.Canceled) {
		t.Errorf("the copy that nobody waits for: %v", k.err)
	}
	if used := s.disk.Used(); used != 0 || len(s.open) > 0 {
		t.Errorf("%d copies of %d bytes are left", len(s.open), used)
	}
}

// Requests for the same container at the same time share a copy.
func TestCopiesAreShared(t *testing.T) {
	f, s := copied(t, 0)
	a, err := s.Acquire(t.Context(), f, "")
	if err != nil {
		t.Fatal(err)
	}
	b, err := s.Acquire(t.Context(), f, "")
	if err != nil {
		t.Fatal(err)
	}
	if a != b {
		t.Error("two copies of one version")
	}
	a.Release()
	if _, err := b.ReadAt(make([]byte, 10), 0); err != nil {
		t.Errorf("the copy went while it was read: %v", err)
	}
	if _, err := f.Do(operation.Clear, umbel.Number{}); err != nil {
		t.Fatal(err)
	}
	c, err := s.Acquire(t.Context(), f, "")
	if err != nil {
		t.Fatal(err)
	}
	if c == b {
		t.Error("a copy of the filter as it was")
	}
	b.Release()
	c.Release()
	if len(s.open) > 0 {
		t.Errorf("%d copies are open", len(s.open))
	}
	if _, err := b.ReadAt(make([]byte, 10), 0); err == nil {
		t.Error("a copy that nobody has is still open")
	}
}

package store

import (
	"context"
	"errors"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"pgregory.net/rapid"
)

var goal = umbel.Goal{Keys: 1000, FPRate: .01}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// relay gives a follower the batches of a leader that it does not have.
func relay(t tester, leader, follower *node) {
	t.Helper()
	from := follower.log.Next()
	if _, last := leader.log.Bounds(); from > last {
		return
	}
	if err := leader.log.Read(context.Background(), from, func(number uint64, b []byte) error {
		return follower.Store.Follow(context.Background(), number, b, nil)
	}); err != nil {
		t.Fatalf("follow: %v", err)
	}
}

// A follower that ends at any moment, with snapshots of its own at any moment, has the filters of the leader after what it has
// followed; it refuses changes; and when it leads, it continues after the leader.
func TestFollow(t *testing.T) {
	all := kinds(t, 100)
	rapid.Check(t, func(t *rapid.T) {
		leader := start(t, newDisk(), Options{})
		disk := newDisk()
		follower := start(t, disk, Options{Follow: true})
		ctx := context.Background()
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			switch rapid.IntRange(0, 14).Draw(t, "what") {
			case 0, 1:
				if err := leader.Sync(ctx); err != nil {
					t.Fatalf("sync: %v", err)
				}
				relay(t, leader, follower)
				wantSame(t, contents(follower.Engine), contents(leader.Engine))
			case 2:
				if err := follower.Snapshot(ctx); err != nil {
					t.Fatalf("snapshot: %v", err)
				}
			case 3:
				if rapid.Bool().Draw(t, "power cut") {
					follower.kill()
					disk.PowerCut() // what was not synced is sent again
				} else {
					follower.end(t)
				}
				follower = start(t, disk, Options{Follow: true})
				relay(t, leader, follower)
			case 4:
				if _, _, err := follower.Create("x", all[0], goal, nil); !errors.Is(err, engine.ErrFollower) {
					t.Fatalf("a change of a follower: %v, want %v", err, engine.ErrFollower)
				}
				if _, _, err := follower.Delete([]byte("a")); !errors.Is(err, engine.ErrFollower) {
					t.Fatalf("a deletion by a follower: %v, want %v", err, engine.ErrFollower)
				}
			default:
				drawStep(t, all).do(leader.Engine)
			}
		}
		if err := leader.Sync(ctx); err != nil {
			t.Fatalf("sync: %v", err)
		}
		relay(t, leader, follower)
		follower.Lead(follower.log)
		leader.end(t)
		for range 20 {
			s := drawStep(t, all)
			s.do(leader.Engine) // which keeps nothing any more
			s.do(follower.Engine)
		}
		if err := follower.Sync(ctx); err != nil {
			t.Fatalf("sync: %v", err)
		}
		want := contents(follower.Engine)
		follower.end(t)
		follower = start(t, disk, Options{})
		wantSame(t, contents(follower.Engine), want)
		follower.end(t)
	})
}

// A long change that begins in one batch and ends in a later one is in no snapshot between them, and is made although the follower
// starts again between them; a change that a new leader does not end is not made.
func TestFollowLongChange(t *testing.T) {
	ctx := context.Background()
	for _, ends := range []bool{true, false} {
		leader := start(t, newDisk(), Options{})
		must(t, func() error { _, _, err := leader.Create("big", "bloom", goal, nil); return err }())
		s := leader.Get([]byte("big"))
		state, err := s.CopyState(leader.NewReservation())
		must(t, err)
		long, err := leader.journal.Begin(engine.Change{Filter: 1000, Op: engine.OpCreate, Name: "long", State: &state})
		must(t, err)
		must(t, func() error { _, err := s.Expire(1 << 50); return err }())
		must(t, leader.Sync(ctx))
		disk := newDisk()
		follower := start(t, disk, Options{Follow: true})
		relay(t, leader, follower)
		must(t, follower.Snapshot(ctx))
		must(t, follower.Snapshot(ctx))
		follower.end(t)
		follower = start(t, disk, Options{Follow: true})
		if follower.Get([]byte("long")) != nil {
			t.Error("a change without an end was made")
		}
		if ends {
			long.End()
			must(t, leader.Sync(ctx))
			relay(t, leader, follower)
		} else {
			follower.Lead(follower.log)
			_, _, err := follower.Create("next", "bloom", goal, nil)
			must(t, err)
			must(t, follower.Sync(ctx))
		}
		if got := follower.Get([]byte("long")) != nil; got != ends {
			t.Errorf("the long change was made: %v, want %v", got, ends)
		}
		follower.end(t)
		follower = start(t, disk, Options{})
		if got := follower.Get([]byte("long")) != nil; got != ends {
			t.Errorf("after a start the long change was made: %v, want %v", got, ends)
		}
		follower.end(t)
		leader.end(t)
	}
}

// A follower refuses a batch that does not continue its log, and one whose changes do not continue its filters.
func TestFollowGap(t *testing.T) {
	ctx := context.Background()
	leader := start(t, newDisk(), Options{})
	var batches [][]byte
	for _, name := range []string{"a", "b", "c"} {
		_, _, err := leader.Create(name, "bloom", goal, nil)
		must(t, err)
		must(t, leader.Sync(ctx))
	}
	must(t, leader.log.Read(ctx, 1, func(_ uint64, b []byte) error {
		batches = append(batches, append([]byte(nil), b...))
		return nil
	}))
	follower := start(t, newDisk(), Options{Follow: true})
	must(t, follower.Store.Follow(ctx, 1, batches[0], nil))
	if err := follower.Store.Follow(ctx, 3, batches[2], nil); !errors.Is(err, ErrLost) {
		t.Errorf("batch 3 after batch 1: %v, want %v", err, ErrLost)
	}
	if err := follower.Store.Follow(ctx, 2, batches[2], nil); !errors.Is(err, ErrLost) {
		t.Errorf("the third changes after the first: %v, want %v", err, ErrLost)
	}
	follower.kill()
	leader.end(t)
}

// A log that begins with a later number continues with it after a start, although it has no batch yet.
func TestStartAt(t *testing.T) {
	ctx := context.Background()
	disk := newDisk()
	for i := range 3 {
		l, err := disk.Open()
		must(t, err)
		if i == 0 {
			must(t, l.StartAt(ctx, 100))
		}
		if err := l.StartAt(ctx, 200); err == nil {
			t.Error("a log that begins with 100 begins with 200")
		}
		if first, last := l.Bounds(); first != 100 || last != 99+uint64(i) {
			t.Errorf("the log has %d to %d, want 100 to %d", first, last, 99+i)
		}
		must(t, l.Read(ctx, 100, func(uint64, []byte) error { return nil }))
		if n, err := l.Propose(ctx, []byte("x"), nil); err != nil || n != uint64(100+i) {
			t.Errorf("batch %d, %v; want %d", n, err, 100+i)
		}
		if _, err := l.Commit(ctx); err != nil {
			t.Error(err)
		}
		must(t, l.Close())
		disk.PowerCut()
	}
}

package store

import (
	"context"
	"errors"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/durable/disk/disktest"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/internal/race"
)

// newSmallDisk returns a disk on which log and snapshots together have limit bytes.
func newSmallDisk(limit int64) *drive {
	d := newDisk()
	d.files.Join(d.Files)
	d.files.Limit(limit)
	return d
}

// toggle adds and removes keys, which makes the log longer and the filter not. It returns the error of
// the first change that is refused.
func toggle(n *node, f *engine.Filter) error {
	ds := digests(0, 500)
	for {
		_, pos, err := f.Add(nil, ds)
		if err == nil {
			err = n.Wait(context.Background(), pos)
		}
		if err == nil {
			pos, err = f.Remove(make([]bool, len(ds)), ds)
		}
		if err == nil {
			err = n.Wait(context.Background(), pos)
		}
		if err != nil {
			return err
		}
	}
}

// A disk that the log has filled is left without help, again and again, and no acknowledged change is
// lost.
func TestFullDiskIsLeft(t *testing.T) {
	race.Skip(t, "varies what a disk has room for, with one goroutine that changes")
	synctest.Test(t, func(t *testing.T) {
		const limit = 6 << 20
		d := newSmallDisk(limit)
		o := Options{Reserve: 1 << 20}
		n := start(t, d, o)
		f, _, err := n.Create("counts", "counting", umbel.Goal{Keys: 20_000, FPRate: .01}, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 5 {
			keep := digests(1000+100*i, 1100+100*i)
			if _, pos, err := f.Add(nil, keep); err != nil || n.Wait(t.Context(), pos) != nil {
				t.Fatal(err)
			}
			if err := toggle(n, f); !errors.Is(err, syscall.ENOSPC) && !errors.Is(err, errFull) {
				t.Fatalf("round %d: error %v", i, err)
			}
			time.Sleep(time.Minute)
			if err := n.Ready(); err != nil {
				t.Fatalf("round %d: still full: %v", i, err)
			}
			if used := d.files.Used(); used > limit/2 {
				t.Errorf("round %d: %d bytes of %d are used after two snapshots", i, used, limit)
			}
			wantKeys(t, n.Engine, []string{"counts"}, digests(1000, 1100+100*i))
		}
		if err := n.Sync(t.Context()); err != nil {
			t.Fatal(err)
		}
		want := contents(n.Engine)
		n.kill()
		n = start(t, d, o)
		wantSame(t, contents(n.Engine), want)
		n.end(t)
	})
}

// A disk that has room for a part of the reserve only is left as well. The reserve becomes complete
// when there is room.
func TestSmallerReserve(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const reserve = 8 << 20
		d := newSmallDisk(6 << 20)
		n := start(t, d, Options{Reserve: reserve})
		f, _, err := n.Create("counts", "counting", umbel.Goal{Keys: 20_000, FPRate: .01}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := toggle(n, f); !errors.Is(err, syscall.ENOSPC) && !errors.Is(err, errFull) {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		if err := n.Ready(); err != nil {
			t.Errorf("still full: %v", err)
		}
		if got := n.files.Reserved(); got == 0 || got >= reserve {
			t.Errorf("the reserve has %d bytes, want less than %d", got, reserve)
		}
		d.files.Limit(64 << 20)
		snap(t, n)
		if got := n.files.Reserved(); got != reserve {
			t.Errorf("the reserve has %d bytes, want %d", got, reserve)
		}
		n.end(t)
	})
}

// If the disk has no room for a snapshot, changes are refused and queries are answered until it has.
// The previous snapshot is given up before that.
func TestDiskWithoutRoomForASnapshot(t *testing.T) {
	race.Skip(t, "varies what a disk has room for, with one goroutine that changes")
	synctest.Test(t, func(t *testing.T) {
		d := newSmallDisk(16 << 20)
		n := start(t, d, Options{Reserve: 64 << 10})
		f, _, err := n.Create("counts", "counting", umbel.Goal{Keys: 2_000_000, FPRate: .01}, nil) // about 10 MB
		if err != nil {
			t.Fatal(err)
		}
		keys := digests(0, 100_000)
		f.Add(nil, keys)
		snap(t, n)
		f.Add(nil, digests(200_000, 200_500)) // all segments differ from the snapshot
		if err := toggle(n, f); !errors.Is(err, syscall.ENOSPC) && !errors.Is(err, errFull) {
			t.Fatalf("error %v", err)
		}
		time.Sleep(time.Minute)
		if err := n.Ready(); !errors.Is(err, errFull) {
			t.Errorf("ready: error %v, want %v", err, errFull)
		}
		wantKeys(t, n.Engine, []string{"counts"}, keys)
		st := n.Status()
		if st.Missing == 0 || st.Missing > st.Needed+4<<20 {
			t.Errorf("%d bytes are missing, a snapshot needs %d", st.Missing, st.Needed)
		}
		d.files.Limit(16<<20 + int64(st.Missing))
		time.Sleep(2 * look)
		if err := n.Ready(); err != nil {
			t.Errorf("with the bytes that were missing: %v", err)
		}
		want := contents(n.Engine)
		n.kill()
		n = start(t, d, Options{})
		wantSame(t, contents(n.Engine), want)
		n.end(t)
	})
}

// Room that is made while the store tries to leave a full disk is found soon after the attempt has failed.
func TestRoomDuringAnAttempt(t *testing.T) {
	race.Skip(t, "varies what a disk has room for, with one goroutine that changes")
	synctest.Test(t, func(t *testing.T) {
		d := newSmallDisk(16 << 20)
		n := start(t, d, Options{Reserve: 64 << 10})
		f, _, err := n.Create("counts", "counting", umbel.Goal{Bytes: 10 << 20, FPRate: .01}, nil)
		if err != nil {
			t.Fatal(err)
		}
		f.Add(nil, digests(0, 100_000))
		snap(t, n)
		f.Add(nil, digests(200_000, 200_500))
		if err := toggle(n, f); !errors.Is(err, syscall.ENOSPC) && !errors.Is(err, errFull) {
			t.Fatalf("error %v", err)
		}
		time.Sleep(time.Minute)
		attempted := make(chan struct{})
		attempt := sync.OnceValue(func() time.Time {
			d.files.Limit(-1)
			close(attempted)
			return time.Now()
		})
		d.files.Before(func(op disktest.Op, _ string) error {
			if op == disktest.Write && time.Now().Equal(attempt()) {
				return syscall.ENOSPC
			}
			return nil
		})
		<-attempted
		time.Sleep(2 * look)
		if err := n.Ready(); err != nil {
			t.Error(err)
		}
		n.end(t)
	})
}

// If something else takes all room, the reserve has room for a snapshot of its size: the log takes only what
// queued changes need.
func TestReserveIsForTheSnapshot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newSmallDisk(-1)
		d.segmentBytes = 4 << 20
		n := start(t, d, Options{Reserve: 8 << 20})
		f, _, err := n.Create("counts", "counting", umbel.Goal{Bytes: 6 << 20, FPRate: .01}, nil)
		if err != nil {
			t.Fatal(err)
		}
		keys := digests(1000, 101_000)
		f.Add(nil, keys)
		if err := n.Sync(t.Context()); err != nil {
			t.Fatal(err)
		}
		d.files.Limit(d.files.Used() + 4<<10)
		if err := toggle(n, f); !errors.Is(err, syscall.ENOSPC) && !errors.Is(err, errFull) {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		if err := n.Ready(); err != nil {
			t.Errorf("still full: %v", err)
		}
		wantKeys(t, n.Engine, []string{"counts"}, keys)
		want := contents(n.Engine)
		n.kill()
		n = start(t, d, Options{})
		wantSame(t, contents(n.Engine), want)
		n.end(t)
	})
}

// A store that starts on a disk without room for the next snapshot refuses changes as before, and takes no room for
// a reserve. It needs no more room than before, and accepts changes when it has that.
func TestStartOnAFullDisk(t *testing.T) {
	race.Skip(t, "varies what a disk has room for, with one goroutine that changes")
	synctest.Test(t, func(t *testing.T) {
		d := newSmallDisk(-1)
		d.segmentBytes = 1 << 20
		o := Options{Reserve: 4 << 20}
		n := start(t, d, o)
		f, _, err := n.Create("counts", "counting", umbel.Goal{Bytes: 6 << 20, FPRate: .01}, nil)
		if err != nil {
			t.Fatal(err)
		}
		f.Add(nil, digests(0, 100_000))
		if err := n.Sync(t.Context()); err != nil {
			t.Fatal(err)
		}
		d.files.Limit(d.files.Used() + 4<<10)
		if err := toggle(n, f); !errors.Is(err, syscall.ENOSPC) && !errors.Is(err, errFull) {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		before := n.Status()
		if before.Missing == 0 || !errors.Is(before.Err, errFull) {
			t.Fatalf("the disk is not full: %+v", before)
		}
		want := contents(n.Engine)
		n.kill()
		n = start(t, d, o)
		if err := n.Ready(); !errors.Is(err, errFull) {
			t.Errorf("after the start: error %v, want %v", err, errFull)
		}
		time.Sleep(time.Minute)
		st := n.Status()
		if !errors.Is(st.Err, errFull) || st.Missing == 0 || st.Missing > before.Missing {
			t.Errorf("%d bytes are missing after the start, %d before; error %v", st.Missing, before.Missing, st.Err)
		}
		if got := n.files.Reserved(); got > 0 {
			t.Errorf("the reserve took %d bytes that the snapshot needs", got)
		}
		wantSame(t, contents(n.Engine), want)
		d.files.Limit(d.files.Used() + int64(st.Left+st.Missing))
		time.Sleep(2 * look)
		if err := n.Ready(); err != nil {
			t.Errorf("with the bytes that were missing: %v", err)
		}
		n.end(t)
	})
}

// On a disk that has no room for a snapshot, a filter can be deleted, which makes room for it.
func TestDeletionOnAFullDisk(t *testing.T) {
	race.Skip(t, "varies what a disk has room for, with one goroutine that changes")
	synctest.Test(t, func(t *testing.T) {
		d := newSmallDisk(-1)
		n := start(t, d, Options{Reserve: 1 << 20})
		f, _, err := n.Create("counts", "counting", umbel.Goal{Bytes: 6 << 20, FPRate: .01}, nil)
		if err != nil {
			t.Fatal(err)
		}
		f.Add(nil, digests(0, 100_000))
		snap(t, n)
		f.Add(nil, digests(100_000, 200_000))
		if err := n.Sync(t.Context()); err != nil {
			t.Fatal(err)
		}
		d.files.Limit(d.files.Used() + 4<<10)
		if err := toggle(n, f); !errors.Is(err, syscall.ENOSPC) && !errors.Is(err, errFull) {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		if err := n.Ready(); !errors.Is(err, errFull) {
			t.Fatalf("error %v, want %v", err, errFull)
		}
		_, pos, err := n.Delete([]byte("counts"))
		if err == nil {
			err = n.Wait(t.Context(), pos)
		}
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * look)
		if err := n.Ready(); err != nil {
			t.Errorf("afterwards: %v", err)
		}
		n.kill()
		n = start(t, d, Options{})
		if n.Engine.Len() > 0 {
			t.Errorf("%d filters, want none", n.Engine.Len())
		}
		n.end(t)
	})
}

// Before the log has taken the room that a snapshot needs, one is taken.
func TestSnapshotBeforeTheDiskIsFull(t *testing.T) {
	race.Skip(t, "varies what a disk has room for, with one goroutine that changes")
	synctest.Test(t, func(t *testing.T) {
		d := newSmallDisk(40 << 20)
		n := start(t, d, Options{Reserve: 1 << 20, SnapshotBytes: 16 << 20})
		f, _, err := n.Create("counts", "counting", umbel.Goal{Bytes: 8 << 20, FPRate: .01}, nil)
		if err != nil {
			t.Fatal(err)
		}
		f.Add(nil, digests(0, 100_000))
		// The store looks at the disk after each 2 MB of the log.
		for began := n.Status().CommitBytes; n.Status().CommitBytes-began < 64<<20; time.Sleep(look / 128) {
			if err := toggleOnce(n, f); err != nil {
				t.Fatalf("after %d bytes: %v", n.Status().CommitBytes-began, err)
			}
		}
		n.end(t)
	})
}

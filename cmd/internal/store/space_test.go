package store

import (
	"context"
	"errors"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/disk/disktest"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/oplog"
	"github.com/umbel-filters/umbel/cmd/internal/oplog/oplogtest"
)

// smallDisk is a disk on which log and snapshots together have limit bytes.
type smallDisk struct {
	*disk
	limit atomic.Int64
	log   oplog.Log
}

func newSmallDisk(limit int64) *smallDisk {
	d := &smallDisk{disk: newDisk()}
	d.limit.Store(limit)
	d.Before(func(_ context.Context, op oplogtest.Op, _ uint64) error {
		if op == oplogtest.Append && d.used() >= d.limit.Load() {
			return syscall.ENOSPC
		}
		return nil
	})
	d.files.Before(func(op disktest.Op, _ string) error {
		if op == disktest.Write || op == disktest.Allocate {
			d.files.Limit(max(0, d.limit.Load()-d.logBytes()))
		}
		return nil
	})
	return d
}

func (d *smallDisk) logBytes() int64 { return int64(d.log.Bytes()) }
func (d *smallDisk) used() int64     { return d.logBytes() + d.files.Used() }

// start starts a node. The log is not used before it is opened.
func (d *smallDisk) start(t *testing.T, o Options) *node {
	t.Helper()
	d.log = noLog{}
	n := start(t, d.disk, o)
	d.log = n.log
	return n
}

type noLog struct{ oplog.Log }

func (noLog) Bytes() uint64 { return 0 }

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
	synctest.Test(t, func(t *testing.T) {
		d := newSmallDisk(6 << 20)
		o := Options{Reserve: 1 << 20}
		n := d.start(t, o)
		f, _, err := n.Create("counts", "counting", umbel.Goal{Keys: 20_000, FPRate: .01}, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 5 {
			keep := digests(1000+100*i, 1100+100*i)
			if _, pos, err := f.Add(nil, keep); err != nil || n.Wait(t.Context(), pos) != nil {
				t.Fatal(err)
			}
			if err := toggle(n, f); !errors.Is(err, syscall.ENOSPC) && !errors.Is(err, ErrFull) {
				t.Fatalf("round %d: error %v", i, err)
			}
			time.Sleep(time.Minute)
			if err := n.Ready(); err != nil {
				t.Fatalf("round %d: still full: %v", i, err)
			}
			if used := d.used(); used > d.limit.Load()/2 {
				t.Errorf("round %d: %d bytes of %d are used after two snapshots", i, used, d.limit.Load())
			}
			wantKeys(t, n.Engine, []string{"counts"}, digests(1000, 1100+100*i))
		}
		if err := n.Sync(t.Context()); err != nil {
			t.Fatal(err)
		}
		want := contents(n.Engine)
		n.kill()
		n = d.start(t, o)
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
		n := d.start(t, Options{Reserve: reserve})
		f, _, err := n.Create("counts", "counting", umbel.Goal{Keys: 20_000, FPRate: .01}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := toggle(n, f); !errors.Is(err, syscall.ENOSPC) && !errors.Is(err, ErrFull) {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		if err := n.Ready(); err != nil {
			t.Errorf("still full: %v", err)
		}
		if got := n.files.Reserved(); got == 0 || got >= reserve {
			t.Errorf("the reserve has %d bytes, want less than %d", got, reserve)
		}
		d.limit.Store(64 << 20)
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
	synctest.Test(t, func(t *testing.T) {
		d := newSmallDisk(16 << 20)
		n := d.start(t, Options{Reserve: 64 << 10})
		f, _, err := n.Create("counts", "counting", umbel.Goal{Keys: 2_000_000, FPRate: .01}, nil) // about 10 MB
		if err != nil {
			t.Fatal(err)
		}
		keys := digests(0, 100_000)
		f.Add(nil, keys)
		snap(t, n)
		f.Add(nil, digests(200_000, 200_500)) // all segments differ from the snapshot
		if err := toggle(n, f); !errors.Is(err, syscall.ENOSPC) && !errors.Is(err, ErrFull) {
			t.Fatalf("error %v", err)
		}
		time.Sleep(time.Minute)
		if err := n.Ready(); !errors.Is(err, ErrFull) {
			t.Errorf("ready: error %v, want %v", err, ErrFull)
		}
		wantKeys(t, n.Engine, []string{"counts"}, keys)
		d.limit.Store(64 << 20)
		time.Sleep(time.Minute)
		if err := n.Ready(); err != nil {
			t.Errorf("with more room: %v", err)
		}
		want := contents(n.Engine)
		n.kill()
		n = d.start(t, Options{})
		wantSame(t, contents(n.Engine), want)
		n.end(t)
	})
}

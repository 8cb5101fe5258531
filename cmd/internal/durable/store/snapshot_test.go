package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/durable/disk/disktest"
	"github.com/umbel-filters/umbel/cmd/internal/durable/statecode"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
)

// Filters of every kind that change all the time while snapshots are made are what they
// were after a kill, with all that was acknowledged, bit for bit.
func TestAdditionsDuringSnapshots(t *testing.T) {
	for name, o := range map[string]Options{"always": {}, "everysec": {Durability: EverySec}} {
		t.Run(name, func(t *testing.T) {
			d := newDisk()
			d.files.Before(slowFiles)
			n := start(t, d, o)
			// Some have many segments, so that copies take a while.
			filters := n.make(t, 600_000)
			var stop atomic.Bool
			var adders, snapshots sync.WaitGroup
			for g := range 3 {
				adders.Go(func() {
					for i := 0; i < 30 && !stop.Load(); i++ {
						for k, f := range filters {
							from := (g*30+i)*20 + k
							_, pos, err := f.Add(nil, digests(from, from+25))
							if err == nil {
								err = n.Wait(t.Context(), pos)
							}
							if err != nil {
								t.Errorf("%s: %v", f.Name(), err)
								return
							}
						}
					}
				})
			}
			adders.Go(func() {
				for i := range 30 {
					for _, f := range filters {
						if pos, err := f.Remove(make([]bool, 5), digests(i*20, i*20+5)); err == nil {
							n.Wait(t.Context(), pos)
						}
					}
				}
			})
			snapshots.Go(func() {
				for !stop.Load() {
					if err := n.Snapshot(context.Background()); err != nil {
						t.Error(err)
						return
					}
				}
			})
			adders.Wait()
			stop.Store(true)
			snapshots.Wait()
			if err := n.Sync(t.Context()); err != nil {
				t.Fatal(err)
			}
			n.kill()
			again := start(t, d, o)
			wantSame(t, contents(again.Engine), contents(n.Engine))
			if again.report.Snapshot.IsZero() {
				t.Error("no snapshot was read")
			}
			again.end(t)
		})
	}
}

// putPieces counts the pieces that are written to a disk.
func putPieces(d *drive) *atomic.Int64 {
	var n atomic.Int64
	d.files.Before(func(op disktest.Op, name string) error {
		if op == disktest.Create && strings.HasPrefix(name, "piece-") {
			n.Add(1)
		}
		return nil
	})
	return &n
}

func snap(t testing.TB, n *node) {
	t.Helper()
	if err := n.Snapshot(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// What didn't change isn't written again: filters, and segments of filters.
func TestSnapshotsWriteWhatChanged(t *testing.T) {
	d := newDisk()
	n := start(t, d, Options{})
	var large *engine.Filter
	for _, name := range []string{"a", "b"} {
		f, _, err := n.Create(name, "bloom", umbel.Goal{Keys: 4_000_000, FPRate: .01}, nil) // about 9 segments
		if err != nil {
			t.Fatal(err)
		}
		f.Add(nil, digests(0, 2000))
		large = f
	}
	put := putPieces(d)
	snap(t, n)
	if n := put.Swap(0); n < 9 {
		t.Errorf("%d pieces of two filters of 9 segments", n)
	}
	snap(t, n)
	if n := put.Swap(0); n != 0 {
		t.Errorf("%d pieces of nothing new", n)
	}
	large.Expire(1 << 50)
	snap(t, n)
	if n := put.Swap(0); n != 1 {
		t.Errorf("%d pieces of a filter with the same cells, want the catalog alone", n)
	}
	d1 := digest(5000)
	large.Add(nil, []umbel.Digest{d1})
	snap(t, n)
	if n := put.Swap(0); n < 2 || n > 8 {
		t.Errorf("%d pieces of a filter with one key more", n)
	}
	large.Expire(1 << 51)
	snap(t, n) // moves segments out of pieces that are mostly obsolete
	want := contents(n.Engine)
	n.end(t)
	// A new process knows what the last one wrote.
	n = start(t, d, Options{})
	wantSame(t, contents(n.Engine), want)
	put = putPieces(d)
	n.Get([]byte("a")).Expire(1 << 50)
	snap(t, n)
	if n := put.Swap(0); n != 1 {
		t.Errorf("%d pieces of a filter with the same cells, want the catalog alone", n)
	}
	n.end(t)
}

// The log and the files of old snapshots are deleted.
func TestOldSnapshotsAreDeleted(t *testing.T) {
	d := newDisk()
	n := start(t, d, Options{})
	filters := n.make(t, 10_000)
	var previous, last uint64 // batches before the last two snapshots
	for i := range 30 {
		for _, f := range filters {
			if _, _, err := f.Add(nil, digests(i*20, i*20+20)); err != nil {
				t.Fatal(err)
			}
		}
		n.Sync(t.Context())
		previous = last
		_, last = n.log.Bounds()
		snap(t, n)
	}
	if first, last := n.log.Bounds(); first <= previous {
		t.Errorf("batches %d to %d are kept, and the last snapshot but one has those up to %d", first, last, previous)
	}
	if pieces := len(d.pieces()); pieces > 6 || pieces != len(n.files.Pieces()) || len(d.manifests()) != 4 {
		t.Errorf("%d pieces are kept, %d are known, manifests %q", pieces, len(n.files.Pieces()), d.manifests())
	}
	n.end(t)
}

// cellBytes returns the size of the cells of all filters.
func cellBytes(e *engine.Engine) (sum uint64) {
	e.ListAll(0, 1<<30, func(f *engine.Filter) bool {
		f.View(func(g umbel.Filter) {
			state := g.State()
			sum += statecode.Size(&state)
		})
		return true
	})
	return sum
}

// Small filters that change one after the other do not leave pieces that are mostly obsolete.
func TestSparsePiecesAreCleared(t *testing.T) {
	d := newDisk()
	n := start(t, d, Options{})
	var filters []*engine.Filter
	for i := range 500 {
		f, _, err := n.Create(fmt.Sprint("f", i), "bloom", umbel.Goal{Keys: 4000, FPRate: .01}, nil) // 5 KB
		if err != nil {
			t.Fatal(err)
		}
		f.Add(nil, digests(0, 500))
		filters = append(filters, f)
	}
	for i, f := range filters {
		f.Add(nil, digests(1000+i, 1500+i))
		if i%10 == 0 {
			snap(t, n)
		}
	}
	n.Get([]byte("f0")).Expire(1 << 50)
	snap(t, n)
	n.Get([]byte("f0")).Expire(1 << 51)
	snap(t, n)
	if size, live := n.files.Bytes(), cellBytes(n.Engine); size > 5*live/2+100_000 {
		t.Errorf("%d bytes of files for %d bytes of cells", size, live)
	}
	want := contents(n.Engine)
	n.kill()
	n = start(t, d, Options{})
	wantSame(t, contents(n.Engine), want)
	n.end(t)
}

// A snapshot for which there is no room is an error, leaves nothing, and comes later.
func TestSnapshotsOnAFullDisk(t *testing.T) {
	d := newDisk()
	n := start(t, d, Options{})
	for _, f := range n.make(t, 10_000) {
		f.Add(nil, digests(0, 1000))
	}
	if err := n.Sync(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := contents(n.Engine)
	for fail := 0; ; fail++ {
		var calls atomic.Int64 // the store looks at the free room meanwhile
		d.files.Before(func(disktest.Op, string) error {
			if calls.Add(1) > int64(fail) {
				return syscall.ENOSPC
			}
			return nil
		})
		if err := n.Snapshot(t.Context()); err == nil {
			break
		}
		if n.Status().LastSnapshotErr == nil {
			t.Error("the status doesn't say that there was no snapshot")
		}
		other := start(t, d.Clone(), Options{})
		wantSame(t, contents(other.Engine), want)
		other.end(t)
	}
	d.files.Before(nil)
	n.Get([]byte("bloom")).Add(nil, digests(5000, 5001))
	snap(t, n)
	want = contents(n.Engine)
	n.kill()
	n = start(t, d, Options{})
	wantSame(t, contents(n.Engine), want)
	n.end(t)
}

// With None, what the last snapshot had is there, and a clean end is one.
func TestNoneKeepsSnapshots(t *testing.T) {
	d := newDisk()
	o := Options{Durability: None}
	n := start(t, d, o)
	filters := n.make(t, 1000)
	for _, f := range filters {
		f.Add(nil, digests(0, 500))
	}
	snap(t, n)
	want := contents(n.Engine)
	for _, f := range filters {
		f.Add(nil, digests(500, 900))
	}
	n.kill()
	n = start(t, d, o)
	wantSame(t, contents(n.Engine), want)
	n.Get([]byte("bloom")).Add(nil, digests(900, 950))
	want = contents(n.Engine)
	n.end(t)
	// The next keeps a log, which goes on where the snapshot ends.
	for range 3 {
		n = start(t, d, Options{})
		wantSame(t, contents(n.Engine), want)
		f := n.Get([]byte("counting"))
		_, pos, err := f.Add(nil, digests(0, 10))
		if err != nil || n.Wait(t.Context(), pos) != nil {
			t.Fatal(err)
		}
		want = contents(n.Engine)
		n.kill()
	}
	n = start(t, d, o)
	wantSame(t, contents(n.Engine), want)
	n.Get([]byte("bloom")).Add(nil, digests(2000, 2001))
	want = contents(n.Engine)
	n.end(t)
	n = start(t, d, Options{})
	wantSame(t, contents(n.Engine), want)
	n.end(t)
}

func TestSnapshotsByTimeAndLength(t *testing.T) {
	for name, o := range map[string]Options{"time": {SnapshotInterval: 2 * time.Second}, "length": {SnapshotBytes: 1000}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := start(t, newDisk(), o)
				f := n.make(t, 1000)[0]
				_, pos, err := f.Add(nil, digests(0, 500))
				if err != nil || n.Wait(t.Context(), pos) != nil {
					t.Fatal(err)
				}
				time.Sleep(3 * time.Second)
				if n.Status().LastSnapshot.IsZero() {
					t.Error("no snapshot")
				}
				n.end(t)
			})
		})
	}
}

// A hundred thousand small filters: UMBEL_LONG=1.
func TestManyFilters(t *testing.T) {
	count := 1000
	if os.Getenv("UMBEL_LONG") != "" {
		count = 100_000
	}
	d := newDisk()
	n := start(t, d, Options{})
	for i := range count {
		f, _, err := n.Create(fmt.Sprint("filter:", i), "redisbloom", umbel.Goal{Keys: 100, FPRate: .01}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := f.Add(nil, digests(i, i+3)); err != nil {
			t.Fatal(err)
		}
	}
	begin := time.Now()
	snap(t, n)
	t.Logf("snapshot of %d filters: %v", count, time.Since(begin))
	n.Get([]byte("filter:7")).Add(nil, digests(20, 21))
	begin = time.Now()
	snap(t, n)
	t.Logf("snapshot of one of them: %v", time.Since(begin))
	want := contents(n.Engine)
	n.end(t)
	n = start(t, d, Options{})
	t.Logf("start: %v", n.report.Took)
	wantSame(t, contents(n.Engine), want)
	n.end(t)
}

// A manifest that was kept though the disk said otherwise is not in the way of the next, and
// what it names is there while it is the last.
func TestManifestKeptInSpiteOfAnError(t *testing.T) {
	for name, o := range map[string]Options{"always": {}, "none": {Durability: None}} {
		t.Run(name, func(t *testing.T) {
			d := newDisk()
			n := start(t, d, o)
			n.make(t, 2000)
			var keys int
			more := func() {
				t.Helper()
				n.ListAll(0, 1000, func(f *engine.Filter) bool {
					f.Add(nil, digests(keys, keys+100))
					return true
				})
				keys += 100
			}
			var names []string
			n.ListAll(0, 1000, func(f *engine.Filter) bool {
				if f.Kind() != "window" {
					names = append(names, f.Name())
				}
				return true
			})
			for round := range 6 {
				more()
				snap(t, n)
				more()
				// The last call of Publish fails after the manifest was renamed.
				renames := 0
				d.files.Before(func(op disktest.Op, name string) error {
					if op == disktest.Rename {
						renames++
					}
					if renames > round%2 && op != disktest.Rename {
						return errors.New("no answer")
					}
					return nil
				})
				failed := n.Snapshot(t.Context())
				d.files.Before(nil)
				check := func() {
					t.Helper()
					if err := n.Sync(t.Context()); err != nil {
						t.Fatal(err)
					}
					other := start(t, d.Clone(), o)
					wantKeys(t, other.Engine, names, digests(0, keys))
					other.end(t)
				}
				if o.Durability == Always {
					check()
				}
				more()
				if err := n.Snapshot(t.Context()); err != nil {
					t.Fatalf("round %d: after a snapshot that failed (%v): %v", round, failed, err)
				}
				check()
			}
			n.end(t)
		})
	}
}

// A snapshot is valid even if obsolete data cannot be deleted.
func TestSnapshotThatLeavesObsoleteData(t *testing.T) {
	d := newDisk()
	d.segmentBytes = 64 << 10
	n := start(t, d, Options{})
	f, _, err := n.Create("a", "bloom", umbel.Goal{Keys: 100_000, FPRate: .01}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var purges atomic.Int32
	for i := range 4 {
		f.Add(nil, digests(i*5000, i*5000+5000)) // more than a segment
		d.Before(func(op disktest.Op, name string) error {
			if op == disktest.Remove || op == disktest.Rename && strings.HasSuffix(name, ".old") {
				purges.Add(1)
				return errors.New("not now")
			}
			return nil
		})
		d.files.Before(func(op disktest.Op, _ string) error {
			if op == disktest.Remove {
				return errors.New("not now")
			}
			return nil
		})
		snap(t, n)
		if err := n.Status().LastSnapshotErr; err != nil {
			t.Errorf("the status says of a snapshot that was made: %v", err)
		}
	}
	if purges.Load() == 0 {
		t.Error("nothing of the log was obsolete")
	}
	files := len(d.files.Names())
	d.Before(nil)
	d.files.Before(nil)
	f.Add(nil, digests(20_000, 20_100))
	snap(t, n)
	if left := len(d.files.Names()); left >= files {
		t.Errorf("%d files, %d before obsolete ones could be deleted", left, files)
	}
	n.end(t)
}

// A snapshot in a directory without permission fails with one message, which has the user that needs it.
func TestSnapshotWithoutPermission(t *testing.T) {
	d, log := newDisk(), new(lockedBuffer)
	n := start(t, d, Options{Log: slog.New(slog.NewTextHandler(log, nil))})
	n.make(t, 100)
	d.files.Before(func(op disktest.Op, _ string) error {
		if op == disktest.Write {
			return fs.ErrPermission
		}
		return nil
	})
	err := n.Snapshot(t.Context())
	if user := fmt.Sprintf("user %d,", os.Getuid()); !errors.Is(err, fs.ErrPermission) || os.Getuid() >= 0 && !strings.Contains(err.Error(), user) {
		t.Errorf("error %v, want %q in it", err, user)
	}
	if got := strings.Count(log.String(), "level=ERROR"); got != 1 {
		t.Errorf("%d errors are logged: %s", got, log)
	}
	d.files.Before(nil)
	snap(t, n)
	n.end(t)
}

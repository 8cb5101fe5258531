package store

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/budget"
	"github.com/umbel-filters/umbel/cmd/internal/disk/disktest"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/oplog/oplogtest"
)

// The log of a node with little space has small files: one in use and two that are kept must fit.
func TestSegmentBytes(t *testing.T) {
	for limit, want := range map[uint64]int64{0: 0, 64 << 20: 2 << 20, 1 << 30: 32 << 20, 1 << 40: 32 << 20} {
		if got := SegmentBytes(limit); got != want {
			t.Errorf("limit %d: segments of %d bytes, want %d", limit, got, want)
		}
	}
}

// limitedNode is a node with a limit of its files, and the most that they ever took.
type limitedNode struct {
	*node
	limit *budget.Budget
	most  atomic.Int64
}

func startLimited(t *testing.T, limit uint64) *limitedNode {
	d := newDisk()
	n := &limitedNode{limit: budget.New(limit)}
	note := func() {
		used := d.files.Used() + d.Files.Used()
		for most := n.most.Load(); used > most && !n.most.CompareAndSwap(most, used); most = n.most.Load() {
		}
	}
	d.Files.Before(func(disktest.Op, string) error { note(); return nil })
	d.Before(func(context.Context, oplogtest.Op, uint64) error { note(); return nil })
	d.files.Before(func(disktest.Op, string) error { note(); return nil })
	n.node = start(t, d, Options{Disk: n.limit, Reserve: 64 << 20})
	return n
}

// At full speed, log and snapshots never exceed the limit, also while snapshots are taken. Changes are
// refused for a short time, if at all, and none that was acknowledged is lost.
func TestMaxDiskIsNotExceeded(t *testing.T) {
	for name, c := range map[string]struct {
		limit, keys uint64
	}{
		"small filters": {8 << 20, 20_000},
		"large filters": {64 << 20, 2_000_000}, // about 10 MB
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := startLimited(t, c.limit)
				f, _, err := n.Create("counts", "counting", umbel.Goal{Keys: c.keys, FPRate: .01}, nil)
				if err != nil {
					t.Fatal(err)
				}
				kept := 0
				for round := range 10 {
					began := n.Status().CommitBytes
					for n.Status().CommitBytes-began < c.limit/2 {
						keep := digests(100_000+100*kept, 100_100+100*kept)
						_, pos, err := f.Add(nil, keep)
						if err == nil {
							kept++
							err = n.Wait(t.Context(), pos)
						}
						if err == nil {
							err = toggleOnce(n.node, f)
						}
						if err != nil && !errors.Is(err, ErrFull) {
							t.Fatal(err)
						}
						if err != nil {
							time.Sleep(fullRetry)
						}
					}
					if err := n.Sync(t.Context()); err != nil && !errors.Is(err, ErrFull) {
						t.Fatalf("round %d: %v", round, err)
					}
				}
				if most := n.most.Load(); most > int64(c.limit) || most < int64(c.limit)/4 {
					t.Errorf("up to %d bytes were used, want at most %d, and at least a quarter", most, c.limit)
				}
				time.Sleep(time.Minute)
				if err := n.Ready(); err != nil {
					t.Errorf("a minute later: %v", err)
				}
				want := contents(n.Engine)
				n.kill()
				again := start(t, n.disk, Options{})
				wantSame(t, contents(again.Engine), want)
				wantKeys(t, again.Engine, []string{"counts"}, digests(100_000, 100_000+100*kept))
				again.end(t)
			})
		})
	}
}

// toggleOnce adds and removes keys and waits until that is durable.
func toggleOnce(n *node, f *engine.Filter) error {
	ds := digests(0, 500)
	if _, _, err := f.Add(nil, ds); err != nil {
		return err
	}
	pos, err := f.Remove(make([]bool, len(ds)), ds)
	if err == nil {
		err = n.Wait(context.Background(), pos)
	}
	return err
}

// A limit below what the filters take refuses changes until it is raised.
func TestMaxDiskIsChanged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const limit = 8 << 20
		n := startLimited(t, limit)
		f, _, err := n.Create("counts", "counting", umbel.Goal{Keys: 20_000, FPRate: .01}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := toggleOnce(n.node, f); err != nil {
			t.Fatal(err)
		}
		n.limit.SetLimit(1)
		time.Sleep(2 * time.Second)
		if _, _, err := f.Add(nil, digests(0, 1)); !errors.Is(err, ErrFull) || !errors.Is(err, engine.ErrReadOnly) || !errors.Is(err, budget.ErrDisk) {
			t.Errorf("above the limit a change has the error %v", err)
		}
		n.limit.SetLimit(limit)
		time.Sleep(time.Minute)
		if _, _, err := f.Add(nil, digests(0, 1)); err != nil {
			t.Errorf("after the limit was raised: %v", err)
		}
		n.end(t)
	})
}

// A limit that leaves no room for a snapshot of filters that change refuses changes, and is not exceeded.
func TestMaxDiskBelowTwiceTheFilters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const limit = 16 << 20
		n := startLimited(t, limit)
		f, _, err := n.Create("counts", "counting", umbel.Goal{Keys: 2_000_000, FPRate: .01}, nil) // about 10 MB
		if err != nil {
			t.Fatal(err)
		}
		keys := digests(0, 100_000)
		f.Add(nil, keys)
		snap(t, n.node)
		for err = nil; err == nil; err = toggleOnce(n.node, f) {
		}
		if !errors.Is(err, ErrFull) {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		if err := n.Ready(); !errors.Is(err, ErrFull) {
			t.Errorf("ready: error %v, want %v", err, ErrFull)
		}
		if most := n.most.Load(); most > limit {
			t.Errorf("up to %d bytes were used, want at most %d", most, limit)
		}
		wantKeys(t, n.Engine, []string{"counts"}, keys)
		n.limit.SetLimit(64 << 20)
		time.Sleep(time.Minute)
		if err := n.Ready(); err != nil {
			t.Errorf("with more room: %v", err)
		}
		n.end(t)
	})
}

package store

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/durable/disk/disktest"
	"github.com/umbel-filters/umbel/cmd/internal/durable/snapshot"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/engine/operation"
	"github.com/umbel-filters/umbel/cmd/internal/files/quantity"
	"github.com/umbel-filters/umbel/cmd/internal/service/budget"
	"github.com/umbel-filters/umbel/internal/race"
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
	d.Before(func(disktest.Op, string) error { note(); return nil })
	d.files.Before(func(disktest.Op, string) error { note(); return nil })
	n.node = start(t, d, Options{Disk: n.limit, Reserve: 64 << 20})
	return n
}

// At full speed, log and snapshots never exceed the limit, also while snapshots are taken. Changes are
// refused for a short time, if at all, and none that was acknowledged is lost.
func TestMaxDiskIsNotExceeded(t *testing.T) {
	race.Skip(t, "varies what a disk has room for, with one goroutine that changes")
	rounds := 10
	if testing.Short() {
		rounds = 3
	}
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
				for round := range rounds {
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
						if err != nil && !errors.Is(err, errFull) {
							t.Fatal(err)
						}
						if err != nil {
							time.Sleep(fullRetry)
						}
					}
					if err := n.Sync(t.Context()); err != nil && !errors.Is(err, errFull) {
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
		n.LimitChanged()
		synctest.Wait()
		if _, _, err := f.Add(nil, digests(0, 1)); !errors.Is(err, errFull) || !errors.Is(err, engine.ErrReadOnly) || !errors.Is(err, budget.ErrDisk) {
			t.Errorf("above the limit a change has the error %v", err)
		}
		time.Sleep(time.Minute)
		n.limit.SetLimit(limit)
		n.LimitChanged()
		synctest.Wait() // and no time passes
		if _, _, err := f.Add(nil, digests(0, 1)); err != nil {
			t.Errorf("after the limit was raised: %v", err)
		}
		if got := n.files.Reserved(); got != limit/8 {
			t.Errorf("the reserve has %d bytes, want %d", got, limit/8)
		}
		n.end(t)
	})
}

// Below the limit that the filters need, the refusal names that limit, whether or not there are snapshots: more of
// them do not help.
func TestRefusalNamesTheLimit(t *testing.T) {
	race.Skip(t, "varies what a disk has room for, with one goroutine that changes")
	for _, snapshots := range []int{0, 1, 2} {
		synctest.Test(t, func(t *testing.T) {
			n := startLimited(t, 64<<20)
			f, _, err := n.Create("keys", "bloom", umbel.Goal{Bytes: 12 << 20, FPRate: .01}, nil)
			if err != nil {
				t.Fatal(err)
			}
			f.Add(nil, digests(0, 100_000))
			for i := range snapshots {
				snap(t, n.node)
				f.Add(nil, digests(100_000+100*i, 100_100+100*i))
			}
			if err := n.Sync(t.Context()); err != nil {
				t.Fatal(err)
			}
			n.limit.SetLimit(17 << 20)
			n.LimitChanged()
			time.Sleep(time.Minute)
			want := fmt.Sprintf("max-disk is at least %v", quantity.Size(n.LimitFor()).RoundUp())
			if err := n.Ready(); !errors.Is(err, errFull) || !strings.Contains(err.Error(), want) {
				t.Errorf("%d snapshots: error %v, want %q", snapshots, err, want)
			}
			if got := n.Status().NeededMax; got != n.LimitFor() {
				t.Errorf("%d snapshots: the status has a limit of %d, want %d", snapshots, got, n.LimitFor())
			}
			n.limit.SetLimit(n.LimitFor())
			n.LimitChanged()
			time.Sleep(time.Minute)
			if err, got := n.Ready(), n.Status().NeededMax; err != nil || got > 0 {
				t.Errorf("%d snapshots: with that limit: %v, a limit of %d is needed", snapshots, err, got)
			}
			n.end(t)
		})
	}
}

// A limit that leaves no room for a snapshot of filters that change refuses changes, and is not exceeded.
func TestMaxDiskBelowTwiceTheFilters(t *testing.T) {
	race.Skip(t, "varies what a disk has room for, with one goroutine that changes")
	synctest.Test(t, func(t *testing.T) {
		const limit = 16 << 20
		n := startLimited(t, 64<<20)
		f, _, err := n.Create("counts", "counting", umbel.Goal{Keys: 2_000_000, FPRate: .01}, nil) // about 10 MB
		if err != nil {
			t.Fatal(err)
		}
		keys := digests(0, 100_000)
		f.Add(nil, keys)
		snap(t, n.node)
		snap(t, n.node)
		n.limit.SetLimit(limit)
		n.LimitChanged()
		time.Sleep(time.Minute)
		n.most.Store(0)
		for err = nil; err == nil; err = toggleOnce(n.node, f) {
		}
		if !errors.Is(err, errFull) {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		if err := n.Ready(); !errors.Is(err, errFull) {
			t.Errorf("ready: error %v, want %v", err, errFull)
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

// The least limit for filters is the one within which a snapshot of them fits even if all of their cells
// changed, and increases with them.
func TestLimitFor(t *testing.T) {
	o := Options{Reserve: 64 << 20}
	before := uint64(0)
	for filters := uint64(0); filters < 1<<40; filters += filters/10 + 100<<10 {
		limit := o.limitFor(filters)
		need := 3*snapshot.Bytes(filters) + o.reserveBytes(limit) + logSegments*uint64(SegmentBytes(limit))
		if limit < need || limit > need+need/10+8<<20 || limit < before {
			t.Fatalf("filters of %d bytes: limit %d, need %d, %d for smaller ones", filters, limit, need, before)
		}
		before = limit
	}
}

// A filter is refused if the limit has no room for it, and its snapshots if all cells change. The error is
// engine.ErrDisk, and with the limit that the store requires it is made.
func TestFilterAboveMaxDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := startLimited(t, 16<<20)
		goal := umbel.Goal{Bytes: 6 << 20, FPRate: .01}
		if _, _, err := n.Create("large", "bloom", goal, nil); !errors.Is(err, engine.ErrDisk) {
			t.Errorf("error %v, want %v", err, engine.ErrDisk)
		}
		if err := n.Ready(); err != nil || n.Engine.Len() > 0 {
			t.Errorf("after the refusal: %d filters, %v", n.Engine.Len(), err)
		}
		n.limit.SetLimit(n.o.limitFor(6<<20 + 1000))
		n.LimitChanged()
		if _, _, err := n.Create("large", "bloom", goal, nil); err != nil {
			t.Errorf("with the limit that it needs: %v", err)
		}
		n.end(t)
	})
}

// With the least limit for its filters a store always gets below the limit again, with any changes and any
// obsolete pieces of its snapshots.
func TestLeastLimitIsEnough(t *testing.T) {
	race.Skip(t, "varies what a disk has room for, with one goroutine that changes")
	seeds := uint64(2)
	if testing.Short() {
		seeds = 1
	}
	for seed := range seeds {
		synctest.Test(t, func(t *testing.T) {
			n := startLimited(t, 1<<30)
			random := rand.New(rand.NewPCG(seed, 0))
			var filters []*engine.Filter
			for i := range 4 {
				// Filters of some segments each, that share pieces.
				f, _, err := n.Create(fmt.Sprint(i), "counting", umbel.Goal{Bytes: uint64(300<<10 + random.IntN(1500<<10)), FPRate: .01}, nil)
				if err != nil {
					t.Fatal(err)
				}
				f.Add(nil, digests(0, 1000))
				filters = append(filters, f)
			}
			limit := n.LimitFor()
			n.limit.SetLimit(limit)
			n.LimitChanged()
			time.Sleep(time.Minute)
			n.most.Store(0)
			for round := range 20 {
				f := filters[random.IntN(len(filters))]
				for range 1 + random.IntN(300) {
					if err := toggleOnce(n.node, f); errors.Is(err, errFull) {
						break
					} else if err != nil {
						t.Fatal(err)
					}
				}
				if random.IntN(3) == 0 {
					_ = n.Snapshot(t.Context())
				}
				time.Sleep(time.Minute)
				if err := n.Ready(); err != nil {
					t.Fatalf("seed %d, round %d: %v", seed, round, err)
				}
			}
			if most := n.most.Load(); most > int64(limit) {
				t.Errorf("up to %d bytes were used, want at most %d", most, limit)
			}
			n.end(t)
		})
	}
}

// A limit that is too small for the filters refuses changes, but not those that free space. They end the refusal,
// and snapshots without the deleted filters make room.
func TestDeletionAtMaxDisk(t *testing.T) {
	race.Skip(t, "varies what a disk has room for, with one goroutine that changes")
	for name, free := range map[string]func(*engine.Engine, *engine.Filter) (engine.Position, error){
		"delete": func(e *engine.Engine, _ *engine.Filter) (engine.Position, error) {
			_, pos, err := e.Delete([]byte("large"))
			return pos, err
		},
		"fold": func(_ *engine.Engine, f *engine.Filter) (engine.Position, error) {
			return f.Do(operation.Fold, umbel.Uint(8))
		},
		"flush": func(e *engine.Engine, _ *engine.Filter) (engine.Position, error) { return e.Flush() },
	} {
		if testing.Short() && name != "fold" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const limit = 15 << 20
				n := startLimited(t, 1<<30)
				large, _, err := n.Create("large", "bloom", umbel.Goal{Bytes: 7200 << 10, FPRate: .01}, nil)
				if err != nil {
					t.Fatal(err)
				}
				small, _, err := n.Create("small", "bloom", umbel.Goal{Keys: 1000, FPRate: .01}, nil)
				if err != nil {
					t.Fatal(err)
				}
				large.Add(nil, digests(0, 100_000))
				snap(t, n.node)
				large.Add(nil, digests(100_000, 200_000))
				n.limit.SetLimit(limit)
				n.LimitChanged()
				time.Sleep(time.Minute)
				synctest.Wait()
				if _, _, err := small.Add(nil, digests(0, 1)); !errors.Is(err, errFull) {
					t.Fatalf("error %v, want %v", err, errFull)
				}
				if st := n.Status(); st.Missing == 0 || st.Needed < 7<<20 || st.MaxBytes != limit || st.Err == nil {
					t.Errorf("status %+v", st)
				}
				pos, err := free(n.Engine, large)
				if err == nil {
					err = n.Wait(t.Context(), pos)
				}
				if err != nil {
					t.Fatal(err)
				}
				time.Sleep(2 * look)
				synctest.Wait()
				if err := n.Ready(); err != nil {
					t.Errorf("afterwards: %v", err)
				}
				if used := n.disk.files.Used() + n.disk.Files.Used(); used > limit/2 {
					t.Errorf("%d bytes are used, want at most %d", used, limit/2)
				}
				if st := n.Status(); st.Missing > 0 {
					t.Errorf("%d bytes are still missing", st.Missing)
				}
				want := contents(n.Engine)
				n.kill()
				again := start(t, n.disk, Options{})
				wantSame(t, contents(again.Engine), want)
				again.end(t)
			})
		})
	}
}

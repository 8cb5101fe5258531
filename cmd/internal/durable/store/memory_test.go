package store

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"weak"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/durable/disk/disktest"
	"github.com/umbel-filters/umbel/cmd/internal/durable/snapfile"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/internal/await"
	"github.com/umbel-filters/umbel/internal/race"
)

// collected fails the test unless the garbage collector frees a filter.
func collected(t *testing.T, what string, f weak.Pointer[engine.Filter]) {
	t.Helper()
	await.True(t, what+" is collected", func() bool {
		runtime.GC()
		return f.Value() == nil
	})
}

// A filter that is deleted while a snapshot is being written, of another filter or of itself, is freed
// at once and not at the end of the snapshot.
func TestDeletedFiltersAreFreed(t *testing.T) {
	race.Skip(t, "uses much memory")
	for _, kind := range []string{"bloom", "counting"} { // the second one is frozen while it is copied
		for _, durability := range []Durability{Always, None} {
			t.Run(fmt.Sprint(kind, durability), func(t *testing.T) {
				d := newDisk()
				n := start(t, d, Options{Durability: durability})
				var filters []weak.Pointer[engine.Filter]
				for i := range 5 {
					f, _, err := n.Create(fmt.Sprint(i), kind, umbel.Goal{Bytes: 4 << 20, FPRate: .01}, nil)
					if err != nil {
						t.Fatal(err)
					}
					if _, _, err := f.Add(nil, digests(0, 100_000)); err != nil {
						t.Fatal(err)
					}
					filters = append(filters, weak.Make(f))
				}
				if durability == Always {
					if err := n.Sync(t.Context()); err != nil {
						t.Fatal(err)
					}
				}
				writes, resume := make(chan struct{}), make(chan struct{})
				var once sync.Once
				count := 0
				d.files.Before(func(op disktest.Op, name string) error {
					if op == disktest.Write && strings.HasPrefix(name, "piece-") {
						if count++; count == 7 { // while the second filter is copied
							once.Do(func() { close(writes) })
							<-resume
						}
					}
					return nil
				})
				done := make(chan error, 1)
				go func() { done <- n.Snapshot(t.Context()) }()
				<-writes
				for _, i := range []int{0, 2, 4} {
					if _, _, err := n.Delete(fmt.Append(nil, i)); err != nil {
						t.Fatal(err)
					}
				}
				for _, i := range []int{0, 2, 4} {
					collected(t, fmt.Sprint("filter ", i), filters[i])
				}
				close(resume)
				if err := <-done; err != nil {
					t.Fatal(err)
				}
				want := contents(n.Engine)
				if len(want) != 2 {
					t.Errorf("%d filters, want 2", len(want))
				}
				n.end(t)
				n = start(t, d, Options{Durability: durability})
				wantSame(t, contents(n.Engine), want)
				n.end(t)
			})
		}
	}
}

// Between snapshots a store has nothing for each filter: the catalog is on disk.
func TestMemoryOfSnapshots(t *testing.T) {
	d := newDisk()
	l, err := d.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	files, err := snapfile.OpenDir(t.TempDir(), snapfile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	e := newEngine()
	s, _, err := Open(t.Context(), l, files, e, Options{Durability: None})
	if err != nil {
		t.Fatal(err)
	}
	const filters = 20_000
	for i := range filters {
		f, _, err := e.Create(fmt.Sprint("filter:", i), "redisbloom", umbel.Goal{Keys: 100, FPRate: .01}, nil)
		if err != nil {
			t.Fatal(err)
		}
		f.Add(nil, digests(i, i+3))
	}
	heap := func() int64 {
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before := heap()
	if err := s.Snapshot(t.Context()); err != nil {
		t.Fatal(err)
	}
	if each := (heap() - before) / filters; each > 8 {
		t.Errorf("%d bytes for each filter after a snapshot, want at most 8", each)
	}
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
}

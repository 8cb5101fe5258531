package node

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/durable/disk"
	"github.com/umbel-filters/umbel/cmd/internal/durable/disk/disktest"
	"github.com/umbel-filters/umbel/cmd/internal/durable/wal"
	"github.com/umbel-filters/umbel/internal/await"
)

// faultyDir is the directory of a log, whose operations call a function first. Its error is their result.
type faultyDir struct {
	disk.Dir
	mu     sync.Mutex
	before func(op disktest.Op, name string) error // nil: no fault
}

func (d *faultyDir) set(before func(op disktest.Op, name string) error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.before = before
}

// setAppend sets a function that is called only before a batch is written.
func (d *faultyDir) setAppend(before func() error) {
	d.set(func(op disktest.Op, name string) error {
		if op == disktest.Write && strings.HasSuffix(name, ".wal") {
			return before()
		}
		return nil
	})
}

// hang makes the disk hang before a batch is written, until the test ends.
func (d *faultyDir) hang(t *testing.T) {
	d.setAppend(func() error { <-t.Context().Done(); return t.Context().Err() })
}

func (d *faultyDir) call(op disktest.Op, name string) error {
	d.mu.Lock()
	before := d.before
	d.mu.Unlock()
	if before == nil {
		return nil
	}
	return before(op, name)
}

func (d *faultyDir) Open(name string) (disk.File, error) {
	if err := d.call(disktest.Open, name); err != nil {
		return nil, err
	}
	return d.Dir.Open(name)
}

func (d *faultyDir) Edit(name string) (disk.File, error) {
	f, err := d.Dir.Edit(name)
	return faultyFile{f, d, name}, err
}

func (d *faultyDir) Create(name string) (disk.File, error) {
	f, err := d.Dir.Create(name)
	return faultyFile{f, d, name}, err
}

// faultyFile is a file of a faultyDir.
type faultyFile struct {
	disk.File
	dir  *faultyDir
	name string
}

func (f faultyFile) WriteAt(b []byte, at int64) (int, error) {
	if err := f.dir.call(disktest.Write, f.name); err != nil {
		return 0, err
	}
	return f.File.WriteAt(b, at)
}

func (f faultyFile) Sync() error {
	if err := f.dir.call(disktest.Sync, f.name); err != nil {
		return err
	}
	return f.File.Sync()
}

// startedFaulty starts a node the disk of whose log can be made to fail. The test shuts it down.
func startedFaulty(t *testing.T, c Config) (*Node, *faultyDir) {
	t.Helper()
	d := new(faultyDir)
	n, err := start(t.Context(), c, slog.New(slog.DiscardHandler), nil, d.open)
	if err != nil {
		t.Fatal(err)
	}
	return n, d
}

func (d *faultyDir) open(dir string, o wal.Options) (l *wal.Log, err error) {
	if d.Dir, err = disk.Make(dir); err != nil {
		return nil, err
	}
	return wal.OpenDir(d, o)
}

// endsWithin fails the test if Shutdown takes longer than a limit that is far above what it needs
// and far below what a hang would take.
func endsWithin(ctx context.Context, t *testing.T, n *Node, limit time.Duration) error {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- n.Shutdown(ctx) }()
	select {
	case err := <-done:
		return err
	case <-time.After(limit):
		t.Fatalf("Shutdown has not ended after %v", limit)
		return nil
	}
}

// A background task waits for a filter whose change waits for a disk that hangs. Shutdown ends all
// the same.
func TestShutdownWhileDiskHangs(t *testing.T) { overBoth(t, checkShutdownWhileDiskHangs) }

func checkShutdownWhileDiskHangs(t *testing.T, loops int) {
	c := testConfig(t)
	c.loops = loops
	c.ShutdownTimeout = 100 * time.Millisecond
	n, d := startedFaulty(t, c)
	f, _, err := n.engine.Create("a", "bloom", umbel.Goal{Bytes: 8 << 20, FPRate: .01}, nil)
	if err != nil {
		t.Fatal(err)
	}
	ds := make([]umbel.Digest, 400_000)
	for i := range ds {
		ds[i] = umbel.Hasher{}.HashUint64(uint64(i))
	}
	if _, _, err := f.Add(nil, ds); err != nil {
		t.Fatal(err)
	}
	d.hang(t)
	var changes sync.WaitGroup
	changes.Go(func() { // until the queue is full: then it waits and holds the filter
		for range 30 {
			if _, err := f.Update(func(g umbel.Filter) (umbel.Filter, error) { return g, nil }); err != nil {
				return
			}
		}
	})
	await.True(t, "the queue is full", func() bool { return n.store.Status().Pending >= 56<<20 })
	n.tasks.Go(func() { _, _ = f.Measured(); _ = f.View(func(umbel.Filter) {}) }) // as the survey does
	if err := endsWithin(t.Context(), t, n, time.Minute); err == nil {
		t.Error("changes were not written, and Shutdown returned no error")
	}
	changes.Wait()
}

// A snapshot that hangs while it deletes files, and cannot be interrupted, does not keep Shutdown from ending:
// one of the background, and one that Shutdown takes itself.
func TestShutdownWhileARemovalHangs(t *testing.T) {
	for name, last := range map[string]bool{"in the background": false, "at shutdown": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := testConfig(t)
			c.ShutdownTimeout = 100 * time.Millisecond
			c.SnapshotAtShutdown = last
			if last {
				c.ShutdownTimeout = 10 * time.Minute // until the snapshot hangs
			}
			n, d := startedFaulty(t, c)
			conn := dial(t, n, nil)
			for _, key := range []string{"a", "b"} {
				conn.Want("BF.ADD f "+key, ":1")
				conn.Want("SAVE", "+OK")
			}
			conn.Want("BF.ADD f c", ":1")
			hangs, release := make(chan struct{}), make(chan struct{})
			var once sync.Once
			d.set(func(op disktest.Op, name string) error {
				if op == disktest.Sync && name == "head" { // the log begins later
					once.Do(func() { close(hangs) })
					<-release
				}
				return nil
			})
			defer close(release)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if last {
				go func() { <-hangs; cancel() }()
			} else {
				conn.Want("BGSAVE", "+Background saving started")
				<-hangs
			}
			if err := endsWithin(ctx, t, n, time.Minute); err == nil {
				t.Error("the log was not closed in order, and Shutdown returned no error")
			}
		})
	}
}

// On a file system that has become read-only no change will ever be written: Shutdown does not
// wait for it.
func TestShutdownOnReadOnlyFileSystem(t *testing.T) {
	c := testConfig(t)
	c.ShutdownTimeout = 10 * time.Minute
	n, d := startedFaulty(t, c)
	d.setAppend(func() error { return syscall.EROFS })
	if status, _ := get(t, n, "/writable"); status != http.StatusOK {
		t.Errorf("/writable before the failure: %d", status)
	}
	dial(t, n, nil).Want("BF.ADD f a", "-UNKEPT")
	// Queries are answered, so a balancer must not take the node away.
	for path, want := range map[string]int{"/readyz": http.StatusOK, "/writable": http.StatusServiceUnavailable} {
		if status, _ := get(t, n, path); status != want {
			t.Errorf("%s while changes are refused: %d, want %d", path, status, want)
		}
	}
	if err := endsWithin(t.Context(), t, n, time.Minute); err == nil {
		t.Error("a change was not written, and Shutdown returned no error")
	}
}

// An open stream of keys ends at shutdown with a problem, and does not delay it.
func TestShutdownEndsStreams(t *testing.T) {
	c := testConfig(t)
	c.ShutdownTimeout = 10 * time.Minute
	n, err := Start(t.Context(), c, slog.New(slog.DiscardHandler), nil)
	if err != nil {
		t.Fatal(err)
	}
	dial(t, n, nil).Want("BF.ADD f a", ":1")
	body, send := io.Pipe()
	defer send.Close()
	r, err := http.NewRequest("POST", "http://"+n.HTTP().String()+"/v1/filters/f/has", body)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "text/plain")
	go fmt.Fprintln(send, "a")
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	answer, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	first := make([]byte, 2)
	if _, err := io.ReadFull(answer.Body, first); err != nil || string(first) != "1\n" {
		t.Fatalf("the answer is %q, %v", first, err)
	}
	if err := endsWithin(t.Context(), t, n, time.Minute); err != nil {
		t.Error(err)
	}
	if _, err := io.ReadAll(answer.Body); err != nil {
		t.Error(err)
	}
	if got := answer.Trailer.Get("Umbel-Problem"); !strings.Contains(got, "/problems/not-ready") {
		t.Errorf("the trailer is %q, want the problem not-ready", got)
	}
}

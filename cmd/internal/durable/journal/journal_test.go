package journal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/durable/changes"
	"github.com/umbel-filters/umbel/cmd/internal/durable/wal"
	"github.com/umbel-filters/umbel/cmd/internal/durable/wal/waltest"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/wire"
)

// writer is a journal that writes to a log in memory.
type writer struct {
	*Journal
	disk  *waltest.Disk
	said  *bytes.Buffer
	ended chan struct{} // closed when Run has ended
}

func newWriter(t testing.TB, o Options) *writer {
	t.Helper()
	d := waltest.NewDisk()
	l, err := d.Open()
	if err != nil {
		t.Fatal(err)
	}
	said := new(bytes.Buffer)
	j, ended := writeTo(t, l, o, said)
	return &writer{j, d, said, ended}
}

// writeTo returns a journal that writes to a log until the end of the test.
func writeTo(t testing.TB, l *wal.Log, o Options, said io.Writer) (*Journal, chan struct{}) {
	o.Log = slog.New(slog.NewTextHandler(said, nil))
	j := New(l, 0, 0, o)
	ctx, abort := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		j.Run(ctx)
		close(ended)
	}()
	t.Cleanup(func() {
		j.Close()
		abort()
		<-ended
		l.Close()
	})
	return j, ended
}

const digestBytes = 16

func add(filter, digest uint64) engine.Change {
	return engine.Change{Op: engine.OpAdd, Filter: filter, Digests: []umbel.Digest{{H1: digest}}}
}

// onDisk returns the digests that are in the log of a disk, in order.
func onDisk(t *testing.T, d *waltest.Disk) (digests []uint64) {
	t.Helper()
	l, err := d.Clone().Open()
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	r := &changes.Reader{Limits: wire.NoLimits, Single: math.MaxUint64, Each: func(c *engine.Change) error {
		for _, g := range c.Digests {
			digests = append(digests, g.H1)
		}
		return nil
	}}
	if err := l.Read(t.Context(), 1, func(_ uint64, b []byte) error { return r.Batch(b) }); err != nil {
		t.Fatal(err)
	}
	if err := r.Flush(); err != nil {
		t.Fatal(err)
	}
	return digests
}

// What Wait returns for is on the disk, in the order in which it was appended.
func TestWaitIsForTheDisk(t *testing.T) {
	w := newWriter(t, Options{})
	var mu sync.Mutex
	var appended []uint64
	var group sync.WaitGroup
	for g := range 8 {
		group.Go(func() {
			for i := range 50 {
				key := uint64(g*1000 + i)
				mu.Lock()
				appended = append(appended, key)
				pos := w.Append(add(uint64(g%3), key))
				mu.Unlock()
				if err := w.Wait(t.Context(), pos); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	if got := onDisk(t, w.disk); !slices.Equal(got, appended) {
		t.Errorf("%d digests on the disk, want %d in their order", len(got), len(appended))
	}
}

// While one batch is on its way all others gather in the next.
func TestGroupCommit(t *testing.T) {
	w := newWriter(t, Options{})
	reached, leave := make(chan struct{}), make(chan struct{})
	w.disk.BeforeAppend(func() error {
		reached <- struct{}{}
		<-leave
		return nil
	})
	first := make(chan error, 1)
	go func() { first <- w.Wait(t.Context(), w.Append(add(1, 1))) }()
	<-reached
	var last engine.Position
	for i := range uint64(100) {
		last = w.Append(add(1, i))
	}
	leave <- struct{}{}
	if err := <-first; err != nil {
		t.Fatal(err)
	}
	go func() { <-reached; leave <- struct{}{} }()
	if err := w.Wait(t.Context(), last); err != nil {
		t.Fatal(err)
	}
	if n, _ := w.Counts(); n != 2 {
		t.Errorf("%d batches, want 2", n)
	}
	w.disk.Before(nil)
}

func TestFullDisk(t *testing.T) {
	w := newWriter(t, Options{})
	w.disk.Fill(true)
	if err := w.Wait(t.Context(), w.Append(add(1, 1))); err == nil {
		t.Fatal("no error with a full disk")
	}
	if err := w.Ready(); err == nil {
		t.Error("ready with a full disk")
	}
	pos := w.Append(add(1, 2)) // somebody was past Ready
	if err := w.Wait(t.Context(), pos); err == nil {
		t.Error("no error with a full disk")
	}
	w.disk.Fill(false)
	for w.Ready() != nil {
		time.Sleep(time.Millisecond)
	}
	if err := w.Wait(t.Context(), pos); err != nil {
		t.Error(err)
	}
	if got := onDisk(t, w.disk); !slices.Equal(got, []uint64{1, 2}) {
		t.Errorf("on the disk is %d, want 1 and 2, once each", got)
	}
	w.Close()
	<-w.ended
	if n := strings.Count(w.said.String(), "\n"); n != 2 {
		t.Errorf("%d lines in the log, want one at the beginning and one at the end:\n%s", n, w.said)
	}
}

// Whether a failed append was kept or not, the change is there once.
func TestFailedAppends(t *testing.T) {
	for _, kept := range []bool{false, true} {
		w := newWriter(t, Options{})
		var want []uint64
		for i := range uint64(20) {
			w.disk.FailAppends(int(i%3), kept, errors.New("no"))
			pos := w.Append(add(1, i))
			want = append(want, i)
			for w.Wait(t.Context(), pos) != nil {
				time.Sleep(time.Millisecond)
			}
		}
		if got := onDisk(t, w.disk); !slices.Equal(got, want) {
			t.Errorf("kept %v: on the disk is %d, want %d", kept, got, want)
		}
	}
}

// What Failed has logged is not logged again, neither the failure nor its end.
func TestFailuresAreLoggedOnce(t *testing.T) {
	full, broken := errors.New("full"), errors.New("broken")
	for _, c := range []struct {
		errs []error // of the attempts, in order
		want int     // messages about the failure, and about its end
	}{{[]error{full, full}, 0}, {[]error{broken, broken}, 1}, {[]error{full, broken, full}, 1}} {
		calls := 0
		w := newWriter(t, Options{Failed: func(err error) bool { calls++; return errors.Is(err, full) }})
		left := c.errs
		w.disk.BeforeAppend(func() error {
			if len(left) == 0 {
				return nil
			}
			err := left[0]
			left = left[1:]
			return err
		})
		pos := w.Append(add(1, 1))
		for w.Wait(t.Context(), pos) != nil {
			time.Sleep(time.Millisecond)
		}
		w.Close()
		<-w.ended
		if got := w.said.String(); calls != len(c.errs) || strings.Count(got, "log write failed") != c.want || strings.Count(got, "log writable again") != c.want {
			t.Errorf("errors %v: Failed is called %d times, and logged is %s", c.errs, calls, got)
		}
	}
}

func TestEverySec(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWriter(t, Options{Durability: EverySec})
		for i := range uint64(3) {
			if err := w.Wait(t.Context(), w.Append(add(1, i))); err != nil {
				t.Fatal(err)
			}
			time.Sleep(100 * time.Millisecond)
		}
		synctest.Wait()
		if n, _ := w.Counts(); n != 0 {
			t.Errorf("%d batches after 0.3 s, want none", n)
		}
		if _, lag := w.Pending(); lag != 300*time.Millisecond {
			t.Errorf("the lag is %v, want 0.3 s", lag)
		}
		time.Sleep(700 * time.Millisecond)
		synctest.Wait()
		if n, _ := w.Counts(); n != 1 {
			t.Errorf("%d batches after 1 s, want 1", n)
		}
		// Much is written at once.
		w.Append(engine.Change{Op: engine.OpAdd, Filter: 1, Digests: make([]umbel.Digest, flushBytes/digestBytes)})
		synctest.Wait()
		if n, _ := w.Counts(); n != 2 {
			t.Errorf("%d batches, want 2", n)
		}
		w.Append(add(1, 7))
		if err := w.Sync(t.Context(), w.Last()); err != nil {
			t.Fatal(err)
		}
		w.disk.Fill(true)
		w.Append(add(1, 8))
		time.Sleep(time.Second)
		synctest.Wait()
		if w.Ready() == nil || w.Wait(t.Context(), w.Last()) == nil {
			t.Error("a full disk, and no word of it")
		}
		w.disk.Fill(false)
		time.Sleep(lastRetry)
		synctest.Wait()
		if err := w.Ready(); err != nil {
			t.Errorf("after the disk has room again: %v", err)
		}
	})
}

// Refuse has no effect on changes that free space, and after Retry a failed write is tried again at once.
func TestChangesThatFreeSpace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWriter(t, Options{})
		w.Refuse(errors.New("full"))
		if w.Ready() == nil || w.ReadyToFree() != nil {
			t.Errorf("ready: %v, ready to free: %v", w.Ready(), w.ReadyToFree())
		}
		w.Accept()
		w.disk.Fill(true)
		pos := w.Append(add(1, 8))
		time.Sleep(10 * lastRetry)
		synctest.Wait()
		if w.ReadyToFree() == nil {
			t.Error("nothing can be written, and no word of it")
		}
		w.disk.Fill(false)
		w.Retry()
		synctest.Wait() // and no time passes
		if err := errors.Join(w.ReadyToFree(), w.Wait(t.Context(), pos)); err != nil {
			t.Errorf("after the disk has room again: %v", err)
		}
		w.StopAccepting()
		if err := w.ReadyToFree(); !errors.Is(err, errClosed) {
			t.Errorf("error %v, want %v", err, errClosed)
		}
	})
}

func TestCommitDelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWriter(t, Options{CommitDelay: 5 * time.Millisecond})
		begin := time.Now()
		var group sync.WaitGroup
		for i := range uint64(5) {
			group.Go(func() {
				if err := w.Wait(t.Context(), w.Append(add(1, i))); err != nil {
					t.Error(err)
				}
			})
			time.Sleep(time.Millisecond / 2)
		}
		group.Wait()
		n, _ := w.Counts()
		if took := time.Since(begin); took != 5*time.Millisecond || n != 1 {
			t.Errorf("%d batches in %v, want 1 in 5 ms", n, took)
		}
	})
}

func TestNoneWritesNothing(t *testing.T) {
	w := newWriter(t, Options{Durability: None})
	s := umbel.State{Kind: "bloom"}
	w.Append(engine.Change{Op: engine.OpCreate, Filter: 1, State: &s})
	pos := w.Append(add(1, 1))
	if err := w.Wait(t.Context(), pos); pos != 2 || err != nil {
		t.Errorf("position %d, %v", pos, err)
	}
	if got := onDisk(t, w.disk); got != nil {
		t.Errorf("on the disk is %d", got)
	}
}

// Room waits while 64 MiB or more are to be written, and returns when they are not.
func TestBackPressure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWriter(t, Options{})
		leave := make(chan struct{})
		w.disk.BeforeAppend(func() error {
			<-leave
			return nil
		})
		var all atomic.Bool
		go func() {
			ds := make([]umbel.Digest, changes.MaxDigests)
			for range 100 << 20 / len(ds) / digestBytes {
				if err := w.Room(t.Context()); err != nil {
					t.Error(err)
				}
				w.Append(engine.Change{Op: engine.OpAdd, Filter: 1, Digests: ds})
			}
			all.Store(true)
		}()
		time.Sleep(time.Minute)
		if n, _ := w.Pending(); all.Load() || n > 64<<20+2*changes.MaxBatch || n < 56<<20 {
			t.Errorf("%d bytes wait; all are taken: %v", n, all.Load())
		}
		close(leave)
		time.Sleep(time.Minute)
		if n, _ := w.Pending(); !all.Load() || n != 0 {
			t.Errorf("%d bytes wait; all are taken: %v", n, all.Load())
		}
	})
}

// Room doesn't wait for a log that fails, nor for longer than its context or the queue lasts.
func TestRoomWithoutHope(t *testing.T) {
	for name, end := range map[string]func(w *writer, cancel context.CancelFunc){
		"failing": func(w *writer, _ context.CancelFunc) { w.disk.Fill(true) },
		"context": func(_ *writer, cancel context.CancelFunc) { cancel() },
		"closed":  func(w *writer, _ context.CancelFunc) { w.Close() },
	} {
		synctest.Test(t, func(t *testing.T) {
			w := newWriter(t, Options{})
			leave := make(chan struct{})
			w.disk.BeforeAppend(func() error {
				<-leave
				return nil
			})
			ds := make([]umbel.Digest, changes.MaxDigests)
			for synctest.Wait(); !w.crowded.Load(); synctest.Wait() { // also after the writer took a batch
				w.Append(engine.Change{Op: engine.OpAdd, Filter: 1, Digests: ds})
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			result := make(chan error, 1)
			go func() { result <- w.Room(ctx) }()
			synctest.Wait()
			if len(result) > 0 {
				t.Fatalf("%s: Room did not wait", name)
			}
			end(w, cancel)
			if name == "failing" {
				close(leave)
			}
			synctest.Wait()
			if len(result) == 0 || <-result == nil {
				t.Errorf("%s: no error", name)
			}
			if name != "failing" {
				close(leave)
			}
			w.disk.Fill(false)
			time.Sleep(time.Minute)
		})
	}
}

// Waits return when the journal is closed, and changes that were appended before are written.
func TestCloseOfQueue(t *testing.T) {
	w := newWriter(t, Options{})
	pos := w.Append(add(1, 1))
	w.Close()
	<-w.ended
	if err := w.Wait(t.Context(), pos); err != nil {
		t.Errorf("what was appended before the end: %v", err)
	}
	if err := w.Ready(); !errors.Is(err, errClosed) {
		t.Errorf("Ready: %v", err)
	}
	if err := w.Wait(t.Context(), w.Append(add(1, 2))); !errors.Is(err, errClosed) {
		t.Errorf("what was appended after the end: %v", err)
	}
	if got := onDisk(t, w.disk); !slices.Equal(got, []uint64{1}) {
		t.Errorf("on the disk is %d", got)
	}
}

func TestAppendAllocatesNothing(t *testing.T) {
	j := New(nil, 0, 0, Options{})
	ds := make([]umbel.Digest, 64)
	j.Append(engine.Change{Op: engine.OpAdd, Filter: 1, Digests: ds})
	if n := testing.AllocsPerRun(100, func() {
		j.Append(engine.Change{Op: engine.OpAdd, Filter: 1, Digests: ds})
	}); n != 0 {
		t.Errorf("%v allocations for each change", n)
	}
}

// BenchmarkCommit is 50 connections that append 64 digests each and wait: the log of a disk
// that syncs in no time, and in 0.3 ms.
func BenchmarkCommit(b *testing.B) {
	for _, disk := range []time.Duration{0, 300 * time.Microsecond} {
		for name, d := range map[string]Durability{"always": Always, "everysec": EverySec, "none": None} {
			b.Run(fmt.Sprintf("%s/sync=%v", name, disk), func(b *testing.B) {
				w := newWriter(b, Options{Durability: d})
				w.disk.BeforeAppend(func() error {
					time.Sleep(disk)
					return nil
				})
				commit(b, w.Journal)
			})
		}
	}
}

// BenchmarkCommitDisk is the same over the log of nodes, on this machine's disk.
func BenchmarkCommitDisk(b *testing.B) {
	for name, d := range map[string]Durability{"always": Always, "everysec": EverySec} {
		b.Run(name, func(b *testing.B) {
			l, err := wal.Open(b.TempDir(), wal.Options{})
			if err != nil {
				b.Fatal(err)
			}
			j, _ := writeTo(b, l, Options{Durability: d}, io.Discard)
			commit(b, j)
		})
	}
}

func commit(b *testing.B, s *Journal) {
	const connections = 50
	work := make(chan struct{}, connections)
	var group sync.WaitGroup
	b.ReportAllocs()
	b.SetBytes(64 * digestBytes)
	for range connections {
		group.Go(func() {
			ds := make([]umbel.Digest, 64)
			for range work {
				if err := s.Wait(context.Background(), s.Append(engine.Change{Op: engine.OpAdd, Filter: 1, Digests: ds})); err != nil {
					b.Error(err)
				}
			}
		})
	}
	for b.Loop() {
		work <- struct{}{}
	}
	close(work)
	group.Wait()
	b.ReportMetric(float64(b.N*64)/b.Elapsed().Seconds(), "adds/s")
}

// A disk that takes long, or hangs, holds up who would have more acknowledged than the last
// second's changes: they would be lost with the process.
func TestEverySecOnASlowDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWriter(t, Options{Durability: EverySec})
		w.disk.BeforeAppend(func() error {
			time.Sleep(5 * time.Second)
			return nil
		})
		kept := 0
		for i := range uint64(300) { // of 0.1 s
			if err := w.Wait(t.Context(), w.Append(add(1, i))); err != nil {
				t.Fatal(err)
			}
			acknowledged := int(i) + 1
			if kept = len(onDisk(t, w.disk)); acknowledged-kept > 11 {
				t.Fatalf("%d changes are acknowledged, and %d on the disk", acknowledged, kept)
			}
			time.Sleep(100 * time.Millisecond)
		}
		if kept < 200 {
			t.Errorf("%d changes are on the disk: this test sees nothing", kept)
		}
		w.disk.Before(nil)
		w.disk.Fill(true)
		w.Append(add(1, 0))
		time.Sleep(20 * time.Second)
		synctest.Wait()
		if err := w.Wait(t.Context(), w.Append(add(1, 1))); err == nil {
			t.Error("a full disk, and no word of it")
		}
	})
}

// The lag is that of the oldest change, also while batch after batch is full.
func TestLagOfFullBatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWriter(t, Options{Durability: EverySec})
		w.disk.BeforeAppend(func() error {
			time.Sleep(100 * time.Millisecond)
			return nil
		})
		ds := make([]umbel.Digest, changes.MaxBatch/digestBytes-10)
		w.Append(engine.Change{Op: engine.OpAdd, Filter: 1, Digests: ds})
		for range 50 { // as fast as the disk
			w.Append(engine.Change{Op: engine.OpAdd, Filter: 1, Digests: ds})
			time.Sleep(100 * time.Millisecond)
			if _, lag := w.Pending(); lag > time.Second {
				t.Fatalf("the lag is %v, on a disk that takes 0.1 s", lag)
			}
		}
	})
}

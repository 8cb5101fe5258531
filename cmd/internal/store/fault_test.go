package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/oplog"
	"github.com/umbel-filters/umbel/cmd/internal/oplog/oplogtest"
)

// history makes a disk with two snapshots and log behind them, and returns what the filters
// hold, in the end and when the last snapshot was made.
func history(t *testing.T, snapshots int) (d *oplogtest.Disk, names []string, keys []umbel.Digest, want map[string]string) {
	t.Helper()
	d = oplogtest.NewDisk()
	n := start(t, d, Options{})
	filters := n.make(t, 20_000)
	for _, f := range filters {
		names = append(names, f.Name())
	}
	keys = digests(0, 1000)
	for round := range snapshots + 1 {
		for i := range 2 {
			for _, f := range filters {
				from := round*300 + i*100
				if _, _, err := f.Add(nil, keys[from:from+100]); err != nil {
					t.Fatal(err)
				}
			}
			if err := n.Sync(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if round < snapshots {
			snap(t, n)
		}
	}
	for i, f := range filters {
		if _, _, err := f.Add(nil, keys); err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			n.Sync(t.Context())
		}
	}
	if err := n.Sync(t.Context()); err != nil {
		t.Fatal(err)
	}
	want = contents(n.Engine)
	n.kill()
	return d, names, keys, want
}

// numbers returns those of all messages of a row.
func numbers(t *testing.T, d *oplogtest.Disk, r oplog.Row) (all []uint64) {
	t.Helper()
	if err := d.Clone().Medium().Numbers(t.Context(), r, func(n uint64) error {
		all = append(all, n)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return all
}

// One altered bit, wherever it is, is never a wrong answer: the node starts with all there
// was, or says what is lost and doesn't; if it is told to go on, no key is missing.
func TestFlippedBits(t *testing.T) {
	d, names, keys, want := history(t, 3)
	for row, name := range map[oplog.Row]string{oplog.Batches: "batch", oplog.Blobs: "blob", oplog.Manifests: "manifest"} {
		refused, whole := 0, 0
		for _, number := range numbers(t, d, row) {
			for bit := 3; bit < 4000; bit = bit*40 + 1 {
				c := d.Clone()
				c.Flip(row, number, bit)
				n, err := tryStart(c, Options{})
				if err == nil {
					whole++
					wantSame(t, contents(n.Engine), want)
					n.end(t)
					continue
				}
				refused++
				if !errors.Is(err, ErrLost) && !errors.Is(err, oplog.ErrHole) || !strings.Contains(err.Error(), "accept-loss") {
					t.Errorf("%s %d, bit %d: %v", name, number, bit, err)
				}
				wantAccepted(t, c, names, keys)
			}
		}
		t.Logf("%s: %d times refused, %d times whole", name, refused, whole)
		if row == oplog.Blobs && whole == 0 || row == oplog.Batches && refused == 0 {
			t.Errorf("%s: %d times refused, %d times whole", name, refused, whole)
		}
	}
}

// wantAccepted checks that a node on a disk that lost something goes on if it is told to,
// without losing a key of a filter that it has, and from then on without being told.
func wantAccepted(t *testing.T, d *oplogtest.Disk, names []string, keys []umbel.Digest) {
	t.Helper()
	n, err := tryStart(d, Options{AcceptLoss: true})
	if err != nil {
		t.Errorf("with losses accepted: %v", err)
		return
	}
	if len(n.report.Lost) == 0 {
		t.Error("nothing is said to be lost")
	}
	check := func(n *node) {
		t.Helper()
		there := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return n.Get([]byte(name)) == nil })
		if len(there) < len(names) && !strings.Contains(fmt.Sprint(n.report.Lost), "all filters") {
			t.Errorf("of %q only %q are there, and the report doesn't say so:\n%s", names, there, strings.Join(n.report.Lost, "\n"))
		}
		wantKeys(t, n.Engine, there, keys)
	}
	check(n)
	n.Snapshot(t.Context())
	f, _, err := n.Create("new", "bloom", umbel.Goal{Keys: 1000, FPRate: .01}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := f.Add(nil, keys[:10]); err != nil {
		t.Error(err)
	}
	snap(t, n)
	f.Add(nil, keys[:20])
	snap(t, n)
	n.end(t)
	n, err = tryStart(d, Options{})
	if err != nil {
		t.Errorf("after the loss was accepted: %v", err)
		return
	}
	wantKeys(t, n.Engine, []string{"new"}, keys[:20])
	n.end(t)
}

// Lost messages are as altered ones.
func TestLostMessages(t *testing.T) {
	d, names, keys, want := history(t, 2)
	for _, row := range []oplog.Row{oplog.Batches, oplog.Blobs, oplog.Manifests} {
		all := numbers(t, d, row)
		for i, number := range all {
			for _, lost := range [][]uint64{{number}, all[i:], all[:i+1]} {
				c := d.Clone()
				c.Lose(row, lost...)
				n, err := tryStart(c, Options{})
				if err == nil {
					wantSame(t, contents(n.Engine), want)
					n.end(t)
					continue
				}
				if !strings.Contains(err.Error(), "accept-loss") {
					t.Errorf("%v of row %v lost: %v", lost, row, err)
				}
				if row != oplog.Manifests {
					wantAccepted(t, c, names, keys)
				}
			}
		}
	}
}

// A disk that fails now and then, and has little room now and then, loses nothing.
func TestUnreliableDisk(t *testing.T) {
	d := oplogtest.NewDisk()
	var count atomic.Int64
	n := start(t, d, Options{})
	filters := n.make(t, 2000)
	d.Before(func(_ context.Context, op oplogtest.Op, _ oplog.Row, _ uint64) error {
		if op == oplogtest.Append && count.Add(1)%5 == 0 {
			return errors.New("now and then")
		}
		return nil
	})
	kept := make([]int, len(filters))
	for i := range 200 {
		f := filters[i%len(filters)]
		ds := digests(kept[i%len(filters)], kept[i%len(filters)]+1)
		_, pos, err := f.Add(nil, ds)
		if err == nil {
			err = n.Wait(t.Context(), pos)
		}
		if err == nil {
			kept[i%len(filters)]++
		}
		if i%20 == 0 {
			n.Snapshot(t.Context())
		}
	}
	n.kill()
	d.Before(nil)
	n = start(t, d, Options{})
	for i, f := range filters {
		wantKeys(t, n.Engine, []string{f.Name()}, digests(0, kept[i]))
	}
	n.end(t)
}

// With None there is no log that tells of filters that are renamed while they are copied.
func TestRenamesDuringSnapshotsWithoutLog(t *testing.T) {
	d := oplogtest.NewDisk()
	d.Before(slowBlobs)
	o := Options{Durability: None}
	n := start(t, d, o)
	for i := range 50 {
		f, _, err := n.Create(fmt.Sprint("f", i), "bloom", umbel.Goal{Keys: 100_000, FPRate: .01}, nil)
		if err != nil {
			t.Fatal(err)
		}
		f.Add(nil, digests(0, 5000))
	}
	var stop atomic.Bool
	var renames sync.WaitGroup
	renames.Go(func() {
		for i := 0; !stop.Load(); i++ {
			n.Rename(fmt.Appendf(nil, "f%d", i%50), []byte("between"), true)
			n.Rename(fmt.Appendf(nil, "f%d", (i+7)%50), fmt.Appendf(nil, "f%d", i%50), true)
			n.Rename([]byte("between"), fmt.Appendf(nil, "f%d", (i+7)%50), true)
		}
	})
	for range 3 {
		snap(t, n)
		other := start(t, d.Clone(), o)
		if got := other.Len(); got != 50 {
			t.Errorf("%d filters of 50", got)
		}
		other.end(t)
	}
	stop.Store(true)
	renames.Wait()
	n.end(t)
}

// backup returns a backup of a node.
func (n *node) backup(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := n.Backup(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestBackups(t *testing.T) {
	for snapshots := range 3 {
		d, _, _, want := history(t, snapshots)
		n := start(t, d, Options{})
		b := n.backup(t)
		n.end(t)
		e := newEngine()
		report, err := Verify(t.Context(), bytes.NewReader(b), e)
		if err != nil {
			t.Fatal(err)
		}
		if report.Filters != len(want) {
			t.Errorf("%d filters in the report, want %d", report.Filters, len(want))
		}
		wantSame(t, contents(e), want)
		other := oplogtest.NewDisk()
		restoreTo(t, other, b)
		// It is a log like others: what comes after it is kept too, and a start later.
		for range 3 {
			n = start(t, other, Options{})
			wantSame(t, contents(n.Engine), want)
			_, pos, err := n.Get([]byte("bloom")).Add(nil, digests(int(n.Last())*50, int(n.Last())*50+50))
			if err != nil || n.Wait(t.Context(), pos) != nil {
				t.Fatal(err)
			}
			want = contents(n.Engine)
			n.kill()
			n = start(t, other, Options{})
			snap(t, n)
			n.end(t)
		}
	}
}

func restoreTo(t *testing.T, d *oplogtest.Disk, b []byte) {
	t.Helper()
	l, err := d.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if _, err := Restore(t.Context(), bytes.NewReader(b), l); err != nil {
		t.Fatal(err)
	}
	if _, err := Restore(t.Context(), bytes.NewReader(b), l); err == nil {
		t.Error("a backup was restored over another")
	}
}

// A backup that is cut short or altered is refused, and what was restored of it can't be opened.
func TestBrokenBackups(t *testing.T) {
	d, _, _, _ := history(t, 1)
	n := start(t, d, Options{})
	b := n.backup(t)
	n.end(t)
	refused := func(what string, broken []byte) {
		t.Helper()
		if _, err := Verify(t.Context(), bytes.NewReader(broken), newEngine()); !errors.Is(err, umbel.ErrCorrupt) {
			t.Errorf("%s: verify: %v", what, err)
		}
		other := oplogtest.NewDisk()
		l, err := other.Open(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Restore(t.Context(), bytes.NewReader(broken), l); !errors.Is(err, umbel.ErrCorrupt) {
			t.Errorf("%s: restore: %v", what, err)
		}
		l.Close()
		n, err := tryStart(other, Options{})
		if err == nil {
			if len(contents(n.Engine)) > 0 || n.Last() > 0 {
				t.Errorf("%s: what was restored can be opened", what)
			}
			n.end(t)
		}
	}
	for i := 0; i < len(b); i = i*3/2 + 7 {
		refused(fmt.Sprint("cut to ", i), b[:i])
		broken := bytes.Clone(b)
		broken[i] ^= 4
		refused(fmt.Sprint("altered at ", i), broken)
	}
	refused("longer", append(bytes.Clone(b), 0))
}

// A backup that is read slowly has what it began with, whatever is deleted meanwhile.
func TestBackupWhileSnapshotsAreMade(t *testing.T) {
	d, _, _, want := history(t, 2)
	n := start(t, d, Options{})
	r, w := io.Pipe()
	var b bytes.Buffer
	backup := make(chan error, 1)
	go func() { backup <- n.Backup(t.Context(), w); w.Close() }()
	if _, err := io.CopyN(&b, r, 100_000); err != nil {
		t.Fatal(err)
	}
	for i := range 4 {
		n.Get([]byte("bloom")).Add(nil, digests(5000+100*i, 5100+100*i))
		snap(t, n)
	}
	if _, err := io.Copy(&b, r); err != nil {
		t.Fatal(err)
	}
	if err := <-backup; err != nil {
		t.Fatal(err)
	}
	e := newEngine()
	if _, err := Verify(t.Context(), &b, e); err != nil {
		t.Fatal(err)
	}
	wantSame(t, contents(e), want)
	n.end(t)
}

// Check finds what Open would, and changes nothing.
func TestCheck(t *testing.T) {
	d, _, _, want := history(t, 2)
	l, err := d.Clone().Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	e := newEngine()
	report, err := Check(t.Context(), l, e, Options{})
	if err != nil || report.Filters != len(want) || report.Batches == 0 || report.Snapshot.IsZero() {
		t.Errorf("%+v, %v", report, err)
	}
	wantSame(t, contents(e), want)
}

// A change of many batches that was under way when the process ended was never acknowledged.
func TestUnfinishedChange(t *testing.T) {
	d := oplogtest.NewDisk()
	n := start(t, d, Options{})
	f, _, err := n.Create("a", "bloom", umbel.Goal{Bytes: 8 << 20, FPRate: .01}, nil)
	if err != nil {
		t.Fatal(err)
	}
	f.Add(nil, digests(0, 100_000))
	if err := n.Sync(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := contents(n.Engine)
	batches := 0
	d.Before(func(ctx context.Context, op oplogtest.Op, r oplog.Row, _ uint64) error {
		if op == oplogtest.Append && r == oplog.Batches {
			if batches++; batches > 3 {
				<-ctx.Done()
				return ctx.Err()
			}
		}
		return nil
	})
	pos, err := f.Update(func(g umbel.Filter) (umbel.Filter, error) { g.Add(digest(-1)); return g, nil })
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "the log hangs", func() bool { return n.Status().Commits >= 3 })
	soon, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if err := n.Wait(soon, pos); err == nil {
		t.Error("half a change was acknowledged")
	}
	n.kill()
	d.Before(nil)
	for range 2 {
		n = start(t, d, Options{})
		if !strings.Contains(n.report.Torn, "never acknowledged") {
			t.Errorf("the report says %q of half a change", n.report.Torn)
		}
		wantSame(t, contents(n.Engine), want)
		n.kill()
	}
	n = start(t, d, Options{})
	_, pos, _ = n.Get([]byte("a")).Add(nil, digests(200_000, 200_010))
	if err := n.Wait(t.Context(), pos); err != nil {
		t.Fatal(err)
	}
	want = contents(n.Engine)
	n.kill()
	n = start(t, d, Options{})
	wantSame(t, contents(n.Engine), want)
	n.end(t)
}

var _ engine.Journal = (*Store)(nil)

// A large change that fails with the log is not made, and what was written of it is no damage.
func TestAbortedChange(t *testing.T) {
	d := oplogtest.NewDisk()
	n := start(t, d, Options{})
	f, _, err := n.Create("a", "bloom", umbel.Goal{Bytes: 72 << 20, FPRate: .01}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Update(func(g umbel.Filter) (umbel.Filter, error) { fillWords(g.State()); return g, nil }); err != nil {
		t.Fatal(err)
	}
	if err := n.Sync(t.Context()); err != nil {
		t.Fatal(err)
	}
	reached, leave := make(chan struct{}), make(chan struct{})
	var once sync.Once
	var fails atomic.Bool
	d.Before(func(_ context.Context, op oplogtest.Op, r oplog.Row, _ uint64) error {
		if op != oplogtest.Append || r != oplog.Batches {
			return nil
		}
		once.Do(func() { close(reached); <-leave })
		if fails.Load() {
			return errors.New("no space")
		}
		return nil
	})
	result := make(chan error)
	go func() {
		_, err := n.Copy([]byte("a"), []byte("b"), false)
		result <- err
	}()
	<-reached
	eventually(t, "there is no room", func() bool { return n.queue.crowded.Load() })
	fails.Store(true)
	close(leave)
	if err := <-result; !errors.Is(err, engine.ErrReadOnly) {
		t.Errorf("%v, want %v", err, engine.ErrReadOnly)
	}
	fails.Store(false)
	eventually(t, "the log is writable", func() bool { return n.Ready() == nil })
	g, pos, err := n.Create("c", "bloom", umbel.Goal{Keys: 100, FPRate: .01}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if uint64(pos) < g.ID() {
		t.Errorf("the filter has ID %d and was made at position %d", g.ID(), pos)
	}
	want := contents(n.Engine)
	if err := n.Sync(t.Context()); err != nil {
		t.Fatal(err)
	}
	n.kill()
	n = start(t, d, Options{})
	wantSame(t, contents(n.Engine), want)
	if n.report.Torn != "" {
		t.Errorf("the report says that something is torn: %s", n.report.Torn)
	}
	n.kill()
}

// fillWords sets cells of a state so that all of it is written to the log.
func fillWords(s umbel.State) {
	for _, a := range s.Arrays {
		for i := range a.Words {
			a.Words[i] = 1
		}
	}
}

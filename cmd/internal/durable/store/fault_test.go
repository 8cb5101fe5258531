package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/durable/backup"
	"github.com/umbel-filters/umbel/cmd/internal/durable/disk"
	"github.com/umbel-filters/umbel/cmd/internal/durable/disk/disktest"
	"github.com/umbel-filters/umbel/cmd/internal/durable/snapfile"
	"github.com/umbel-filters/umbel/cmd/internal/durable/wal"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/internal/await"
	"github.com/umbel-filters/umbel/internal/race"
)

// history makes a disk with two snapshots and log behind them, and returns what the filters
// hold, in the end and when the last snapshot was made.
func history(t *testing.T, snapshots int) (d *drive, names []string, keys []umbel.Digest, want map[string]string) {
	t.Helper()
	d = newDisk()
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

// One altered bit anywhere never causes a wrong answer: the node starts with all data, or reports the loss and does
// not start; if an operator accepts the loss, no key is missing.
func TestFlippedBits(t *testing.T) {
	race.Skip(t, "varies damage and failures, in one goroutine")
	d, names, keys, want := history(t, 3)
	flips := map[string][]func(c *drive, bit int){}
	for _, number := range d.Numbers() {
		flips["batch"] = append(flips["batch"], func(c *drive, bit int) { c.Flip(number, bit) })
	}
	for kind, files := range map[string][]string{"piece": d.pieces(), "manifest": d.manifests()} {
		for _, name := range files {
			flips[kind] = append(flips[kind], func(c *drive, bit int) { c.files.Flip(name, bit) })
		}
	}
	for kind, all := range flips {
		refused, whole := 0, 0
		for i, flip := range all {
			for bit := 3; bit < 4000; bit = bit*40 + 1 {
				c := d.Clone()
				flip(c, bit)
				n, err := tryStart(c, Options{})
				if err == nil {
					whole++
					wantSame(t, contents(n.Engine), want)
					n.end(t)
					continue
				}
				refused++
				if !errors.Is(err, ErrLost) && !errors.Is(err, wal.ErrHole) || !strings.Contains(err.Error(), "accept-loss") {
					t.Errorf("%s %d, bit %d: %v", kind, i, bit, err)
				}
				wantAccepted(t, c, names, keys)
			}
		}
		t.Logf("%s: %d times refused, %d times whole", kind, refused, whole)
		if kind == "manifest" && refused > 0 || kind == "piece" && whole == 0 || kind == "batch" && refused == 0 {
			t.Errorf("%s: %d times refused, %d times whole", kind, refused, whole)
		}
	}
}

// wantAccepted checks that a node on a damaged disk starts if the loss is accepted, that no filter has lost a
// key, that names may be missing if one is, and that later starts need not accept the loss.
func wantAccepted(t *testing.T, d *drive, names []string, keys []umbel.Digest) {
	t.Helper()
	n, err := tryStart(d, Options{AcceptLoss: true})
	if err != nil {
		t.Errorf("with losses accepted: %v", err)
		return
	}
	if len(n.report.Lost) == 0 {
		t.Error("nothing is said to be lost")
	}
	missing := n.MissingNames()
	check := func(n *node) {
		t.Helper()
		there := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return n.Get([]byte(name)) == nil })
		if len(there) < len(names) && missing == nil {
			t.Errorf("of %q only %q are there, and no names may be missing:\n%s", names, there, strings.Join(n.report.Lost, "\n"))
		}
		if now := n.MissingNames(); !reflect.DeepEqual(now, missing) || !reflect.DeepEqual(n.report.Missing, missing) {
			t.Errorf("missing names %v, reported %v, want %v", now, n.report.Missing, missing)
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
	check(n)
	wantKeys(t, n.Engine, []string{"new"}, keys[:20])
	n.end(t)
}

// Lost batches and files are as altered ones.
func TestLostBatchesAndFiles(t *testing.T) {
	race.Skip(t, "varies damage and failures, in one goroutine")
	d, names, keys, want := history(t, 2)
	var losses []func(c *drive)
	batches := d.Numbers()
	for i := range batches {
		for _, lost := range [][]uint64{batches[i : i+1], batches[i:], batches[:i+1]} {
			losses = append(losses, func(c *drive) { c.Lose(lost...) })
		}
	}
	for _, files := range [][]string{d.pieces(), d.manifests()} {
		for i := range files {
			for _, lost := range [][]string{files[i : i+1], files[i:], files[:i+1]} {
				losses = append(losses, func(c *drive) { c.files.Lose(lost...) })
			}
		}
	}
	for i, lose := range losses {
		c := d.Clone()
		lose(c)
		n, err := tryStart(c, Options{})
		if err == nil {
			wantSame(t, contents(n.Engine), want)
			n.end(t)
			continue
		}
		if !strings.Contains(err.Error(), "accept-loss") {
			t.Errorf("loss %d: %v", i, err)
		}
		wantAccepted(t, c, names, keys)
	}
}

// A segment of the log that the disk cannot read stops a start, unless the loss is accepted: then it is as a
// damaged one.
func TestUnreadableLog(t *testing.T) {
	d, names, keys, _ := history(t, 1)
	for _, name := range d.Disk.Files.Names() {
		size := len(d.Disk.Files.File(name))
		if !strings.HasSuffix(name, ".wal") {
			continue
		}
		for _, from := range []int{0, 4096, 40_000} {
			c := d.Clone()
			c.Disk.Files.Spoil(name, from, size)
			if _, err := tryStart(c, Options{}); err == nil {
				continue // it is not needed
			} else if !errors.Is(err, disk.ErrUnreadable) {
				t.Errorf("%s from %d: %v", name, from, err)
			}
			wantAccepted(t, c, names, keys)
		}
	}
}

// One bit of any copy of a manifest is harmless. If all copies of the last one are damaged, the
// previous snapshot and the log have everything. If the log ends before that snapshot, as it does with
// None, that is a loss, and if it is accepted, no filter returns a wrong no.
func TestDamagedManifests(t *testing.T) {
	race.Skip(t, "varies damage and failures, in one goroutine")
	for _, durability := range []Durability{Always, None} {
		d := newDisk()
		o := Options{Durability: durability}
		n := start(t, d, o)
		filters := n.make(t, 20_000)
		var names []string
		for _, f := range filters {
			names = append(names, f.Name())
		}
		keys := digests(0, 300)
		for i := range 3 {
			for _, f := range filters {
				if _, _, err := f.Add(nil, keys[100*i:100*i+100]); err != nil {
					t.Fatal(err)
				}
			}
			snap(t, n)
		}
		want := contents(n.Engine)
		n.kill()
		manifests := d.manifests() // two copies of the previous one, two of the last one
		if len(manifests) != 4 {
			t.Fatalf("manifests %q", manifests)
		}
		for lost := range 1 << 4 {
			c := d.Clone()
			for i, name := range manifests {
				if lost>>i&1 == 1 {
					c.files.Flip(name, 100+17*lost)
				}
			}
			n, err := tryStart(c, o)
			lastGone, allGone := lost&0b1100 == 0b1100, lost == 0b1111
			if wantErr := lastGone && durability == None || allGone; wantErr != (err != nil) || err != nil && !errors.Is(err, ErrLost) {
				t.Fatalf("durability %v, damaged %04b: %v", durability, lost, err)
			}
			if err == nil {
				wantSame(t, contents(n.Engine), want)
				for i := range 2 {
					n.Get([]byte("bloom")).Expire(1<<50 + int64(i))
					snap(t, n)
				}
				// The store itself takes snapshots after such a start, too.
				await.True(t, "two whole manifests are left", func() bool {
					list, err := n.files.Manifests()
					return err == nil && len(list) == 2 && list[0].Whole == 2 && list[1].Whole == 2
				})
				n.end(t)
				continue
			}
			o := o
			o.AcceptLoss = true
			if n, err = tryStart(c, o); err != nil {
				t.Fatalf("durability %v, damaged %04b: with losses accepted: %v", durability, lost, err)
			}
			if len(n.report.Lost) == 0 {
				t.Error("no loss is reported")
			}
			if allGone {
				if n.Len() != 0 || !strings.Contains(n.report.Lost[0], "gone") {
					t.Errorf("%d filters, lost: %q", n.Len(), n.report.Lost)
				}
			} else {
				wantKeys(t, n.Engine, names, keys)
			}
			n.end(t)
		}
	}
}

// A disk that fails now and then, and has little room now and then, loses nothing.
func TestUnreliableDisk(t *testing.T) {
	d := newDisk()
	var count atomic.Int64
	n := start(t, d, Options{})
	filters := n.make(t, 2000)
	d.BeforeAppend(func() error {
		if count.Add(1)%5 == 0 {
			return errors.New("now and then")
		}
		return nil
	})
	d.files.Before(func(disktest.Op, string) error {
		if count.Add(1)%37 == 0 {
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
	d.files.Before(nil)
	n = start(t, d, Options{})
	for i, f := range filters {
		wantKeys(t, n.Engine, []string{f.Name()}, digests(0, kept[i]))
	}
	n.end(t)
}

// With durability None no log has the renaming of filters while they are copied.
func TestRenamesDuringSnapshotsWithoutLog(t *testing.T) {
	race.Skip(t, "makes many versions, in one goroutine")
	d := newDisk()
	d.files.Before(slowFiles)
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
		report, err := backup.Verify(t.Context(), bytes.NewReader(b), e)
		if err != nil {
			t.Fatal(err)
		}
		if report.Filters != len(want) {
			t.Errorf("%d filters in the report, want %d", report.Filters, len(want))
		}
		wantSame(t, contents(e), want)
		other := newDisk()
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

func restoreTo(t *testing.T, d *drive, b []byte) {
	t.Helper()
	l, err := d.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	files, err := snapfile.Open(d.files.Dir(), snapfile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := backup.Restore(t.Context(), bytes.NewReader(b), l, files); err != nil {
		t.Fatal(err)
	}
	if _, err := backup.Restore(t.Context(), bytes.NewReader(b), l, files); err == nil {
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
		if _, err := backup.Verify(t.Context(), bytes.NewReader(broken), newEngine()); !errors.Is(err, umbel.ErrCorrupt) {
			t.Errorf("%s: verify: %v", what, err)
		}
		other := newDisk()
		l, err := other.Open()
		if err != nil {
			t.Fatal(err)
		}
		files, err := snapfile.Open(other.files.Dir(), snapfile.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := backup.Restore(t.Context(), bytes.NewReader(broken), l, files); !errors.Is(err, umbel.ErrCorrupt) {
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

// A backup that is read slowly has what it began with, even if filters are deleted meanwhile.
func TestBackupWhileSnapshotsAreMade(t *testing.T) {
	d, _, _, want := history(t, 2)
	n := start(t, d, Options{})
	r, w := io.Pipe()
	var b bytes.Buffer
	done := make(chan error, 1)
	go func() { done <- n.Backup(t.Context(), w); w.Close() }()
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
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	e := newEngine()
	if _, err := backup.Verify(t.Context(), &b, e); err != nil {
		t.Fatal(err)
	}
	wantSame(t, contents(e), want)
	n.end(t)
}

// Check finds what Open would, and changes nothing.
func TestCheck(t *testing.T) {
	d, _, _, want := history(t, 2)
	c := d.Clone()
	names := c.files.Names()
	l, err := c.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	files, err := snapfile.Open(c.files.Dir(), snapfile.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	e := newEngine()
	report, err := check(t.Context(), l, files, e)
	if err != nil || report.Filters != len(want) || report.Batches == 0 || report.Snapshot.IsZero() {
		t.Errorf("%+v, %v", report, err)
	}
	wantSame(t, contents(e), want)
	if !slices.Equal(c.files.Names(), names) {
		t.Errorf("files %q, want %q", c.files.Names(), names)
	}
}

// A change of many batches that was under way when the process ended was never acknowledged.
func TestUnfinishedChange(t *testing.T) {
	race.Skip(t, "varies damage and failures, in one goroutine")
	d := newDisk()
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
	before, batches := n.Status().Commits, 0
	d.BeforeAppend(func() error {
		if batches++; batches > 3 {
			<-t.Context().Done()
		}
		return nil
	})
	pos, err := f.Update(func(g umbel.Filter) (umbel.Filter, error) { g.Add(digest(-1)); return g, nil })
	if err != nil {
		t.Fatal(err)
	}
	await.True(t, "the log hangs", func() bool { return n.Status().Commits >= before+3 })
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
	race.Skip(t, "varies damage and failures, in one goroutine")
	d := newDisk()
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
	d.BeforeAppend(func() error {
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
	await.True(t, "there is no room", func() bool { return n.Status().Pending > 56<<20 })
	fails.Store(true)
	close(leave)
	if err := <-result; !errors.Is(err, engine.ErrReadOnly) {
		t.Errorf("%v, want %v", err, engine.ErrReadOnly)
	}
	fails.Store(false)
	await.True(t, "the log is writable", func() bool { return n.Ready() == nil })
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

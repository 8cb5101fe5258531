package wal_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/umbel-filters/umbel/cmd/internal/durable/disk/disktest"
	"github.com/umbel-filters/umbel/cmd/internal/durable/wal"
	"github.com/umbel-filters/umbel/cmd/internal/service/budget"
)

// failing returns a hook that lets the next n operations of that kind fail.
func failing(op disktest.Op, n int, err error) func(disktest.Op, string) error {
	return func(o disktest.Op, _ string) error {
		if o == op && n > 0 {
			n--
			return err
		}
		return nil
	}
}

func TestFailedWrites(t *testing.T) {
	b := newBench(t)
	b.fill(3)
	for i, fault := range []error{errFault, disktest.Half{Err: errFault}, disktest.Half{Err: errFault}} {
		b.disk.Before(failing(disktest.Write, 2, fault))
		next := b.log.Next()
		for range 2 {
			es := []entry{entryOf(next, 1), entryOf(next+1, 1)}
			if i == 2 {
				es = es[:1] // of which nothing can remain
			}
			b.wants(write(b.log, es...), errFault)
			b.wants(b.log.Health(), errFault)
		}
		if i < 2 {
			b.fill(1) // shorter than what failed
			b.must(b.log.Health())
		}
		b.disk.Kill()
		b.open()
		b.fill(1)
	}
	b.read(1, "1-8")
}

// After a failed sync nothing is accepted, although the next sync would succeed.
func TestFailedSync(t *testing.T) {
	b := newBench(t)
	b.fill(3)
	b.must(write(b.log, entryOf(4, 1)))
	b.disk.Before(failing(disktest.Sync, 1, errFault))
	_, err := b.log.Commit(ctx)
	b.wants(err, errFault)
	for range 2 {
		_, err := b.log.Commit(ctx)
		b.wants(err, errFault)
		b.wants(add(b.log, entryOf(5, 1)), errFault)
		b.wants(b.log.Purge(ctx, 2), errFault)
		b.wants(b.log.Health(), errFault)
	}
	b.bounds(1, 3)
	b.read(1, "1-3")
	b.must(b.log.Close())
	b.open()
	b.read(1, "1-4") // it was in memory all the time
}

func TestFailedHead(t *testing.T) {
	b := newBench(t)
	b.fill(3)
	b.disk.Before(func(op disktest.Op, name string) error {
		if op == disktest.Write && name == "head" {
			return errFault
		}
		return nil
	})
	b.must(write(b.log, entryOf(4, 1)))
	_, err := b.log.Commit(ctx)
	b.wants(err, errFault)
	b.bounds(1, 3)
	b.disk.Before(nil)
	if durable, err := b.log.Commit(ctx); durable != 4 || err != nil {
		t.Errorf("synced up to %d, %v", durable, err)
	}
	b.again()
	b.read(1, "1-4")
}

// A segment cannot be made now and then.
func TestFailedSegments(t *testing.T) {
	for _, op := range []disktest.Op{disktest.Create, disktest.Allocate, disktest.Rename, disktest.Write} {
		b := newBench(t)
		for range 300 {
			b.disk.Before(failing(op, 1, errFault))
			e := []entry{entryOf(b.log.Next(), 1)}
			if err := add(b.log, e...); err != nil {
				b.wants(err, errFault)
				if b.log.Next() == e[0].Index {
					b.must(add(b.log, e...))
				} else {
					_, err := b.log.Commit(ctx)
					b.must(err)
				}
			}
		}
		b.disk.Before(nil)
		b.read(1, "1-300")
		b.again()
		b.read(1, "1-300")
	}
}

func TestFullDisk(t *testing.T) {
	b := newBench(t)
	b.disk.Limit(8192 + 5*segmentBytes/2)
	full := func() (n uint64) {
		for {
			e := []entry{entryOf(b.log.Next(), 1)}
			if err := add(b.log, e...); err != nil {
				b.wants(err, syscall.ENOSPC)
				return e[0].Index - 1
			}
		}
	}
	n := full()
	b.wants(b.log.Health(), syscall.ENOSPC)
	b.read(1, spans(1, n))
	b.must(b.log.Purge(ctx, n/2)) // which needs no space
	m := full()
	b.must(b.log.Purge(ctx, m-5))
	if before := b.log.Bytes(); !slices.ContainsFunc(b.disk.Names(), isSpare) || b.log.Trim(ctx) != nil || slices.ContainsFunc(b.disk.Names(), isSpare) || b.log.Bytes() != before-segmentBytes {
		t.Errorf("%d bytes after spare files were removed, %d before: %v", b.log.Bytes(), before, b.disk.Names())
	}
	if m <= n {
		t.Errorf("the log ends with %d after space was freed, and with %d before", m, n)
	}
	b.disk.Limit(-1)
	b.fill(10)
	b.must(b.log.Health())
	b.again()
	b.read(m-5, spans(m-5, m+10))
}

func isSpare(name string) bool { return strings.HasSuffix(name, ".old") }

// A frugal log takes only the room that its entries need, uses the files that it has, and keeps none.
func TestFrugal(t *testing.T) {
	b := newBench(t)
	b.o.SegmentBytes = 1 << 20
	b.again()
	b.fill(10) // a segment
	b.log.Frugal(true)
	big := func() entry {
		return entry{Index: b.log.Next(), Term: 1, Data: make([]byte, 700<<10)}
	}
	before := b.log.Bytes()
	for range 3 {
		b.must(add(b.log, big()))
	}
	if grown := b.log.Bytes() - before; grown > 3*704<<10 {
		t.Errorf("three entries of 700 KiB take %d bytes", grown)
	}
	last := b.log.Next() - 1
	b.must(b.log.Purge(ctx, last))
	if slices.ContainsFunc(b.disk.Names(), isSpare) {
		t.Errorf("a frugal log keeps %v", b.disk.Names())
	}
	b.log.Frugal(false)
	before = b.log.Bytes()
	b.must(add(b.log, big()))
	if grown := b.log.Bytes() - before; grown != 1<<20 {
		t.Errorf("the next segment has %d bytes, want the usual size", grown)
	}
	b.again()
	b.must(b.log.Read(ctx, last, func(uint64, []byte) error { return nil }))
}

// The segments of a new log become larger, also after it was opened again, and only those of the full size are used again.
func TestSegmentsGrow(t *testing.T) {
	b := newBench(t)
	b.o.SegmentBytes = 8 << 20
	b.again()
	sizes, before := []int64{}, int64(b.log.Bytes())
	for b.log.Next() < 60 {
		b.must(add(b.log, entry{Index: b.log.Next(), Term: 1, Data: make([]byte, 500<<10)}))
		if now := int64(b.log.Bytes()); now > before {
			sizes, before = append(sizes, (now-before)>>20), now
			b.again()
		}
	}
	if want := []int64{1, 2, 4, 8, 8, 8}; !slices.Equal(sizes, want) {
		t.Errorf("segments of %d MiB, want %d", sizes, want)
	}
	b.must(b.log.Purge(ctx, b.log.Next()-1))
	if n := len(slices.DeleteFunc(b.disk.Names(), func(name string) bool { return !isSpare(name) })); n != 2 {
		t.Errorf("%d files are kept to be used again, want 2 of 8 MiB", n)
	}
	if n := b.log.Bytes(); n < 24<<20 || n > 25<<20 {
		t.Errorf("the log takes %d bytes, want three files of 8 MiB", n)
	}
}

func TestDiskLimit(t *testing.T) {
	b := newBench(t)
	b.o = wal.Options{Disk: budget.New(1 << 20), SegmentBytes: 256 << 10}
	b.again()
	for round := range 3 {
		first, _ := b.log.Bounds()
		var err error
		for err == nil {
			err = add(b.log, entryOf(b.log.Next(), 1))
		}
		b.wants(err, budget.ErrDisk)
		if n := b.log.Bytes(); n > 1<<20 || n < 3<<18 {
			t.Errorf("round %d: %d bytes of %d are used", round, n, 1<<20)
		}
		_, last := b.log.Bounds()
		b.read(first, spans(first, last))
		b.must(b.log.Purge(ctx, last+1))
		b.fill(1)
	}
}

// A log that cannot be opened leaves no lock and no file open, and the next attempt succeeds.
func TestFailedOpen(t *testing.T) {
	b := newBench(t)
	b.fill(100)
	b.must(write(b.log, entryOf(101, 1)))
	b.disk.Kill()
	for n := 0; ; n++ {
		count := 0
		d := b.disk.Dir()
		b.disk.Before(func(disktest.Op, string) error {
			if count++; count > n {
				return errFault
			}
			return nil
		})
		l, err := wal.OpenDir(d, b.o)
		b.disk.Before(nil)
		if err == nil {
			b.log = l
			break
		}
		b.wants(err, errFault)
		if l, err = wal.OpenDir(d, b.o); err != nil {
			t.Fatalf("after operation %d failed: %v", n, err)
		}
		b.must(l.Close())
		if n > 100 {
			t.Fatal("it is never opened")
		}
	}
	b.read(1, "1-101")
}

func TestOlderAndLaterVersions(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "jetstream"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := wal.Supported(dir); !errors.Is(err, wal.ErrVersion) {
		t.Errorf("error %v, want %v", err, wal.ErrVersion)
	}
	if err := errors.Join(wal.Supported(t.TempDir()), wal.Supported(filepath.Join(dir, "none"))); err != nil {
		t.Error(err)
	}
	for _, readOnly := range []bool{false, true} {
		_, err := wal.Open(dir, wal.Options{ReadOnly: readOnly})
		if !errors.Is(err, wal.ErrVersion) || !strings.Contains(err.Error(), "umbel backup make") || !strings.Contains(err.Error(), "umbel backup restore") {
			t.Errorf("error %v, want one with the commands that migrate", err)
		}
	}
	for _, name := range []string{"head", "00000000000000000001.wal"} {
		b := newBench(t)
		b.fill(1)
		b.must(b.log.Close())
		data := b.disk.File(name)
		for at := 0; at < min(len(data), 3*4096); at += 2048 {
			if data[at] != 0 {
				data[at+7]++
			}
		}
		b.disk.SetFile(name, data)
		if _, err := wal.OpenDir(b.disk.Dir(), b.o); !errors.Is(err, wal.ErrVersion) {
			t.Errorf("%s: error %v, want %v", name, err, wal.ErrVersion)
		}
	}
}

package wal_test

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"go.uber.org/goleak"

	"github.com/umbel-filters/umbel/cmd/internal/durable/disk"
	"github.com/umbel-filters/umbel/cmd/internal/durable/wal"
)

// appender is the variable that makes the test binary append to the log in the directory that it
// names, until it is killed.
const appender = "UMBEL_TEST_WAL"

func TestMain(m *testing.M) {
	if dir := os.Getenv(appender); dir != "" {
		fmt.Fprintln(os.Stderr, appendForever(dir))
		os.Exit(1)
	}
	goleak.VerifyTestMain(m)
}

// appendForever prints each index when it is durable. Up to four entries are in flight, and the front
// is cut now and then.
func appendForever(dir string) error {
	l, err := wal.Open(dir, wal.Options{SegmentBytes: segmentBytes})
	if err != nil {
		return err
	}
	written := make(chan struct{}, 3)
	failed := make(chan error, 1)
	go func() {
		for range written {
			durable, err := l.Commit(ctx)
			if err != nil {
				failed <- err
				return
			}
			fmt.Println(durable)
		}
	}()
	for {
		next := l.Next()
		if err := write(l, entryOf(next, 1)); err != nil {
			return err
		}
		select {
		case written <- struct{}{}:
		case err := <-failed:
			return err
		}
		if first, last := l.Bounds(); last > first+600 {
			if err := l.Purge(ctx, last-300); err != nil {
				return err
			}
		}
	}
}

// child starts appendForever.
func child(t *testing.T, dir string) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	c := exec.Command(os.Args[0], "-test.run=^$")
	c.Env = append(os.Environ(), appender+"="+dir)
	c.Stderr = os.Stderr
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	return c, bufio.NewScanner(out)
}

// TestKill kills a process that writes to a log. UMBEL_KILLS is the number of times.
func TestKill(t *testing.T) {
	kills := 30
	if testing.Short() {
		kills = 5
	}
	if n, err := strconv.Atoi(os.Getenv("UMBEL_KILLS")); err == nil {
		kills = n
	}
	dir := t.TempDir()
	durable := uint64(0)
	for i := range kills {
		c, lines := child(t, dir)
		for n := 0; lines.Scan(); n++ {
			if n == 97*i%601+5 {
				c.Process.Kill() // what it printed before is read
			}
			if m, err := strconv.ParseUint(lines.Text(), 10, 64); err == nil {
				durable = m
			}
		}
		c.Wait()
		l := open(t, dir, wal.Options{SegmentBytes: segmentBytes})
		first, last := l.Bounds()
		if last < durable || last > durable+5 {
			t.Errorf("the log ends with %d, and %d was durable", last, durable)
		}
		next := first
		if err := l.Read(ctx, first, func(number uint64, data []byte) error {
			e := parsed(number, data)
			if !same(e, entryOf(next, 1)) {
				return fmt.Errorf("entry %d, want %d", e.Index, next)
			}
			next++
			return nil
		}); err != nil || next != last+1 {
			t.Errorf("read up to %d of %d: %v", next-1, last, err)
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}
	if durable == 0 {
		t.Error("nothing was written")
	}
	t.Logf("%d kills, %d entries", kills, durable)
}

func TestLock(t *testing.T) {
	dir := t.TempDir()
	c, lines := child(t, dir)
	if !lines.Scan() {
		t.Fatal("the process writes nothing")
	}
	for _, readOnly := range []bool{false, true} {
		_, err := wal.Open(dir, wal.Options{ReadOnly: readOnly})
		if !errors.Is(err, disk.ErrLocked) || !strings.Contains(err.Error(), strconv.Itoa(c.Process.Pid)) || !strings.Contains(err.Error(), dir) {
			t.Errorf("error %v, want one of process %d and %s", err, c.Process.Pid, dir)
		}
	}
	c.Process.Kill()
	for lines.Scan() {
	}
	c.Wait()
	l := open(t, dir, wal.Options{})
	if _, err := wal.Open(dir, wal.Options{}); !errors.Is(err, disk.ErrLocked) {
		t.Errorf("error %v, want %v", err, disk.ErrLocked)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	a, b := open(t, dir, wal.Options{ReadOnly: true}), open(t, dir, wal.Options{ReadOnly: true})
	if a.Next() != b.Next() {
		t.Errorf("two readers find the ends %d and %d", a.Next()-1, b.Next()-1)
	}
}

// A log in a directory that cannot be written to can be read.
func TestReadOnlyDirectory(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir, wal.Options{})
	if err := add(l, entryOf(1, 1), entryOf(2, 1)); err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	protect(t, dir)
	l = open(t, dir, wal.Options{ReadOnly: true})
	if got := read(t, l, 1); got != "1-2" {
		t.Errorf("read %s, want 1-2", got)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := wal.Open(dir, wal.Options{}); err == nil {
		t.Error("a directory that cannot be written to was opened for writing")
	}
}

// A disk without space refuses entries until there is space again.
func TestFullFileSystem(t *testing.T) {
	dir := smallDisk(t, 12<<20)
	ballast := filepath.Join(dir, "ballast")
	if err := os.WriteFile(ballast, make([]byte, 4<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	l := open(t, filepath.Join(dir, "log"), wal.Options{})
	var err error
	for err == nil {
		err = add(l, entry{Index: l.Next(), Data: noise(64 << 10)})
	}
	kept := l.Next() - 1
	if !errors.Is(err, syscall.ENOSPC) || l.Health() == nil || kept < 50 {
		t.Fatalf("after %d entries: error %v, health %v", kept, err, l.Health())
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	if err := add(l, entry{Index: l.Next(), Data: noise(64 << 10)}); err != nil {
		t.Fatal(err)
	}
	n := uint64(0)
	if err := l.Read(ctx, 1, func(uint64, []byte) error { n++; return nil }); err != nil || n != kept+1 {
		t.Errorf("%d entries, %v, want %d", n, err, kept+1)
	}
}

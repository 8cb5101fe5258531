package oplog_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/umbel-filters/umbel/cmd/internal/oplog"
)

// appender is the variable that makes the test binary append to the log in the directory
// that it names, until it is killed.
const appender = "UMBEL_TEST_APPEND"

func TestMain(m *testing.M) {
	if dir := os.Getenv(appender); dir != "" {
		if err := appendForever(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	goleak.VerifyTestMain(m)
}

func batchOf(number uint64) []byte {
	b := binary.LittleEndian.AppendUint64(nil, number)
	return append(b, bytes.Repeat([]byte{byte(number)}, int(number*37%900))...)
}

// appendForever appends and prints each number when it is acknowledged; it purges between, as a
// node does.
func appendForever(dir string) error {
	ctx := context.Background()
	l, err := oplog.Open(ctx, dir, oplog.Options{})
	if err != nil {
		return err
	}
	for {
		_, last := l.Bounds()
		number, err := l.Append(ctx, batchOf(last+1))
		if err != nil {
			return err
		}
		fmt.Println("batch", number)
		if number%100 == 0 {
			if err := l.Purge(ctx, number-50); err != nil {
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

func TestKill(t *testing.T) {
	kills := 20
	if testing.Short() {
		kills = 4
	}
	dir := t.TempDir()
	var acknowledged uint64
	for i := range kills {
		c, lines := child(t, dir)
		for n := 0; lines.Scan(); n++ {
			if n == 40*i%301+5 {
				c.Process.Kill() // what it said meanwhile is read too
			}
			var number uint64
			if _, err := fmt.Sscanf(lines.Text(), "batch %d", &number); err == nil {
				acknowledged = number
			}
		}
		c.Wait()
		l, err := oplog.Open(t.Context(), dir, oplog.Options{})
		if err != nil {
			t.Fatal(err)
		}
		first, last := l.Bounds()
		if last < acknowledged || last > acknowledged+1 {
			t.Errorf("the log ends with %d, and %d was acknowledged", last, acknowledged)
		}
		next := first
		if err := l.Read(t.Context(), first, func(number uint64, batch []byte) error {
			if number != next || !bytes.Equal(batch, batchOf(number)) {
				return fmt.Errorf("batch %d in the place of %d holds %x", number, next, batch)
			}
			next++
			return nil
		}); err != nil {
			t.Error(err)
		}
		if next != last+1 {
			t.Errorf("read up to %d of %d", next-1, last)
		}
		if l.Torn() != "" {
			t.Log("torn:", l.Torn())
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}
	t.Logf("%d kills, %d batches", kills, acknowledged)
}

func TestSecondProcess(t *testing.T) {
	dir := t.TempDir()
	c, lines := child(t, dir)
	for lines.Scan() && lines.Text() != "batch 3" {
	}
	_, err := oplog.Open(t.Context(), dir, oplog.Options{})
	if !errors.Is(err, oplog.ErrLocked) || !strings.Contains(err.Error(), strconv.Itoa(c.Process.Pid)) || !strings.Contains(err.Error(), dir) {
		t.Errorf("error %v, want one of process %d and %s", err, c.Process.Pid, dir)
	}
	c.Process.Kill()
	for lines.Scan() {
	}
	c.Wait()
	l, err := oplog.Open(t.Context(), dir, oplog.Options{})
	if err != nil {
		t.Fatal(err)
	}
	// Within one process too.
	if _, err := oplog.Open(t.Context(), dir, oplog.Options{}); !errors.Is(err, oplog.ErrLocked) {
		t.Errorf("error %v, want %v", err, oplog.ErrLocked)
	}
	l.Close()
}

// TestFlippedBits turns one bit over in every file of a log, each in turn and at several
// places. What was kept is then found as it was, or is reported: nothing else comes out.
func TestFlippedBits(t *testing.T) {
	for _, killed := range []bool{false, true} {
		t.Run(fmt.Sprintf("killed=%v", killed), func(t *testing.T) { flipBits(t, killed) })
	}
}

func flipBits(t *testing.T, killed bool) {
	const batches, purged = 30, 5
	sound := filepath.Join(t.TempDir(), "sound")
	l, err := oplog.Open(t.Context(), sound, oplog.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for n := uint64(1); n <= batches; n++ {
		if _, err := l.Append(t.Context(), batchOf(n)); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Purge(t.Context(), purged+1); err != nil {
		t.Fatal(err)
	}
	if killed {
		// The files as they are while it runs are those that a kill leaves.
		copied := filepath.Join(t.TempDir(), "killed")
		if err := os.CopyFS(copied, os.DirFS(sound)); err != nil {
			t.Fatal(err)
		}
		sound = copied
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	var files []string
	filepath.WalkDir(sound, func(path string, d fs.DirEntry, err error) error {
		if info, _ := d.Info(); err == nil && !d.IsDir() && info.Size() > 0 {
			files = append(files, path[len(sound)+1:])
		}
		return err
	})
	each := 8
	if testing.Short() {
		each = 3
	}
	found := map[string]int{}
	for _, file := range files {
		data, err := os.ReadFile(filepath.Join(sound, file))
		if err != nil {
			t.Fatal(err)
		}
		for i := range each {
			bit := i * (len(data)*8 - 1) / max(each-1, 1)
			where := fmt.Sprintf("bit %d of %d of %s", bit, len(data)*8, file)
			dir := filepath.Join(t.TempDir(), "flipped")
			if err := os.CopyFS(dir, os.DirFS(sound)); err != nil {
				t.Fatal(err)
			}
			flipped := bytes.Clone(data)
			flipped[bit/8] ^= 1 << (bit % 8)
			if err := os.WriteFile(filepath.Join(dir, file), flipped, 0o600); err != nil {
				t.Fatal(err)
			}
			found[lookAt(t, dir, where, batches, purged)]++
		}
	}
	t.Logf("%d files, %d bits each: %v", len(files), each, found)
}

// lookAt opens a damaged log and returns what came of it.
func lookAt(t *testing.T, dir, where string, batches, purged uint64) string {
	t.Helper()
	l, err := oplog.Open(t.Context(), dir, oplog.Options{})
	if err != nil {
		return "refused"
	}
	defer func() {
		if err := l.Close(); err != nil {
			t.Errorf("%s: close: %v", where, err)
		}
	}()
	whole := "harmless"
	if l.Torn() != "" {
		t.Errorf("%s: %s", where, l.Torn())
	}
	next := purged + 1
	err = l.Read(t.Context(), next, func(number uint64, batch []byte) error {
		if number != next || !bytes.Equal(batch, batchOf(number)) {
			t.Errorf("%s: batch %d in the place of %d holds %x", where, number, next, batch)
		}
		next++
		return nil
	})
	switch {
	case errors.Is(err, oplog.ErrHole):
		whole = "found"
	case err != nil:
		t.Errorf("%s: %v", where, err)
	case next != batches+1:
		t.Errorf("%s: a log without a word up to %d of %d", where, next-1, batches)
	}
	// Whoever accepts that goes on with new numbers.
	var seen []uint64
	if err := l.ReadOver(t.Context(), purged+1, func(number uint64, batch []byte) error {
		seen = append(seen, number)
		return nil
	}, func(first, last uint64, why error) error { return nil }); err != nil {
		t.Errorf("%s: %v", where, err)
	}
	number, err := l.Append(t.Context(), []byte("next"))
	if err != nil || number <= batches || !slices.IsSorted(seen) {
		t.Errorf("%s: the next batch is %d, %v, after %v", where, number, err, seen)
	}
	return whole
}

func TestReadOnlyDirectory(t *testing.T) {
	dir := t.TempDir()
	l, err := oplog.Open(t.Context(), dir, oplog.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	protect(t, dir)
	_, err = oplog.Open(t.Context(), dir, oplog.Options{})
	if err == nil || !strings.Contains(err.Error(), "can't be written") || !strings.Contains(err.Error(), dir) {
		t.Errorf("error %v, want one that says that %s can't be written to", err, dir)
	}
}

func TestFullDisk(t *testing.T) {
	dir := smallDisk(t, 12<<20)
	path := filepath.Join(dir, "log")
	l, err := oplog.Open(t.Context(), path, oplog.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ballast := filepath.Join(dir, "ballast")
	if err := os.WriteFile(ballast, make([]byte, 4<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	batch := noise(64 << 10)
	var kept uint64
	for ; kept < 1000; kept++ {
		if _, err = l.Append(t.Context(), batch); err != nil {
			break
		}
	}
	if err == nil {
		t.Fatal("the disk doesn't fill")
	}
	t.Logf("after %d batches: %v", kept, err)
	if l.Health() == nil {
		t.Error("a log that keeps nothing is healthy")
	}
	for range 3 {
		if _, err := l.Append(t.Context(), batch); err == nil {
			t.Fatal("appended to a full disk")
		}
		count(t, l, kept)
		time.Sleep(250 * time.Millisecond) // longer than the log waits before it begins again
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	number, err := l.Append(t.Context(), batch)
	for i := 0; err != nil && i < 20; i++ {
		time.Sleep(100 * time.Millisecond)
		number, err = l.Append(t.Context(), batch)
	}
	if err != nil || number < kept+1 || number > kept+2 {
		t.Fatalf("batch %d after %d, %v", number, kept, err)
	}
	if err := l.Health(); err != nil {
		t.Error(err)
	}
	count(t, l, kept+1)
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	if l, err = oplog.Open(t.Context(), path, oplog.Options{}); err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	count(t, l, kept+1)
}

func count(t *testing.T, l oplog.Log, want uint64) {
	t.Helper()
	got := uint64(0)
	if err := l.Read(t.Context(), 1, func(uint64, []byte) error { got++; return nil }); err != nil || got != want {
		t.Errorf("%d batches, %v, want %d", got, err, want)
	}
}

func TestLimit(t *testing.T) {
	l, err := oplog.Open(t.Context(), t.TempDir(), oplog.Options{MaxBytes: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	batch := noise(64 << 10)
	for range 20 {
		if _, err = l.Append(t.Context(), batch); err != nil {
			break
		}
	}
	if err == nil || !strings.Contains(err.Error(), "1048576") {
		t.Fatalf("error %v, want one of the limit", err)
	}
	_, last := l.Bounds()
	if err := l.Purge(t.Context(), last+1); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Append(t.Context(), batch); err != nil {
		t.Error(err)
	}
}

package faults

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"
)

// TestSecondProcess sees that two nodes never share a directory.
func TestSecondProcess(t *testing.T) {
	dir := t.TempDir()
	first := start(t, dir)
	second, err := tryStart(t, dir)
	if err == nil {
		second.Kill()
		t.Fatal("two nodes work in one directory")
	}
	if !strings.Contains(err.Error(), "in use") {
		t.Errorf("the second says %q, want that the directory is in use", err)
	}
	do(t, dial(t, first), "BF.ADD", "k", "a")
}

// TestDiskFull fills the disk under a node. Clients must get errors and no false acknowledgements,
// questions must go on, and what was acknowledged must be there when there is room again.
func TestDiskFull(t *testing.T) {
	dir := smallDisk(t, 48<<20)
	p := start(t, filepath.Join(dir, "data"), "--snapshot-interval", "0", "--snapshot-bytes", "0")
	c := dial(t, p)
	do(t, c, "BF.RESERVE", "k", "0.001", "10000000")
	var kept []string
	var failed error
	for i := 0; failed == nil && i < 2000; i++ {
		e := entry{filter: "fixed"}
		for j := range 5000 {
			e.keys = append(e.keys, fmt.Sprintf("%d.%d", i, j))
		}
		args := []any{"k"}
		for _, k := range e.keys {
			args = append(args, k)
		}
		if _, failed = c.Do("BF.MADD", args...); failed == nil {
			kept = append(kept, e.keys...)
		}
	}
	if failed == nil {
		t.Fatalf("%d keys were acknowledged on a disk of 48 MiB", len(kept))
	}
	t.Logf("after %d keys: %v", len(kept), failed)
	if !strings.HasPrefix(failed.Error(), "MISCONF") {
		t.Errorf("the error is %q, want MISCONF", failed)
	}
	if _, err := c.Do("BF.ADD", "k", "one more"); err == nil {
		t.Error("an addition was acknowledged on a full disk")
	}
	has := func(c redis.Conn) {
		t.Helper()
		for _, k := range []string{kept[0], kept[len(kept)/2], kept[len(kept)-1]} {
			if yes, err := redis.Int(c.Do("BF.EXISTS", "k", k)); yes != 1 {
				t.Errorf("%s was acknowledged and is gone: %v", k, err)
			}
		}
	}
	has(c)
	p.Kill()
	// There is room again: the same files on a larger disk.
	larger := t.TempDir()
	if err := os.CopyFS(larger, os.DirFS(filepath.Join(dir, "data"))); err != nil {
		t.Fatal(err)
	}
	q := start(t, larger)
	c = dial(t, q)
	for i := 0; i < len(kept); i += 997 {
		if yes, err := redis.Int(c.Do("BF.EXISTS", "k", kept[i])); yes != 1 {
			t.Fatalf("%s was acknowledged and is gone: %v", kept[i], err)
		}
	}
	do(t, c, "BF.ADD", "k", "one more")
}

// smallDisk mounts a file system of so many bytes, where the test may.
func smallDisk(t *testing.T, bytes int) string {
	t.Helper()
	if runtime.GOOS != "linux" || os.Geteuid() != 0 {
		t.Skip("only root on Linux mounts a small disk")
	}
	dir := t.TempDir()
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size="+strconv.Itoa(bytes), "tmpfs", dir).CombinedOutput(); err != nil {
		t.Skipf("no small disk: %v: %s", err, out)
	}
	t.Cleanup(func() { exec.Command("umount", "-l", dir).Run() })
	return dir
}

// TestBitFlips flips one bit of each file of a store in turn. The node must say what is wrong, or
// have lost nothing.
func TestBitFlips(t *testing.T) {
	dir := t.TempDir()
	p := start(t, dir, "--snapshot-interval", "0", "--snapshot-bytes", "0")
	c := dial(t, p)
	do(t, c, "BF.RESERVE", "snapshot", "0.001", "100000")
	do(t, c, "UM.MAKE", "counting", "counting", "KEYS", "10000", "RATE", "0.001")
	keys := make([]any, 3000)
	for i := range keys {
		keys[i] = strconv.Itoa(i)
	}
	add := func() {
		do(t, c, "BF.MADD", append([]any{"snapshot"}, keys...)...)
		do(t, c, "UM.ADD", append([]any{"counting"}, keys...)...)
	}
	add()
	do(t, c, "SAVE")
	do(t, c, "BF.MADD", append([]any{"log"}, keys...)...)
	add()
	p.Kill()
	var files []string
	filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			if info, err := d.Info(); err == nil && info.Size() > 0 {
				rel, _ := filepath.Rel(dir, path)
				files = append(files, rel)
			}
		}
		return nil
	})
	found, harmless := 0, 0
	for _, file := range files {
		for range 1 + 2*btoi(!testing.Short()) {
			if refused := flipOne(t, dir, file, keys); refused {
				found++
			} else {
				harmless++
			}
		}
	}
	t.Logf("%d files: %d flips found, %d harmless", len(files), found, harmless)
	if found == 0 {
		t.Error("no flip was found: the test flips nothing that counts")
	}
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// flipOne starts a copy of the directory in which a bit of one file is flipped, and reports
// whether the node refused to start.
func flipOne(t *testing.T, dir, file string, keys []any) (refused bool) {
	t.Helper()
	copied := t.TempDir()
	if err := os.CopyFS(copied, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(copied, file)
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	bit := rand.IntN(len(b) * 8)
	b[bit/8] ^= 1 << (bit % 8)
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	p, err := tryStart(t, copied)
	if err != nil {
		if ctx.Err() != nil || !bytes.Contains([]byte(err.Error()), []byte("--accept-loss")) && !strings.Contains(err.Error(), "restore") {
			t.Errorf("bit %d of %s: the node doesn't say how to go on: %v", bit, file, err)
		}
		return true
	}
	defer p.Kill()
	c := dial(t, p)
	for _, filter := range []struct{ command, name string }{{"BF.MEXISTS", "snapshot"}, {"BF.MEXISTS", "log"}, {"UM.HAS", "counting"}} {
		answers, err := redis.Ints(c.Do(filter.command, append([]any{filter.name}, keys...)...))
		if err != nil {
			t.Errorf("bit %d of %s: %v", bit, file, err)
			continue
		}
		for i, yes := range answers {
			if yes != 1 {
				t.Errorf("bit %d of %s: key %v of %s is gone, and the node started", bit, file, keys[i], filter.name)
				break
			}
		}
	}
	return false
}

// TestReadOnlyDirectory sees that a node that can keep nothing doesn't start.
func TestReadOnlyDirectory(t *testing.T) {
	dir := smallDisk(t, 16<<20)
	if err := syscall.Mount("", dir, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
		t.Skip(err)
	}
	if p, err := tryStart(t, filepath.Join(dir, "data")); err == nil {
		p.Kill()
		t.Error("a node started on a disk that it can't write to")
	} else if !strings.Contains(err.Error(), "read-only") {
		t.Errorf("the node says %v", err)
	}
}

// TestPowerCut ends a node as a power cut would: what the system hasn't written to the disk yet
// is lost. It takes a copy of the disk under the file system, as it is when the node dies.
func TestPowerCut(t *testing.T) {
	if testing.Short() {
		t.Skip("makes file systems")
	}
	if runtime.GOOS != "linux" || os.Geteuid() != 0 {
		t.Skip("only root on Linux mounts disks")
	}
	dir := t.TempDir()
	image := filepath.Join(dir, "disk")
	command := func(name string, args ...string) {
		t.Helper()
		if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
			t.Skipf("%s: %v: %s", name, err, out)
		}
	}
	command("truncate", "-s", "1G", image)
	command("mkfs.ext4", "-q", "-F", image)
	mount := func(image, name string) string {
		at := filepath.Join(dir, name)
		if err := os.Mkdir(at, 0o700); err != nil {
			t.Fatal(err)
		}
		command("mount", "-o", "loop", image, at)
		t.Cleanup(func() { exec.Command("umount", "-l", at).Run() })
		return at
	}
	at := mount(image, "before")
	p := start(t, filepath.Join(at, "data"), "--snapshot-interval", "500ms", "--snapshot-bytes", "256KiB")
	c := dial(t, p)
	do(t, c, "BF.RESERVE", "fixed", "0.001", "5000000", "NONSCALING")
	do(t, c, "UM.MAKE", "bloom", "bloom", "KEYS", "5000000", "RATE", "0.001")
	do(t, c, "UM.MAKE", "counting", "counting", "KEYS", "1000000", "RATE", "0.001")
	var kept acknowledged
	kept.keep(addUntilKilled(t, p, 0, 3*time.Second), time.Now())
	command("cp", "--sparse=always", image, image+"-cut")
	p = start(t, filepath.Join(mount(image+"-cut", "after"), "data"))
	kept.check(t, dial(t, p), 1)
	t.Logf("%d additions acknowledged, all there", kept.n())
}

package faults

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/gomodule/redigo/redis"
)

// TestDiskFull fills the disk of a node. Additions must fail with MISCONF, queries must work, and
// all acknowledged keys must be present after a start on a larger disk.
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
		t.Fatalf("all %d keys were acknowledged on a disk of 48 MiB", len(kept))
	}
	t.Logf("after %d keys: %v", len(kept), failed)
	if !strings.HasPrefix(failed.Error(), "MISCONF") && !strings.HasPrefix(failed.Error(), "UNKEPT") {
		t.Errorf("the error is %q, want MISCONF or UNKEPT", failed)
	}
	if _, err := c.Do("BF.ADD", "k", "one more"); err == nil {
		t.Error("an addition was acknowledged on a full disk")
	}
	has := func(c redis.Conn) {
		t.Helper()
		for _, k := range []string{kept[0], kept[len(kept)/2], kept[len(kept)-1]} {
			if present, err := redis.Int(c.Do("BF.EXISTS", "k", k)); present != 1 {
				t.Errorf("%s was acknowledged but is missing: %v", k, err)
			}
		}
	}
	has(c)
	p.Kill()
	// Copy the files to a larger disk.
	larger := t.TempDir()
	if err := os.CopyFS(larger, os.DirFS(filepath.Join(dir, "data"))); err != nil {
		t.Fatal(err)
	}
	q := start(t, larger)
	c = dial(t, q)
	for i := 0; i < len(kept); i += 997 {
		if present, err := redis.Int(c.Do("BF.EXISTS", "k", kept[i])); present != 1 {
			t.Fatalf("%s was acknowledged but is missing: %v", kept[i], err)
		}
	}
	do(t, c, "BF.ADD", "k", "one more")
}

// smallDisk mounts a file system with the given size in bytes. It skips the test if the test may
// not mount.
func smallDisk(t *testing.T, bytes int) string {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("mounting needs root")
	}
	dir := t.TempDir()
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size="+strconv.Itoa(bytes), "tmpfs", dir).CombinedOutput(); err != nil {
		t.Skipf("mount: %v: %s", err, out)
	}
	t.Cleanup(func() { exec.Command("umount", "-l", dir).Run() })
	return dir
}

// TestReadOnlyDirectory tests that a node does not start on a read-only file system.
func TestReadOnlyDirectory(t *testing.T) {
	dir := smallDisk(t, 16<<20)
	if err := syscall.Mount("", dir, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
		t.Skip(err)
	}
	if p, err := tryStart(t, filepath.Join(dir, "data")); err == nil {
		p.Kill()
		t.Error("a node started on a read-only file system")
	} else if !strings.Contains(err.Error(), "read-only") {
		t.Errorf("got %v, want an error about a read-only file system", err)
	}
}

package faults

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/gomodule/redigo/redis"
)

// TestPowerCut cuts the power of the disk at random moments while clients add keys: all unwritten
// data is lost. Acknowledged keys must be present afterwards, except with everysec those of
// the last second.
func TestPowerCut(t *testing.T) {
	if testing.Short() {
		t.Skip("makes file systems")
	}
	for _, policy := range []struct {
		name string
		late time.Duration
	}{{"always", 0}, {"everysec", time.Second}} {
		t.Run(policy.name, func(t *testing.T) {
			t.Parallel()
			disk := newImage(t)
			flags := []string{"--durability", policy.name, "--snapshot-interval", "300ms", "--snapshot-bytes", "256KiB"}
			var kept acknowledged
			for round := range *cuts {
				p := start(t, filepath.Join(disk.at, "data"), flags...)
				c := dial(t, p)
				if round == 0 {
					makeFilters(t, c)
				}
				kept.check(t, c, round)
				kept.keep(addUntil(t, p, round, func() {
					time.Sleep(policy.late + rand.N(time.Second))
					disk.cut()
					// The node keeps running without its disk for a while.
					time.Sleep(rand.N(200 * time.Millisecond))
					p.Kill()
				}), policy.late)
				disk.back()
			}
			kept.checkAll(t, dial(t, start(t, filepath.Join(disk.at, "data"), flags...)), *cuts)
			t.Logf("%d power cuts, %d acknowledged additions, all present", *cuts, kept.n())
		})
	}
}

// TestSlowDisk blocks the disk for a while. Meanwhile queries must work, and no addition may be
// acknowledged; with everysec, additions may be acknowledged for about a second.
func TestSlowDisk(t *testing.T) {
	if testing.Short() {
		t.Skip("makes file systems")
	}
	for _, policy := range []struct {
		name string
		late time.Duration
	}{{"always", 0}, {"everysec", time.Second}} {
		t.Run(policy.name, func(t *testing.T) {
			t.Parallel()
			disk := newImage(t)
			dir := filepath.Join(disk.at, "data")
			p := start(t, dir, "--durability", policy.name, "--snapshot-interval", "300ms", "--snapshot-bytes", "256KiB")
			adder, querier := dial(t, p), dial(t, p)
			do(t, adder, "BF.ADD", "k", "first")
			var first, last time.Time // the first acknowledgement while the disk hangs, and when the last acknowledged addition was sent
			var lasted time.Duration
			acknowledged := make(chan int)
			disk.hang()
			begin := time.Now()
			go func() {
				n := 0
				for ; lasted < 500*time.Millisecond; n++ {
					sent := time.Now()
					if _, err := redis.Int(adder.Do("BF.ADD", "k", n)); err != nil {
						t.Errorf("addition %d: %v", n, err)
						break
					}
					if lasted = time.Since(sent); lasted < 500*time.Millisecond {
						if last = sent; n == 0 {
							first = time.Now()
						}
					}
					time.Sleep(10 * time.Millisecond)
				}
				acknowledged <- n
			}()
			for time.Since(begin) < policy.late+2*time.Second {
				if present, err := redis.Int(querier.Do("BF.EXISTS", "k", "first")); present != 1 {
					t.Errorf("BF.EXISTS while the disk hangs: %d, %v", present, err)
				}
				time.Sleep(50 * time.Millisecond)
			}
			disk.resume()
			n := <-acknowledged
			if after := last.Sub(first); after > policy.late+500*time.Millisecond {
				t.Errorf("while the disk hung, %d additions were acknowledged, the last one %v after the first", n, after)
			}
			t.Logf("%d additions acknowledged, one of them after %v", n, lasted)
			time.Sleep(2 * policy.late)
			p.Kill()
			c := dial(t, start(t, dir))
			for i := range n {
				if present, err := redis.Int(c.Do("BF.EXISTS", "k", i)); present != 1 {
					t.Fatalf("%d was acknowledged but is missing: %v", i, err)
				}
			}
		})
	}
}

// image is a file system in a file, on which the tests cause faults.
type image struct {
	t    *testing.T
	file string
	at   string // mount point
}

// newImage makes a file system and mounts it. It skips the test if the test may not mount.
func newImage(t *testing.T) *image {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("mounting needs root")
	}
	dir := t.TempDir()
	i := &image{t, filepath.Join(dir, "image"), filepath.Join(dir, "disk")}
	if err := os.Mkdir(i.at, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, command := range [][]string{
		{"truncate", "-s", "1G", i.file},
		{"mkfs.ext4", "-q", "-F", i.file},
		{"mount", "-o", "loop", i.file, i.at},
	} {
		if out, err := exec.Command(command[0], command[1:]...).CombinedOutput(); err != nil {
			t.Skipf("%s: %v: %s", command[0], err, out)
		}
	}
	t.Cleanup(func() { exec.Command("umount", "-l", i.at).Run() })
	return i
}

// control makes an ioctl call on the file system.
func (i *image) control(request uintptr, argument uint32) error {
	d, err := os.Open(i.at)
	if err != nil {
		return err
	}
	defer d.Close()
	if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, d.Fd(), request, uintptr(unsafe.Pointer(&argument))); errno != 0 {
		return errno
	}
	return nil
}

// cut stops all writes of the file system and drops those in memory, as a power failure
// does.
func (i *image) cut() {
	i.t.Helper()
	const shutdown, dropLog = 0x8004587d, 2 // EXT4_IOC_SHUTDOWN, EXT4_GOING_FLAGS_NOLOGFLUSH
	if err := i.control(shutdown, dropLog); err != nil {
		i.t.Skipf("this file system can't be shut down: %v", err)
	}
}

// back mounts the file system again, as after a power failure. It must not be in use.
func (i *image) back() {
	i.t.Helper()
	for _, command := range [][]string{{"umount", i.at}, {"mount", "-o", "loop", i.file, i.at}} {
		if out, err := exec.Command(command[0], command[1:]...).CombinedOutput(); err != nil {
			i.t.Fatalf("%s: %v: %s", command[0], err, out)
		}
	}
}

// hang blocks all writes until resume is called.
func (i *image) hang() {
	i.t.Helper()
	const freeze = 0xc0045877 // FIFREEZE
	if err := i.control(freeze, 0); err != nil {
		i.t.Skipf("this file system can't be frozen: %v", err)
	}
}

func (i *image) resume() {
	const thaw = 0xc0045878 // FITHAW
	if err := i.control(thaw, 0); err != nil {
		i.t.Errorf("the file system is still frozen: %v", err)
	}
}

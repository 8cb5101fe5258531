package faults

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"unsafe"
)

// image is a file system of its own in a file, which can be treated as no other may be.
type image struct {
	t    *testing.T
	file string
	at   string // where it is mounted
}

// newImage makes a file system and mounts it, where the test may.
func newImage(t *testing.T) *image {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root mounts disks")
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
			t.Skipf("no disk of its own: %s: %v: %s", command[0], err, out)
		}
	}
	t.Cleanup(func() { exec.Command("umount", "-l", i.at).Run() })
	return i
}

// control asks the file system for what the system has no call for.
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

// cut has the file system write nothing any more, neither what it was asked to write before
// and has in memory: as when the power goes.
func (i *image) cut() {
	i.t.Helper()
	const shutdown, dropLog = 0x8004587d, 2 // EXT4_IOC_SHUTDOWN, EXT4_GOING_FLAGS_NOLOGFLUSH
	if err := i.control(shutdown, dropLog); err != nil {
		i.t.Skipf("the power of this file system can't be cut: %v", err)
	}
}

// back mounts the file system again, as when the power is back. Nobody may use it.
func (i *image) back() {
	i.t.Helper()
	for _, command := range [][]string{{"umount", i.at}, {"mount", "-o", "loop", i.file, i.at}} {
		if out, err := exec.Command(command[0], command[1:]...).CombinedOutput(); err != nil {
			i.t.Fatalf("%s: %v: %s", command[0], err, out)
		}
	}
}

// hang has all that writes wait until goOn is called.
func (i *image) hang() {
	i.t.Helper()
	const freeze = 0xc0045877 // FIFREEZE
	if err := i.control(freeze, 0); err != nil {
		i.t.Skipf("this file system can't be held up: %v", err)
	}
}

func (i *image) goOn() {
	const thaw = 0xc0045878 // FITHAW
	if err := i.control(thaw, 0); err != nil {
		i.t.Errorf("the file system hangs: %v", err)
	}
}

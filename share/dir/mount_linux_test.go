package dir_test

import (
	"fmt"
	"syscall"
	"testing"
)

const (
	errNoSpace  = syscall.ENOSPC
	errReadOnly = syscall.EROFS
)

// smallDisk returns the path of a file system of its own.
func smallDisk(t *testing.T, bytes int) string {
	t.Helper()
	path := t.TempDir()
	if err := syscall.Mount("tmpfs", path, "tmpfs", 0, fmt.Sprintf("size=%d", bytes)); err != nil {
		t.Skipf("mounting a file system: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(path, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return path
}

func makeReadOnly(t *testing.T, path string) {
	t.Helper()
	if err := syscall.Mount("tmpfs", path, "tmpfs", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
		t.Fatal(err)
	}
}

//go:build unix

package live_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/live"
)

// fullPath is the variable with the file of a process that may only write short files.
const fullPath = "UMBEL_TEST_FULL_PATH"

// A save that ends in the middle of the file, as on a full disk, leaves the file as it was and nothing else, and the next one
// succeeds when there is room.
func TestFullDisk(t *testing.T) {
	path := filepath.Join(t.TempDir(), "filter.umb")
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), fullPath+"="+path)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
	in := inFile(t, path)
	for _, key := range []string{"a", "b"} {
		if !in.Has(in.Hasher().HashString(key)) {
			t.Errorf("%s is missing", key)
		}
	}
}

// fillDisk uses a filter in a process whose files may not become as long as the filter.
func fillDisk(path string) error {
	signal.Ignore(syscall.SIGXFSZ) // so that writes fail
	f, err := live.Open(path, bloom.Kind, umbel.Goal{Keys: 1_000_000, FPRate: 0.01}, live.Options{Every: -1})
	if err != nil {
		return err
	}
	f.AddString("a")
	if err := f.Save(); err != nil {
		return err
	}
	before, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		return err
	}
	short := limit
	short.Cur = 100_000
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &short); err != nil {
		return err
	}
	f.AddString("b")
	if err := f.Save(); !errors.Is(err, syscall.EFBIG) || !errors.Is(f.Status().Err, syscall.EFBIG) || f.Status().Unsaved != 1 {
		return fmt.Errorf("Save: %w, status %+v", err, f.Status())
	}
	after, err := os.ReadFile(path)
	if err != nil || string(after) != string(before) {
		return fmt.Errorf("the file changed, or %w", err)
	}
	if left, err := os.ReadDir(filepath.Dir(path)); len(left) != 1 {
		return fmt.Errorf("left behind: %v, %w", left, err)
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		return err
	}
	if err := f.Close(); err != nil || f.Status().Err != nil || f.Status().Unsaved != 0 {
		return fmt.Errorf("Close: %w, status %+v", err, f.Status())
	}
	return nil
}

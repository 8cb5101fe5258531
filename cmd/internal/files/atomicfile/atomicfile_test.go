package atomicfile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/umbel-filters/umbel/internal/wholefile"
)

func text(s string) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, s)
		return err
	}
}

// holds fails the test unless the directory holds just the file with that text.
func holds(t *testing.T, path, want string) {
	t.Helper()
	if got, err := os.ReadFile(path); err != nil || string(got) != want {
		t.Errorf("%s holds %q, %v, want %q", path, got, err, want)
	}
	if list, _ := os.ReadDir(filepath.Dir(path)); len(list) != 1 {
		t.Errorf("left behind: %v", list)
	}
}

func TestWrite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	for _, s := range []string{"one", "two"} {
		if err := Write(path, text(s)); err != nil {
			t.Fatal(err)
		}
		holds(t, path, s)
	}
}

// Only the owner can read a new file with secrets; an existing file keeps its permissions.
func TestWriteSecret(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("permissions are others there")
	}
	path := filepath.Join(t.TempDir(), "f")
	for _, want := range []os.FileMode{0o600, 0o640} {
		if want != 0o600 {
			if err := os.Chmod(path, want); err != nil {
				t.Fatal(err)
			}
		}
		if err := WriteSecret(path, text("secret")); err != nil {
			t.Fatal(err)
		}
		holds(t, path, "secret")
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("mode %v, %v, want %v", info.Mode(), err, want)
		}
	}
}

// A file with contents is not replaced, also if it is made during the write. An empty one is.
func TestCreateSecret(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	text := func(s string) func(io.Writer) error {
		return func(w io.Writer) error { _, err := io.WriteString(w, s); return err }
	}
	if err := os.WriteFile(path, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := CreateSecret(path, text("one")); err != nil {
		t.Fatal(err)
	}
	if err := CreateSecret(path, text("two")); !errors.Is(err, fs.ErrExist) {
		t.Errorf("an existing file: %v", err)
	}
	other := path + "2"
	err := CreateSecret(other, func(w io.Writer) error {
		_, err := io.WriteString(w, "three")
		return errors.Join(err, os.WriteFile(other, []byte("four"), 0o600))
	})
	if !errors.Is(err, fs.ErrExist) {
		t.Errorf("a file that is made meanwhile: %v", err)
	}
	for name, want := range map[string]string{path: "one", other: "four"} {
		if got, err := os.ReadFile(name); string(got) != want || err != nil {
			t.Errorf("%s contains %q, %v, want %q", name, got, err, want)
		}
	}
}

func TestErrorKeepsOld(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	if err := Write(path, text("old")); err != nil {
		t.Fatal(err)
	}
	broken := errors.New("broken")
	err := Write(path, func(w io.Writer) error {
		io.WriteString(w, "new")
		return broken
	})
	if err != broken {
		t.Errorf("error %v, want %v", err, broken)
	}
	holds(t, path, "old")
}

func TestInterrupt(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	if err := Write(path, text("old")); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	err := writeUntil(ctx, path, 0o666, wholefile.Replace, func(w io.Writer) error {
		cancel()
		return text("new")(w)
	})
	if !errors.Is(err, ErrInterrupted) {
		t.Errorf("error %v, want %v", err, ErrInterrupted)
	}
	holds(t, path, "old")
}

func TestModeAndLink(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("permissions and links are others")
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	if err := os.WriteFile(path, nil, 0o640); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	if err := Write(link, text("new")); err != nil {
		t.Fatal(err)
	}
	holds(t, path, "new")
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("mode %v, %v, want 0640", info.Mode(), err)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link became %v, %v", info.Mode(), err)
	}
}

func TestFullDisk(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("no /dev/full")
	}
	if err := Write("/dev/full", text("x")); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("error %v, want %v", err, syscall.ENOSPC)
	}
}

func TestDirectory(t *testing.T) {
	dir := t.TempDir()
	if err := Write(dir, text("x")); err == nil || !strings.Contains(err.Error(), dir) {
		t.Errorf("error %v", err)
	}
	if err := Write(filepath.Join(dir, "none", "f"), text("x")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error %v, want %v", err, os.ErrNotExist)
	}
}

// A link to an open file that was deleted, as /dev/stdout may be, stays: the file has no name
// that could be replaced.
func TestDeletedFile(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("no /proc/self/fd")
	}
	dir := t.TempDir()
	f, err := os.Create(filepath.Join(dir, "f"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	link := filepath.Join(dir, "link")
	if err := errors.Join(os.Remove(f.Name()), os.Symlink(fmt.Sprintf("/proc/self/fd/%d", f.Fd()), link)); err != nil {
		t.Fatal(err)
	}
	if err := Write(link, text("x")); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is replaced: %v, %v", info, err)
	}
	if b, err := io.ReadAll(f); err != nil || string(b) != "x" {
		t.Errorf("the file contains %q, %v; want x", b, err)
	}
}

package wholefile

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
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

// An error of the new file has the name of the file that it would have replaced, and that stays.
func TestErrorNamesFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	if err := Replace(path, 0o666, text("old")); err != nil {
		t.Fatal(err)
	}
	err := Replace(path, 0o666, func(w io.Writer) error {
		n := w.(named)
		n.f.Close()
		return text("new")(w)
	})
	if err == nil || !errors.Is(err, fs.ErrClosed) || !strings.HasPrefix(err.Error(), "write "+path+": ") {
		t.Errorf("error %v", err)
	}
	holds(t, path, "old")
	broken := errors.New("broken")
	if err := Replace(path, 0o666, func(io.Writer) error { return broken }); err != broken {
		t.Errorf("error %v, want that of write", err)
	}
	holds(t, path, "old")
}

// A path leads to the file behind its links, whether that exists or not.
func TestFind(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need a right there")
	}
	dir, other := t.TempDir(), t.TempDir()
	file, link, second := filepath.Join(other, "f"), filepath.Join(dir, "link"), filepath.Join(dir, "second")
	if err := errors.Join(os.Symlink(file, link), os.Symlink("link", second)); err != nil {
		t.Fatal(err)
	}
	for _, exists := range []bool{false, true} {
		want := Target{Path: file, Mode: 0o666}
		if exists {
			want.Mode = 0o640
			if err := os.WriteFile(file, nil, 0o640); err != nil {
				t.Fatal(err)
			}
		}
		for _, path := range []string{file, link, second} {
			if got, err := Find(path, 0o666); got != want || err != nil {
				t.Errorf("%s, exists %v: %+v, %v, want %+v", path, exists, got, err, want)
			}
		}
	}
	if _, err := Find(dir, 0o666); err == nil {
		t.Error("a directory is a file")
	}
	if got, err := Find(os.DevNull, 0o666); !got.InPlace || err != nil {
		t.Errorf("%s: %+v, %v", os.DevNull, got, err)
	}
}

// TryOwn refuses a file that another owner has, and removes the new files of programs that have ended, but none that a
// program is writing and none of another file.
func TestTryOwn(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("files are not locked there")
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "f[1]")
	if err := Replace(path, 0o666, text("1")); err != nil {
		t.Fatal(err)
	}
	left, others := path+".17-0.tmp", []string{path + ".tmp", path + ".a-0.tmp", path + ".17.tmp", filepath.Join(dir, "f1.17-0.tmp")}
	for _, name := range append(others, left) {
		if err := os.WriteFile(name, nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	var o *Owner
	err := Replace(path, 0o666, func(w io.Writer) (err error) {
		if o, err = TryOwn(path); err != nil {
			return err
		}
		return text("2")(w)
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := o.Close(); err != nil {
		t.Fatal(err)
	}
	if o, err = TryOwn(path); err != nil {
		t.Fatal(err)
	}
	if _, err := TryOwn(path); !errors.Is(err, ErrLocked) {
		t.Errorf("a second owner: %v, want ErrLocked", err)
	}
	if _, err := os.Stat(left); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%s is left: %v", left, err)
	}
	for _, name := range others {
		if err := os.Remove(name); err != nil {
			t.Error(err)
		}
	}
	if err := o.Close(); err != nil {
		t.Fatal(err)
	}
	holds(t, path, "2")
}

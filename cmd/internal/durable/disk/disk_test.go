package disk_test

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"testing"

	"github.com/umbel-filters/umbel/cmd/internal/durable/disk"
	"github.com/umbel-filters/umbel/cmd/internal/durable/disk/disktest"
)

// The directory of the operating system and the simulated one behave in the same way.
func TestDirectories(t *testing.T) {
	path := filepath.Join(t.TempDir(), "data", "files")
	system, err := disk.Make(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, d := range map[string]disk.Dir{"system": system, "simulated": disktest.NewDisk().Dir()} {
		t.Run(name, func(t *testing.T) { testDirectory(t, d) })
	}
	if again, err := disk.Make(path); err != nil || len(names(t, again)) != 2 {
		t.Errorf("a directory that exists: %v", err)
	}
	if _, err := disk.OS(filepath.Join(path, "none")).List(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v, want %v", err, fs.ErrNotExist)
	}
}

func testDirectory(t *testing.T, d disk.Dir) {
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	contents := func(f disk.File) string {
		b := make([]byte, 100)
		n, err := f.ReadAt(b, 0)
		if size, sizeErr := f.Size(); err != io.EOF || sizeErr != nil || int64(n) != size {
			t.Fatalf("%d bytes of %d, %v, %v", n, size, err, sizeErr)
		}
		return string(b[:n])
	}
	for _, open := range []func(string) (disk.File, error){d.Open, d.Edit} {
		if _, err := open("b"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("error %v, want %v", err, fs.ErrNotExist)
		}
	}
	for _, err := range []error{d.Remove("b"), d.Rename("b", "a")} {
		if !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("error %v, want %v", err, fs.ErrNotExist)
		}
	}
	f, err := d.Create("b")
	must(err)
	_, err = f.WriteAt([]byte("data"), 2)
	must(err)
	must(f.Allocate(8))
	must(f.Allocate(4))
	must(f.Sync())
	f.Prefetch()
	if got := contents(f); got != "\x00\x00data\x00\x00" {
		t.Errorf("contents %q", got)
	}
	must(f.Truncate(4))
	if n, err := f.ReadAt(make([]byte, 1), 4); n != 0 || err != io.EOF {
		t.Errorf("%d bytes after the end, %v", n, err)
	}
	must(f.Close())
	other, err := d.Create("a")
	must(err)
	must(other.Close())
	must(d.Rename("b", "a"))
	f, err = d.Open("a")
	must(err)
	if got := contents(f); got != "\x00\x00da" {
		t.Errorf("contents %q", got)
	}
	if _, err := f.WriteAt([]byte("x"), 0); err == nil {
		t.Error("a file that is open for reading was written")
	}
	must(f.Close())
	f, err = d.Create("c")
	must(err)
	must(f.Close())
	must(d.Sync())
	if n, err := d.Free(); err != nil && !errors.Is(err, errors.ErrUnsupported) || err == nil && n <= 0 {
		t.Errorf("%d bytes are free, %v", n, err)
	}
	if got := names(t, d); !slices.Equal(got, []string{"a 4", "c 0"}) {
		t.Errorf("files %q", got)
	}
	lock, err := d.Lock(false)
	must(err)
	if _, err := d.Lock(false); !errors.Is(err, disk.ErrLocked) {
		t.Errorf("error %v, want %v", err, disk.ErrLocked)
	}
	must(lock.Close())
	lock, err = d.Lock(false)
	must(err)
	must(lock.Close())
	_ = d.Remove("LOCK") // of the system
	must(d.Remove("c"))
	f, err = d.Create("a")
	must(err)
	if got := contents(f); got != "" {
		t.Errorf("contents %q of a file that was emptied", got)
	}
	must(f.Close())
	f, err = d.Edit("a")
	must(err)
	_, err = f.WriteAt([]byte("x"), 0)
	must(errors.Join(err, f.Close()))
	f, err = d.Create("d")
	must(errors.Join(err, f.Close()))
}

func names(t *testing.T, d disk.Dir) (list []string) {
	t.Helper()
	all, err := d.List()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range all {
		if !f.Regular {
			t.Errorf("%s is not a regular file", f.Name)
		}
		list = append(list, fmt.Sprint(f.Name, " ", f.Size))
	}
	return list
}

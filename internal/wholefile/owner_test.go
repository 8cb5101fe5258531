package wholefile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"testing"
)

// Programs that lock a file, read it and replace it undo no change of another.
func TestLock(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("files are not locked there")
	}
	path := filepath.Join(t.TempDir(), "f")
	if err := Replace(path, 0o600, text("0")); err != nil {
		t.Fatal(err)
	}
	const programs, changes = 8, 10
	var all sync.WaitGroup
	for range programs {
		all.Go(func() {
			for range changes {
				if err := increment(path); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	holds(t, path, strconv.Itoa(programs*changes))
}

func increment(path string) error {
	l, err := Lock(path)
	if err != nil {
		return err
	}
	defer l.Close()
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	n, err := strconv.Atoi(string(b))
	if err != nil {
		return err
	}
	return Replace(path, 0o600, text(strconv.Itoa(n+1)))
}

// A file that does not exist yet needs no lock.
func TestLockMissing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	l, err := Lock(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("the lock left a file: %v", err)
	}
}

// An owner that replaces its file several times stays the only one: no change of another program
// comes between its own, also if the file did not exist.
func TestOwner(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("files are not locked there")
	}
	path := filepath.Join(t.TempDir(), "f")
	o, err := Own(path)
	if err != nil || !o.Missing() {
		t.Fatalf("%v, missing %v", err, o.Missing())
	}
	late, err := Own(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := o.Replace(path, 0o600, text("0")); err != nil || o.Missing() {
		t.Fatalf("%v, missing %v", err, o.Missing())
	}
	if err := late.Replace(path, 0o600, text("late")); !errors.Is(err, fs.ErrExist) {
		t.Errorf("error %v, want one that wraps ErrExist", err)
	}
	holds(t, path, "0")
	var others sync.WaitGroup
	for range 4 {
		others.Go(func() {
			if err := increment(path); err != nil {
				t.Error(err)
			}
		})
	}
	for i := range 10 {
		if err := o.Replace(path, 0o600, text(strconv.Itoa(100+i))); err != nil {
			t.Fatal(err)
		}
		runtime.Gosched()
		holds(t, path, strconv.Itoa(100+i))
	}
	if err := errors.Join(o.Close(), late.Close()); err != nil {
		t.Fatal(err)
	}
	others.Wait()
	holds(t, path, "113")
}

package dir_test

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/umbel-filters/umbel/share"
	"github.com/umbel-filters/umbel/share/dir"
	"github.com/umbel-filters/umbel/share/sharetest"
)

// files returns the files in a directory, with their contents.
func files(t *testing.T, path string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(path, func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		b, err := os.ReadFile(name)
		all[name] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// wantClosed fails unless err is that of a closed store.
func wantClosed(t *testing.T, what, path string, err error) {
	t.Helper()
	if want := "the store of " + path + " is closed"; !errors.Is(err, fs.ErrClosed) || err.Error() != want {
		t.Errorf("%s after Close: %v, want %s", what, err, want)
	}
}

// A closed store changes nothing in a directory that another store has locked, and reads it as before.
func TestClosed(t *testing.T) {
	path := t.TempDir()
	s := create(t, path)
	p, _ := sharetest.Publisher(t, s)
	sharetest.Publish(t, p, sharetest.Set(t, 1<<16, 0, 1000))
	name, err := put(s, []byte("data"))
	if err != nil {
		t.Fatal(err)
	}
	u, err := s.NewObject(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	create(t, path)
	before := files(t, path)

	h, err := p.Publish(t.Context(), sharetest.Set(t, 1<<16, 0, 2000).State())
	if !errors.Is(err, fs.ErrClosed) || h != nil {
		t.Errorf("Publish after Close: %v, %v", h, err)
	}
	if _, err := p.Renew(t.Context()); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("Renew after Close: %v", err)
	}
	wantClosed(t, "PutRecord", path, s.PutRecord(t.Context(), share.HeadName, []byte("head")))
	wantClosed(t, "Remove", path, s.Remove(t.Context(), name))
	_, err = s.NewObject(t.Context())
	wantClosed(t, "NewObject", path, err)
	_, err = u.Write([]byte("data"))
	wantClosed(t, "Write", path, err)
	wantClosed(t, "Commit", path, u.Commit(t.Context(), share.RefOf(nil).Hash.String()))
	if err := u.Close(); err != nil {
		t.Error(err)
	}
	if err := s.Close(); err != nil {
		t.Errorf("Close again: %v", err)
	}
	if after := files(t, path); !maps.Equal(before, after) {
		t.Errorf("the files were %q, and are %q", before, after)
	}
	if _, err := s.Record(t.Context(), share.HeadName); err != nil {
		t.Errorf("Record after Close: %v", err)
	}
}

// The second Close of a store that made its directory does not remove it from another store, which has locked it.
func TestClosedTwice(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store")
	first := create(t, path)
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	create(t, path)
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := dir.Create(path); !errors.Is(err, dir.ErrLocked) {
		t.Errorf("a third store: %v, want ErrLocked", err)
	}
}

// Close waits for the writes that have begun: nothing changes after it.
func TestCloseWhileWriting(t *testing.T) {
	path := t.TempDir()
	s := create(t, path)
	var writers sync.WaitGroup
	begun := make(chan struct{}, 4)
	for i := range byte(4) {
		writers.Go(func() {
			for n := byte(0); ; n++ {
				name, err := put(s, []byte{i, n})
				if err == nil {
					err = s.PutRecord(t.Context(), share.HeadName, []byte(name))
				}
				if err != nil {
					wantClosed(t, "a write", path, err)
					return
				}
				select {
				case begun <- struct{}{}:
				default:
				}
			}
		})
	}
	for range cap(begun) {
		<-begun
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	before := files(t, path)
	writers.Wait()
	if after := files(t, path); !maps.Equal(before, after) {
		t.Errorf("the files after Close are %q, and later %q", before, after)
	}
}

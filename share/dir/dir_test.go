package dir_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/umbel-filters/umbel/share"
	"github.com/umbel-filters/umbel/share/dir"
	"github.com/umbel-filters/umbel/share/sharetest"
)

// create returns a store in a directory.
func create(t testing.TB, path string) *dir.Store {
	t.Helper()
	s, err := dir.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func TestStore(t *testing.T) {
	sharetest.Store(t, func(t *testing.T) share.Store { return create(t, filepath.Join(t.TempDir(), "new", "publication")) })
}

func TestSource(t *testing.T) {
	open := func(t *testing.T) (share.Store, share.Source) {
		path := t.TempDir()
		return create(t, path), dir.Open(path)
	}
	sharetest.Source(t, open)
	sharetest.Publication(t, open)
}

// The error of a publication without a version has one cause, and is both that of the package and that of the system.
func TestNotFound(t *testing.T) {
	s := dir.Open(t.TempDir())
	_, record := s.Record(t.Context(), share.HeadName)
	_, watched := s.WatchRecord(t.Context(), share.HeadName, nil)
	_, object := s.Object(t.Context(), share.RefOf(nil).Hash.String(), 0)
	for what, err := range map[string]error{"record": record, "watched record": watched, "object": object} {
		if !errors.Is(err, share.ErrNotFound) || !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v, want share.ErrNotFound and fs.ErrNotExist", what, err)
			continue
		}
		if strings.Contains(err.Error(), share.ErrNotFound.Error()) {
			t.Errorf("%s: two causes: %v", what, err)
		}
		if path := (*fs.PathError)(nil); !errors.As(err, &path) || !strings.HasPrefix(path.Path, s.Path()) {
			t.Errorf("%s: %v does not name the file", what, err)
		}
	}
}

// put writes an object.
func put(s share.Store, data []byte) (string, error) {
	u, err := s.NewObject(context.Background())
	if err != nil {
		return "", err
	}
	defer u.Close()
	if _, err := u.Write(data); err != nil {
		return "", err
	}
	name := share.RefOf(data).Hash.String()
	return name, u.Commit(context.Background(), name)
}

func TestLock(t *testing.T) {
	path := t.TempDir()
	first := create(t, path)
	if _, err := dir.Create(path); !errors.Is(err, dir.ErrLocked) {
		t.Fatalf("the second store: %v, want ErrLocked", err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	create(t, path)
}

// What an interrupted writer left is removed, but not while another writer is at work.
func TestInterrupted(t *testing.T) {
	path := t.TempDir()
	first := create(t, path)
	u, err := first.NewObject(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := u.Write([]byte("half of an object")); err != nil {
		t.Fatal(err)
	}
	temporary := func() int {
		left, err := filepath.Glob(filepath.Join(path, ".writer", "new-*"))
		if err != nil {
			t.Fatal(err)
		}
		return len(left)
	}
	if _, err := dir.Create(path); !errors.Is(err, dir.ErrLocked) || temporary() != 1 {
		t.Fatalf("%v, %d temporary files", err, temporary())
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	create(t, path)
	if n := temporary(); n != 0 {
		t.Errorf("%d temporary files remain", n)
	}
}

// A source changes nothing, and needs no directory.
func TestOnlyReads(t *testing.T) {
	path := filepath.Join(t.TempDir(), "absent")
	s := dir.Open(path)
	if _, err := s.Record(t.Context(), share.HeadName); !errors.Is(err, share.ErrNotFound) {
		t.Errorf("Record: %v", err)
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("Stat: %v", err)
	}
}

// A directory from elsewhere may contain anything.
func TestStrangeFiles(t *testing.T) {
	path := t.TempDir()
	s := create(t, path)
	name, err := put(s, []byte("data"))
	if err != nil {
		t.Fatal(err)
	}
	for _, junk := range []string{".DS_Store", "README", name + ".tmp"} {
		if err := os.WriteFile(filepath.Join(path, "objects", junk), nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	n := 0
	for range s.Objects(t.Context()) {
		n++
	}
	if n != 1 {
		t.Errorf("%d objects, want 1", n)
	}
	if err := os.WriteFile(filepath.Join(path, "head"), make([]byte, share.MaxRecord+1), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Record(t.Context(), share.HeadName); !errors.Is(err, share.ErrCorrupt) {
		t.Errorf("a long record: %v", err)
	}
	if err := os.Mkdir(filepath.Join(path, "held"), 0o777); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Record(t.Context(), "held"); !errors.Is(err, share.ErrCorrupt) {
		t.Errorf("a directory as a record: %v", err)
	}
}

// A store to which nothing was written leaves no directory, and one that was there before stays.
func TestCloseUnused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a", "store")
	for range 2 {
		s, err := dir.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := dir.Create(path); !errors.Is(err, dir.ErrLocked) {
			t.Errorf("a second store: %v", err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("the directory is left: %v", err)
		}
	}
	s, err := dir.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.PutRecord(t.Context(), share.HeadName, []byte("head")); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if b, err := dir.Open(path).Record(t.Context(), share.HeadName); err != nil || string(b) != "head" {
		t.Errorf("the record is %q, %v", b, err)
	}
}

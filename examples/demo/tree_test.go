package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"
)

// names returns the sorted paths of keys.
func names(keys []string) string {
	var paths []string
	for _, key := range keys {
		path, _, _ := strings.Cut(key, "\t")
		paths = append(paths, path)
	}
	slices.Sort(paths)
	return strings.Join(paths, " ")
}

func TestTree(t *testing.T) {
	root := t.TempDir()
	write := func(name, text string) {
		path := filepath.Join(root, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, []byte(text), 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	write("a", "1")
	write("b/c", "2")
	write("b/d", "3")
	write("b/own/x", "left out")
	if err := os.Symlink(root, filepath.Join(root, "loop")); err != nil {
		t.Log("no symbolic links:", err)
	}
	tr, err := newTree(root, "own")
	if err != nil {
		t.Fatal(err)
	}
	w := world{}
	next := func(added, removed string) {
		t.Helper()
		c, err := tr.next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		w.apply(t, c)
		if a, r := strings.TrimSuffix(names(c.added), " loop"), names(c.removed); a != added || r != removed {
			t.Errorf("added %q and removed %q, want %q and %q", a, r, added, removed)
		}
	}
	next("a b/c b/d", "")
	next("", "")
	write("b/c", "longer")
	write("e/f/g", "4")
	if err := os.Remove(filepath.Join(root, "a")); err != nil {
		t.Fatal(err)
	}
	next("b/c e/f/g", "a b/c")
	// A file that is touched is another key.
	if err := os.Chtimes(filepath.Join(root, "b/d"), time.Time{}, time.Unix(1e9, 0)); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(root, "e")); err != nil {
		t.Fatal(err)
	}
	next("b/d", "b/d e/f/g")
	if tr.skipped() != 0 {
		t.Errorf("%d files were skipped", tr.skipped())
	}
}

// refusing refuses to read some directories and files.
type refusing struct {
	fstest.MapFS
	dirs, files string
}

func (r refusing) ReadDir(name string) ([]fs.DirEntry, error) {
	if name == r.dirs {
		return nil, fs.ErrPermission
	}
	list, err := r.MapFS.ReadDir(name)
	for i, e := range list {
		if e.Name() == r.files {
			list[i] = refusedEntry{e}
		}
	}
	return list, err
}

type refusedEntry struct{ fs.DirEntry }

func (refusedEntry) Info() (fs.FileInfo, error) { return nil, fs.ErrPermission }

func TestTreeRefused(t *testing.T) {
	files := fstest.MapFS{"a/1": {}, "b/2": {}, "c": {}, "d": {}}
	tr := &tree{root: refusing{files, "a", "c"}, limit: 10, seen: map[string]uint32{}}
	c, err := tr.next(t.Context())
	if got := names(c.added); err != nil || got != "b/2 d" || tr.skipped() != 2 {
		t.Errorf("%q, %d skipped, %v", got, tr.skipped(), err)
	}
	tr.root = refusing{files, ".", ""}
	if _, err := tr.next(t.Context()); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("a root that cannot be read: %v", err)
	}
	// After an error the set is as it was.
	tr.root = files
	if c, err = tr.next(t.Context()); err != nil || names(c.added) != "a/1 c" || len(c.removed) != 0 {
		t.Errorf("added %q, removed %q, %v", names(c.added), names(c.removed), err)
	}
}

func TestTreeLimit(t *testing.T) {
	tr := &tree{root: fstest.MapFS{"a": {}, "b": {}, "c": {}}, limit: 2, seen: map[string]uint32{}}
	c, err := tr.next(t.Context())
	if got := names(c.added); err != nil || got != "a b" || tr.skipped() != 1 {
		t.Errorf("%q, %d skipped, %v", got, tr.skipped(), err)
	}
}

func TestTreeErrors(t *testing.T) {
	if _, err := newTree(filepath.Join(t.TempDir(), "none"), ""); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := newTree(file, ""); err == nil {
		t.Error("a file was taken for a directory")
	}
	tr, err := newTree(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := tr.next(ctx); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

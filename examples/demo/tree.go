package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
)

// maxFiles is the maximum number of files of a tree. More are left out, which bounds the memory.
const maxFiles = 1_000_000

// tree is the set of the files below a directory. A key is the path, size and time of modification of a
// file, so a file that is written is another key. Symbolic links are not followed.
//
// It reads the whole tree each time: systems limit how many directories they watch, and report some
// changes late or not at all.
type tree struct {
	root   fs.FS
	own    string // name of the demonstration's directory for temporary files, which is left out
	limit  int
	seen   map[string]uint32 // the last walk that found the key
	walk   uint32
	missed int
}

// newTree returns the set of the files below a directory, without those in directories with the name own. It
// returns an error if path is not a directory.
func newTree(path, own string) (*tree, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("%s is a file; give a directory", path)
	}
	return &tree{root: os.DirFS(path), own: own, limit: maxFiles, seen: make(map[string]uint32)}, nil
}

// next reads the tree. Files and directories that cannot be read are skipped.
func (t *tree) next(ctx context.Context) (c change, err error) {
	t.walk++
	t.missed = 0
	found := 0
	err = fs.WalkDir(t.root, ".", func(path string, d fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err == nil && d.IsDir() {
			if d.Name() == t.own {
				return fs.SkipDir
			}
			return nil
		}
		var info fs.FileInfo
		if err == nil {
			info, err = d.Info()
		}
		switch {
		case errors.Is(err, fs.ErrNotExist) && path != ".": // it was removed meanwhile
		case err != nil && path == ".":
			return err
		case err != nil || found == t.limit:
			t.missed++
		default:
			found++
			key := fileKey(path, info)
			if _, ok := t.seen[key]; !ok {
				c.added = append(c.added, key)
			}
			t.seen[key] = t.walk
		}
		return nil
	})
	if err != nil {
		return change{}, err
	}
	for key, walk := range t.seen {
		if walk != t.walk {
			c.removed = append(c.removed, key)
			delete(t.seen, key)
		}
	}
	return c, nil
}

func (t *tree) skipped() int { return t.missed }

// fileKey returns the key of a file. The time is in nanoseconds since 1970.
func fileKey(path string, info fs.FileInfo) string {
	b := append([]byte(path), '\t')
	b = append(strconv.AppendInt(b, info.Size(), 10), '\t')
	return string(strconv.AppendInt(b, info.ModTime().UnixNano(), 10))
}

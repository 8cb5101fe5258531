package nixcache

import (
	"io/fs"
	"os"
	"time"

	"github.com/umbel-filters/umbel/filter/foreign/nixbloom"
)

// settled is the time after which a change of a file or directory has another time of modification for certain: file
// systems round it, up to two seconds.
const settled = 3 * time.Second

// Source is a list of store paths in a file, or the directory of a binary cache. It finds out whether either has
// changed without reading it. It is not safe for concurrent use.
type Source struct {
	name   string
	isDir  bool
	seen   fs.FileInfo // of the last Read
	seenAt time.Time
	hashes []nixbloom.Hash // of the last Read, as they were read
	paths  Paths           // the same
}

// NewSource returns the source at a path.
func NewSource(name string) (*Source, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	return &Source{name: name, isDir: info.IsDir()}, nil
}

// Read reads all paths.
func (s *Source) Read() (Paths, error) {
	info, err := os.Stat(s.name) // before the contents: a later change is then found
	if err != nil {
		return nil, err
	}
	at := time.Now()
	hashes, err := s.read()
	if err != nil {
		return nil, err
	}
	paths, ok := s.paths.inserted(s.hashes, hashes)
	if !ok {
		paths = newPaths(hashes)
	}
	s.seen, s.seenAt, s.hashes, s.paths = info, at, hashes, paths
	return paths, nil
}

func (s *Source) read() ([]nixbloom.Hash, error) {
	hashes := make([]nixbloom.Hash, 0, len(s.hashes)+len(s.hashes)/64)
	if s.isDir {
		return readDir(s.name, hashes)
	}
	f, err := os.Open(s.name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readList(f, hashes)
}

// Changed reports whether the source may have changed since the last Read. It is false only if the time of
// modification is the same, and was that long ago when the source was read that a later change has another one.
func (s *Source) Changed() (bool, error) {
	info, err := os.Stat(s.name)
	if err != nil {
		return false, err
	}
	same := s.seen != nil && os.SameFile(info, s.seen) && info.ModTime().Equal(s.seen.ModTime()) && info.Size() == s.seen.Size()
	return !same || s.seenAt.Sub(info.ModTime()).Abs() < settled, nil
}

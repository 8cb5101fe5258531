// Package logdir keeps a shared log in a directory, for several processes of one machine and for tests. The directory
// must be on a file system of this machine: over NFS, a link whose answer is lost may be reported as refused.
//
//	PREFIX/NAME    the value of the key PREFIX/NAME
//	new/RANDOM     a value that is not complete yet
//
// A value is written to a file of its own, made durable, and then linked to its key, which fails if the key exists.
package logdir

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/umbel-filters/umbel/cmd/internal/group/sharedlog"
)

// newDir is the directory of values that are not complete.
const newDir = "new"

// Medium keeps a log in a directory. Several processes may use it at the same time.
type Medium struct{ path string }

var _ sharedlog.Medium = Medium{}

// Open is the sharedlog.Opener of URLs such as file:///srv/umbel/group. The directory must exist: one that is missing may
// not be mounted, or have another name, and a node would begin a group of its own there.
func Open(_ context.Context, u *url.URL) (sharedlog.Medium, error) {
	if u.Host != "" || !filepath.IsAbs(filepath.FromSlash(u.Path)) {
		return nil, fmt.Errorf("%s names no directory: write file:///DIRECTORY", u)
	}
	path := filepath.FromSlash(u.Path)
	if _, err := os.Stat(path); err != nil {
		return nil, fmt.Errorf("%w; if a group is to begin there, make the directory", err)
	}
	return New(path)
}

// New returns the medium in a directory, which it makes if it does not exist.
func New(path string) (Medium, error) {
	return Medium{path}, os.MkdirAll(filepath.Join(path, newDir), 0o700)
}

func (m Medium) file(key string) string { return filepath.Join(m.path, filepath.FromSlash(key)) }

// Put writes a file and links it to its key.
func (m Medium) Put(_ context.Context, key string, data []byte) error {
	path := m.file(key)
	if _, err := os.Lstat(path); err == nil {
		return fmt.Errorf("%s: %w", key, sharedlog.ErrExists) // sooner than by a link
	}
	fresh := filepath.Join(m.path, newDir, rand.Text())
	if err := writeFile(fresh, data); err != nil {
		return err
	}
	defer os.Remove(fresh)
	err := os.Link(fresh, path)
	if errors.Is(err, fs.ErrNotExist) {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		if err := syncDir(m.path); err != nil {
			return err
		}
		err = os.Link(fresh, path)
	}
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s: %w", key, sharedlog.ErrExists)
	}
	if err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}

// writeFile writes a new file and makes it durable.
func writeFile(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	err = cmp.Or(err, f.Sync())
	if err = cmp.Or(f.Close(), err); err != nil {
		os.Remove(path)
	}
	return err
}

// syncDir makes durable which files a directory contains.
func syncDir(path string) error {
	if runtime.GOOS == "windows" {
		return nil // which cannot sync directories
	}
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// Get reads the file of a key.
func (m Medium) Get(_ context.Context, key string) ([]byte, error) {
	b, err := os.ReadFile(m.file(key))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: %w", key, sharedlog.ErrNone)
	}
	return b, err
}

// List lists the files of a prefix, which contains one slash.
func (m Medium) List(_ context.Context, prefix string) (all []string, err error) {
	dir, begin, ok := strings.Cut(prefix, "/")
	if !ok {
		return nil, fmt.Errorf("the prefix %q contains no slash", prefix)
	}
	entries, err := os.ReadDir(filepath.Join(m.path, dir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), begin) {
			all = append(all, dir+"/"+e.Name())
		}
	}
	slices.Sort(all)
	return all, nil
}

// Delete removes the file of a key.
func (m Medium) Delete(_ context.Context, key string) error {
	if err := os.Remove(m.file(key)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

package httpcache

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"

	lockable "github.com/umbel-filters/umbel/cmd/internal/durable/disk"
)

// files keeps bodies in files below a directory.
type files struct {
	root    string
	largest int64
	lock    io.Closer
}

const (
	partial  = ".part"     // the suffix of files that are being written
	complete = ".response" // and of those that are stored
)

// openFiles opens the directory of a disk store, and makes it if it does not exist. It deletes what an earlier process
// left incomplete. The error wraps disk.ErrLocked if another process uses the directory.
func openFiles(root string, largest int64) (*files, error) {
	dir, err := lockable.Make(root)
	if err != nil {
		return nil, err
	}
	lock, err := dir.Lock(false)
	if err != nil {
		return nil, err
	}
	f := &files{root: root, largest: largest, lock: lock}
	for i := range 256 {
		if err := os.MkdirAll(filepath.Join(root, fmt.Sprintf("%02x", i)), 0o700); err != nil {
			return nil, errors.Join(err, lock.Close())
		}
	}
	left, err := filepath.Glob(filepath.Join(root, "[0-9a-f][0-9a-f]", "*"+partial))
	for _, name := range left {
		err = errors.Join(err, os.Remove(name))
	}
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return f, nil
}

func (f *files) limit() int64 { return f.largest }
func (f *files) unit() int64  { return 4096 }
func (f *files) close() error { return f.lock.Close() }

// keep makes a file. A file of a known size is not allocated: the size is what the origin says.
func (f *files) keep(int64) (keeper, error) {
	var id [16]byte
	rand.Read(id[:])
	name := hex.EncodeToString(id[:])
	path := filepath.Join(f.root, name[:2], name)
	file, err := os.OpenFile(path+partial, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	return &fileKeeper{path: path, file: file}, nil
}

// load calls add for each response that an earlier process stored, until add returns false. It deletes damaged files.
func (f *files) load(add func(*stored) bool) error {
	for i := range 256 {
		entries, err := os.ReadDir(filepath.Join(f.root, fmt.Sprintf("%02x", i)))
		if err != nil {
			return err
		}
		for _, e := range entries {
			path := filepath.Join(f.root, fmt.Sprintf("%02x", i), e.Name())
			if !strings.HasSuffix(e.Name(), complete) || !e.Type().IsRegular() {
				continue
			}
			s, err := loadFile(path)
			if errors.Is(err, errDamaged) {
				err = os.Remove(path)
			} else if err == nil && !add(s) {
				return nil
			}
			if err != nil && !errors.Is(err, fs.ErrNotExist) { // evicted meanwhile
				return err
			}
		}
	}
	return nil
}

func loadFile(path string) (*stored, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	s, size, crc, err := readTrailer(file, info.Size())
	if err != nil {
		return nil, err
	}
	s.body = &fileBody{path: path, length: size, crc: crc}
	return s, nil
}

// update replaces the trailer of a file. If the process ends in between, the file is damaged, and is deleted by the
// next start.
func (f *files) update(s *stored) error {
	b := s.body.(*fileBody)
	trailer, err := appendTrailer(nil, s, b.length, b.crc)
	if err != nil {
		return err
	}
	file, err := os.OpenFile(b.path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return errors.Join(file.Truncate(b.length), second(file.WriteAt(trailer, b.length)), file.Close())
}

// second returns the error of a call that also returns a number.
func second(_ int, err error) error { return err }

// fileBody is a body at the beginning of a file.
type fileBody struct {
	path     string
	length   int64
	crc      uint32
	verified atomic.Bool // the bytes are those that the origin has sent
}

func (b *fileBody) size() int64 { return b.length }

// remove deletes the file. Processes that read it keep it until they close it.
func (b *fileBody) remove() {
	_ = os.Remove(b.path) // if it fails, the next start finds the file
}

// open opens the file for each use, because a file system has its own cache of open files. A small file is read at once.
func (b *fileBody) open() (content, error) {
	if b.length <= smallFile && b.verified.Load() {
		return openSmall(b.path, int(b.length))
	}
	file, err := os.Open(b.path)
	if err != nil {
		return nil, errGone
	}
	if !b.verified.Load() && !b.verify(file) {
		_ = file.Close()
		b.remove()
		return nil, fmt.Errorf("%w: %s: checksum of the body", errDamaged, b.path)
	}
	return openFile{file}, nil
}

// openFile is the content of a body in a file.
type openFile struct{ *os.File }

func (f openFile) send(w http.ResponseWriter, s span) error { return sendFile(w, f.File, s) }
func (f openFile) close()                                   { _ = f.Close() }

// verify compares the body with its checksum, once after a start: files are not synced when they are stored, so after a
// power cut a complete file may have bytes that were never written.
func (b *fileBody) verify(file *os.File) bool {
	sum := crc32.New(castagnoli)
	n, err := io.Copy(sum, io.NewSectionReader(file, 0, b.length))
	good := err == nil && n == b.length && sum.Sum32() == b.crc
	b.verified.Store(good)
	return good
}

// fileKeeper is a body that is written to a file.
type fileKeeper struct {
	path string
	file *os.File
	n    int64
	crc  uint32
	done bool
}

func (k *fileKeeper) Write(p []byte) (int, error) {
	n, err := k.file.Write(p)
	k.n, k.crc = k.n+int64(n), crc32.Update(k.crc, castagnoli, p[:n])
	if err != nil && n > 0 {
		// The spool repeats the whole write elsewhere.
		k.n -= int64(n)
	}
	return n, err
}

func (k *fileKeeper) ReadAt(p []byte, off int64) (int, error) { return k.file.ReadAt(p, off) }

// commit writes the trailer and gives the file its name.
func (k *fileKeeper) commit(s *stored) (body, error) {
	trailer, err := appendTrailer(nil, s, k.n, k.crc)
	if err != nil {
		return nil, err
	}
	if _, err := k.file.WriteAt(trailer, k.n); err != nil {
		return nil, err
	}
	if err := os.Rename(k.path+partial, k.path+complete); err != nil {
		return nil, err
	}
	k.done = true
	b := &fileBody{path: k.path + complete, length: k.n, crc: k.crc}
	b.verified.Store(true)
	return b, nil
}

func (k *fileKeeper) discard() {
	if !k.done {
		_ = os.Remove(k.path + partial)
	}
}

func (k *fileKeeper) close() { _ = k.file.Close() }

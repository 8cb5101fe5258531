package wal

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"syscall"

	"github.com/umbel-filters/umbel/cmd/internal/durable/disk"
	"github.com/umbel-filters/umbel/internal/event"
)

// errUnread: what a file contains there is unknown, so entries may be lost that nothing names.
var errUnread = errors.New("the disk cannot read a part of the last segment")

// reads is a directory whose files report what the disk cannot read: with an error that wraps
// disk.ErrUnreadable, or, if accept is set, as zeros, which are damage wherever something was written.
type reads struct {
	disk.Dir
	accept bool
	log    *slog.Logger

	mu     sync.Mutex
	unread map[string]bool // names of files of which a part was replaced by zeros
}

func newReads(dir disk.Dir, o Options) *reads {
	return &reads{Dir: dir, accept: o.AcceptUnreadable, log: o.Log, unread: make(map[string]bool)}
}

// Open implements disk.Dir.
func (r *reads) Open(name string) (disk.File, error) { return r.wrap(name)(r.Dir.Open(name)) }

// Edit implements disk.Dir.
func (r *reads) Edit(name string) (disk.File, error) { return r.wrap(name)(r.Dir.Edit(name)) }

func (r *reads) wrap(name string) func(disk.File, error) (disk.File, error) {
	return func(f disk.File, err error) (disk.File, error) {
		if err != nil {
			return nil, err
		}
		return &readFile{File: f, name: name, dir: r}, nil
	}
}

// isUnread reports whether a part of a file could not be read.
func (r *reads) isUnread(name string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.unread[name]
}

// note notes that a part of a file could not be read.
func (r *reads) note(name string, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.unread[name] {
		r.unread[name] = true
		r.log.Warn("the disk cannot read a part of a segment; it is treated as damaged", event.SegmentUnreadable, "file", name, "error", err)
	}
}

// readFile is a file of reads.
type readFile struct {
	disk.File
	name string
	dir  *reads
}

// unreadBytes is the granularity with which bytes are replaced by zeros.
const unreadBytes = 4096

// ReadAt implements io.ReaderAt.
func (f *readFile) ReadAt(b []byte, at int64) (int, error) {
	n, err := f.File.ReadAt(b, at)
	switch {
	case !errors.Is(err, syscall.EIO):
		return n, err
	case !f.dir.accept:
		return n, fmt.Errorf("%s: %w: %w", f.name, disk.ErrUnreadable, err)
	}
	f.dir.note(f.name, err)
	size, err := f.Size()
	if err != nil {
		return 0, err
	}
	want := int(max(min(int64(len(b)), size-at), 0))
	for n = 0; n < want; {
		part := b[n:min(want, n+unreadBytes-int(at+int64(n))%unreadBytes)]
		if _, err := f.File.ReadAt(part, at+int64(n)); errors.Is(err, syscall.EIO) {
			clear(part)
		} else if err != nil && !errors.Is(err, io.EOF) {
			return n, err
		}
		n += len(part)
	}
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}

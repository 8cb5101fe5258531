package httpapi

import (
	"bytes"
	"container/list"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/wire"
)

const (
	// inMemory is the size in bytes up to which the copy of a filter is in memory.
	// Larger copies are files.
	inMemory = 256 << 10
	// maxIDs is the number of filters whose IDs are cached.
	maxIDs = 4096
)

// copies are the containers that are being sent. A filter changes while its container is sent to
// a slow client, so the container is made from a copy of one moment. All requests for one version
// share a copy; it is discarded after the last one.
type copies struct {
	dir string

	mu   sync.Mutex
	open map[copyKey]*containerCopy
	ids  map[uint64]*list.Element // by filter
	used *list.List               // of *idOf, most recently used first
}

type copyKey struct {
	filter, version uint64
	form            string
}

// containerCopy is one container.
type containerCopy struct {
	key   copyKey
	ready chan struct{} // closed when the fields below are set
	err   error
	id    wire.ID
	size  int64
	data  io.ReaderAt

	users int // guarded by copies.mu
}

// idOf is the ID of one version of a filter.
type idOf struct {
	filter, version uint64
	id              wire.ID
}

func newCopies(dir string) *copies {
	return &copies{dir: dir, open: map[copyKey]*containerCopy{}, ids: map[uint64]*list.Element{}, used: list.New()}
}

// knownID returns the ID of the filter if it is cached for the current version.
func (cs *copies) knownID(f *engine.Filter) (wire.ID, bool) {
	version := f.Version()
	cs.mu.Lock()
	defer cs.mu.Unlock()
	e := cs.ids[f.ID()]
	if e == nil || e.Value.(*idOf).version != version {
		return wire.ID{}, false
	}
	cs.used.MoveToFront(e)
	return e.Value.(*idOf).id, true
}

// rememberID caches an ID.
func (cs *copies) rememberID(is idOf) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	if e := cs.ids[is.filter]; e != nil {
		*e.Value.(*idOf) = is
		cs.used.MoveToFront(e)
		return
	}
	if cs.used.Len() >= maxIDs {
		last := cs.used.Back()
		delete(cs.ids, last.Value.(*idOf).filter)
		cs.used.Remove(last)
	}
	cs.ids[is.filter] = cs.used.PushFront(&is)
}

// acquire returns a container of the filter of this moment or a little later. The caller must
// release it.
func (cs *copies) acquire(ctx context.Context, f *engine.Filter, form string) (*containerCopy, error) {
	key := copyKey{f.ID(), f.Version(), form}
	cs.mu.Lock()
	k := cs.open[key]
	first := k == nil
	if first {
		k = &containerCopy{key: key, ready: make(chan struct{})}
		cs.open[key] = k
	}
	k.users++
	cs.mu.Unlock()
	if first {
		cs.fill(k, f)
		close(k.ready)
	}
	select {
	case <-k.ready:
	case <-ctx.Done():
		cs.release(k)
		return nil, ctx.Err()
	}
	if k.err != nil {
		err := k.err
		cs.release(k)
		return nil, err
	}
	return k, nil
}

// release ends the use of a copy that acquire returned.
func (cs *copies) release(k *containerCopy) {
	cs.mu.Lock()
	k.users--
	last := k.users == 0
	if last && cs.open[k.key] == k {
		delete(cs.open, k.key)
	}
	cs.mu.Unlock()
	if file, ok := k.data.(*os.File); last && ok {
		discard(file)
	}
}

// fill makes the copy.
func (cs *copies) fill(k *containerCopy, f *engine.Filter) {
	k.err = errors.New("the copy was not made") // replaced below; after a panic, waiting requests get this error
	src, err := cs.source(f)
	if err != nil {
		k.err = err
		return
	}
	defer src.close()
	if k.err = cs.write(k, src); k.err != nil {
		return
	}
	if f.Version() == k.key.version {
		cs.rememberID(idOf{f.ID(), k.key.version, k.id})
		return
	}
	// The copy is newer than its key. It is used for the requests that wait for it, and not for others.
	cs.mu.Lock()
	defer cs.mu.Unlock()
	if cs.open[k.key] == k {
		delete(cs.open, k.key)
	}
}

// write encodes the container of a source into memory or a file.
func (cs *copies) write(k *containerCopy, src *source) (err error) {
	var to interface {
		io.Writer
		io.ReaderAt
	}
	var memory memoryFile
	if to = &memory; !src.small() {
		file, err := cs.temporary()
		if err != nil {
			return err
		}
		to = file
		defer func() {
			if err != nil {
				discard(file)
			}
		}()
	}
	count := &countingWriter{to: to}
	if k.key.form == "" {
		k.id, err = wire.WriteCanonicalFunc(count, src.state, src.fill)
	} else if k.id, err = wire.WriteCanonicalFunc(io.Discard, src.state, src.fill); err == nil {
		err = wire.Packer{}.WriteFunc(count, src.state, src.fill)
	}
	if err != nil {
		return err
	}
	k.data, k.size = to, count.n
	return nil
}

// temporary makes a file that is removed at once, so that it vanishes with the process, on
// systems that allow this.
func (cs *copies) temporary() (*os.File, error) {
	file, err := os.CreateTemp(cs.dir, "umbel-copy-")
	if err != nil {
		return nil, fmt.Errorf("copy of the filter: %w", err)
	}
	_ = os.Remove(file.Name()) // discard removes it on systems where an open file cannot be removed
	return file, nil
}

func discard(file *os.File) {
	file.Close()
	_ = os.Remove(file.Name()) // usually removed already
}

// countingWriter counts the bytes that are written.
type countingWriter struct {
	to io.Writer
	n  int64
}

func (c *countingWriter) Write(b []byte) (int, error) {
	n, err := c.to.Write(b)
	c.n += int64(n)
	return n, err
}

// memoryFile is a file in memory.
type memoryFile struct{ b []byte }

func (m *memoryFile) Write(b []byte) (int, error) {
	m.b = append(m.b, b...)
	return len(b), nil
}

func (m *memoryFile) ReadAt(b []byte, off int64) (int, error) {
	return bytes.NewReader(m.b).ReadAt(b, off)
}

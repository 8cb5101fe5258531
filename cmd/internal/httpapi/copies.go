package httpapi

import (
	"bytes"
	"container/list"
	"context"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/cmd/internal/budget"
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
// share a copy; it is discarded after the last one. One copy of a filter is made at a time; requests
// for a newer version wait for it and then share the next. The files of all copies together have a
// budget, so that slow readers cannot fill the disk.
type copies struct {
	dir  string
	disk *budget.Budget

	mu     sync.Mutex
	open   map[copyKey]*containerCopy
	making map[uint64]chan struct{} // by filter; closed when its copy was made
	ids    map[uint64]*list.Element // by filter
	used   *list.List               // of *idOf, most recently used first
}

type copyKey struct {
	filter, version uint64
	form            string
}

// containerCopy is one container.
type containerCopy struct {
	key    copyKey
	cancel context.CancelFunc // ends the making
	ready  chan struct{}      // closed when the fields below are set
	err    error
	id     wire.ID
	size   int64
	data   io.ReaderAt

	// Guarded by copies.mu.
	users int
	made  bool
}

// idOf is the ID of one version of a filter.
type idOf struct {
	filter, version uint64
	id              wire.ID
}

func newCopies(dir string, disk *budget.Budget) *copies {
	return &copies{
		dir: dir, disk: disk, open: map[copyKey]*containerCopy{}, making: map[uint64]chan struct{}{},
		ids: map[uint64]*list.Element{}, used: list.New(),
	}
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
	k, err := cs.join(ctx, f, form)
	if err != nil {
		return nil, err
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

// join returns a copy of the current version, which may still be being made. It waits while another
// copy of the filter is made.
func (cs *copies) join(ctx context.Context, f *engine.Filter, form string) (*containerCopy, error) {
	for {
		key := copyKey{f.ID(), f.Version(), form}
		cs.mu.Lock()
		if k := cs.open[key]; k != nil {
			k.users++
			cs.mu.Unlock()
			return k, nil
		}
		busy := cs.making[key.filter]
		if busy == nil {
			k := cs.start(f, key)
			cs.mu.Unlock()
			return k, nil
		}
		cs.mu.Unlock()
		select {
		case <-busy:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// start begins to make a copy with one user. The caller must hold cs.mu.
func (cs *copies) start(f *engine.Filter, key copyKey) *containerCopy {
	making, cancel := context.WithCancel(context.Background()) // other requests may share the copy
	k := &containerCopy{key: key, cancel: cancel, ready: make(chan struct{}), users: 1}
	done := make(chan struct{})
	cs.open[key], cs.making[key.filter] = k, done
	go func() {
		defer cancel()
		cs.fill(making, k, f)
		cs.mu.Lock()
		k.made = true
		abandoned := k.users == 0
		delete(cs.making, key.filter)
		cs.mu.Unlock()
		if abandoned {
			discard(k.data)
		}
		close(k.ready)
		close(done)
	}()
	return k
}

// release ends the use of a copy that join or acquire returned. If nobody uses it any more, its making
// ends or its data is discarded.
func (cs *copies) release(k *containerCopy) {
	cs.mu.Lock()
	k.users--
	last, made := k.users == 0, k.made
	if last && cs.open[k.key] == k {
		delete(cs.open, k.key)
	}
	cs.mu.Unlock()
	switch {
	case last && made:
		discard(k.data)
	case last:
		k.cancel()
	}
}

// fill makes the copy.
func (cs *copies) fill(ctx context.Context, k *containerCopy, f *engine.Filter) {
	src, err := cs.source(ctx, f)
	if err != nil {
		k.err = err
		return
	}
	defer src.close()
	if k.err = cs.write(ctx, k, src); k.err != nil {
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
func (cs *copies) write(ctx context.Context, k *containerCopy, src *source) (err error) {
	var to interface {
		io.Writer
		io.ReaderAt
	}
	var memory memoryFile
	if to = &memory; !src.small() {
		file, failed := cs.temporary()
		if failed != nil {
			return failed
		}
		to = file
		defer func() {
			if err != nil {
				discard(file)
			}
		}()
	}
	fill := func(array int, first uint64, block cells.Array) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		return src.fill(array, first, block)
	}
	count := &countingWriter{to: to}
	if k.key.form == "" {
		k.id, err = wire.WriteCanonicalFunc(count, src.state, fill)
	} else if k.id, err = wire.WriteCanonicalFunc(io.Discard, src.state, fill); err == nil {
		err = wire.Packer{}.WriteFunc(count, src.state, fill)
	}
	if err != nil {
		return err
	}
	k.data, k.size = to, count.n
	return nil
}

// temporaryFile is a file that vanishes with the process. Its size is taken from a budget.
type temporaryFile struct {
	*os.File
	share *budget.Share
}

// temporary makes a file that is removed at once, on systems that allow this.
func (cs *copies) temporary() (*temporaryFile, error) {
	file, err := os.CreateTemp(cs.dir, "umbel-copy-")
	if err != nil {
		return nil, fmt.Errorf("copy of the filter: %w", err)
	}
	_ = os.Remove(file.Name()) // discard removes it on systems where an open file cannot be removed
	return &temporaryFile{file, cs.disk.Share()}, nil
}

func (f *temporaryFile) Write(b []byte) (int, error) {
	if f.share.Take(len(b)) != nil {
		return 0, problemf(busy, "copies of filters that are being sent take too much space on the disk; try again when others have ended")
	}
	return f.File.Write(b)
}

// discard closes the data of a copy if it is a file.
func discard(data io.ReaderAt) {
	if f, ok := data.(*temporaryFile); ok {
		f.Close()
		_ = os.Remove(f.Name()) // usually removed already
		f.share.Release()
	}
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

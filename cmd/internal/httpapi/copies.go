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

	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/wire"
)

const (
	// inMemory is how large a filter may be, in bytes, of which copies are held in memory.
	// Copies of larger ones are files.
	inMemory = 256 << 10
	// maxIDs is how many filters' IDs are remembered.
	maxIDs = 4096
)

// copies are the containers that are being sent. A filter goes on changing while its
// container goes to a slow client, so that is a copy of one moment. All who ask in one
// version share it, and it is gone when the last has it.
type copies struct {
	dir string

	mu   sync.Mutex
	open map[copyKey]*copied
	ids  map[uint64]*list.Element // by filter
	used *list.List               // of *idOf, the one asked for last in front
}

type copyKey struct {
	filter, version uint64
	form            string
}

// copied is one container.
type copied struct {
	key  copyKey
	made chan struct{} // closed when what follows is there
	err  error
	id   wire.ID
	size int64
	data io.ReaderAt

	users int // guarded by copies.mu
}

// idOf is the ID of a filter in one version.
type idOf struct {
	filter, version uint64
	id              wire.ID
}

func newCopies(dir string) *copies {
	return &copies{dir: dir, open: map[copyKey]*copied{}, ids: map[uint64]*list.Element{}, used: list.New()}
}

// known returns the filter's ID if it was found out since the filter changed.
func (cs *copies) known(f *engine.Filter) (wire.ID, bool) {
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

// learn remembers an ID.
func (cs *copies) learn(is idOf) {
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

// get returns the filter's container as it is now, or a little later. put must be called.
func (cs *copies) get(ctx context.Context, f *engine.Filter, form string) (*copied, error) {
	key := copyKey{f.ID(), f.Version(), form}
	cs.mu.Lock()
	k := cs.open[key]
	first := k == nil
	if first {
		k = &copied{key: key, made: make(chan struct{})}
		cs.open[key] = k
	}
	k.users++
	cs.mu.Unlock()
	if first {
		cs.fill(k, f)
		close(k.made)
	}
	select {
	case <-k.made:
	case <-ctx.Done():
		cs.put(k)
		return nil, ctx.Err()
	}
	if k.err != nil {
		err := k.err
		cs.put(k)
		return nil, err
	}
	return k, nil
}

// put says that a copy isn't used any more by one who got it.
func (cs *copies) put(k *copied) {
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
func (cs *copies) fill(k *copied, f *engine.Filter) {
	k.err = errors.New("the copy was not made") // unless it is: a panic must not leave who waits with nothing
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
		cs.learn(idOf{f.ID(), k.key.version, k.id})
		return
	}
	// It is of a later moment than others who ask for this version may expect, and stays
	// with those who wait for it.
	cs.mu.Lock()
	defer cs.mu.Unlock()
	if cs.open[k.key] == k {
		delete(cs.open, k.key)
	}
}

// write writes the container of a source to where the copy is to be.
func (cs *copies) write(k *copied, src *source) (err error) {
	var to interface {
		io.Writer
		io.ReaderAt
	}
	var memory buffer
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
	count := &counting{to: to}
	if k.key.form == "" {
		k.id, err = wire.WriteCanonicalFunc(count, src.state, src.fill)
	} else if k.id, err = wire.WriteCanonicalFunc(io.Discard, src.state, src.fill); err == nil {
		var failed error
		err = wire.Packer{}.WriteFunc(count, src.state, func(plane int, first uint64, b cells.Array) {
			if failed == nil {
				failed = src.fill(plane, first, b)
			}
		})
		err = errors.Join(err, failed)
	}
	if err != nil {
		return err
	}
	k.data, k.size = to, count.n
	return nil
}

// temporary makes a file that is gone when the process is, however it ends, where the
// system can do that.
func (cs *copies) temporary() (*os.File, error) {
	file, err := os.CreateTemp(cs.dir, "umbel-copy-")
	if err != nil {
		return nil, fmt.Errorf("a copy of the filter: %w", err)
	}
	_ = os.Remove(file.Name()) // discard does it where an open file stays
	return file, nil
}

func discard(file *os.File) {
	file.Close()
	_ = os.Remove(file.Name()) // mostly gone already
}

// counting counts what is written.
type counting struct {
	to io.Writer
	n  int64
}

func (c *counting) Write(b []byte) (int, error) {
	n, err := c.to.Write(b)
	c.n += int64(n)
	return n, err
}

// buffer is a file in memory.
type buffer struct{ b []byte }

func (m *buffer) Write(b []byte) (int, error) {
	m.b = append(m.b, b...)
	return len(b), nil
}

func (m *buffer) ReadAt(b []byte, off int64) (int, error) {
	return bytes.NewReader(m.b).ReadAt(b, off)
}

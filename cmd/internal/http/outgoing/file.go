package outgoing

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"

	"github.com/umbel-filters/umbel/cmd/internal/durable/disk"
	"github.com/umbel-filters/umbel/cmd/internal/service/budget"
	"github.com/umbel-filters/umbel/wire"
	"github.com/umbel-filters/umbel/wire/hashtree"
)

// inMemory is the size in bytes up to which the copy of a filter is in memory. Larger copies are files.
const inMemory = 256 << 10

// write encodes the container of a source into memory or a file.
func (s *Service) write(ctx context.Context, k *Copy, src *source) (err error) {
	var to interface {
		io.Writer
		io.ReaderAt
	}
	var memory memoryFile
	made := false
	if to = &memory; !src.small() {
		file, failed := s.temporary()
		if failed != nil {
			return failed
		}
		to = file
		defer func() {
			if !made { // also after a panic
				discard(file)
			}
		}()
	}
	count := &countingWriter{to: to}
	var ids hashtree.Builder
	packer := wire.Packer{Raw: k.key.form == Canonical}
	for b, err := range packer.WriteBlocks(count, src.state) {
		if err == nil {
			err = ctx.Err()
		}
		if err == nil {
			err = src.fill(b)
		}
		if err != nil {
			return err
		}
		ids.Add(b)
	}
	k.ID = ids.ID(src.state)
	k.ReaderAt, k.Size, made = to, count.n, true
	return nil
}

// temporaryFile is a file that vanishes with the process. Its size is taken from a budget.
type temporaryFile struct {
	disk.File
	dir   disk.Dir
	name  string
	size  int64
	share *budget.Share
}

// temporary makes a file that is removed at once, on systems that allow this.
func (s *Service) temporary() (*temporaryFile, error) {
	name := "umbel-copy-" + rand.Text()
	file, err := s.dir.Create(name)
	if err != nil {
		return nil, noRoom(err)
	}
	_ = s.dir.Remove(name) // discard removes it on systems where an open file cannot be removed
	return &temporaryFile{File: file, dir: s.dir, name: name, share: s.disk.Share()}, nil
}

// Write appends b.
func (f *temporaryFile) Write(b []byte) (n int, err error) {
	if err = f.share.Take(len(b)); err == nil {
		n, err = f.WriteAt(b, f.size)
	}
	f.size += int64(n)
	return n, noRoom(err)
}

// noRoom returns the error of making a copy. It wraps ErrNoRoom if the disk or the budget is full.
func noRoom(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, budget.ErrFull), disk.IsFull(err):
		return fmt.Errorf("%w: %w", ErrNoRoom, err)
	}
	return fmt.Errorf("copy of the filter: %w", err)
}

// discard closes the data of a copy if it is a file.
func discard(data io.ReaderAt) {
	if f, ok := data.(*temporaryFile); ok {
		f.Close()
		_ = f.dir.Remove(f.name) // usually removed already
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

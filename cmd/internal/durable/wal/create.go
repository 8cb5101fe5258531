package wal

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"io/fs"
	"slices"
	"syscall"

	"github.com/umbel-filters/umbel/cmd/internal/durable/disk"
	"github.com/umbel-filters/umbel/internal/event"
)

// roll syncs the last segment and begins the next one, with space for need bytes. Called with
// writing held.
func (l *Log) roll(first uint64, need int64) (*active, error) {
	l.syncing.Lock()
	defer l.syncing.Unlock()
	if _, err := l.sync(); err != nil {
		return nil, err
	}
	if err := l.begin(first, need); err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.active, nil
}

// begin begins a segment after the tip. Called with writing and syncing held.
func (l *Log) begin(first uint64, need int64) error {
	l.mu.Lock()
	old, before := l.active, l.tip
	l.mu.Unlock()
	defer l.count()
	a, err := l.create(first, before, need)
	if err != nil {
		return err
	}
	l.mu.Lock()
	n := len(l.segments)
	for n > 0 && l.segments[n-1].first >= first {
		n-- // replaced, or cut
	}
	l.segments = append(l.segments[:n:n], a.segment)
	l.active = a
	l.mu.Unlock()
	if old != nil {
		if err := old.file.Close(); err != nil {
			l.o.Log.Warn("closing a segment failed", event.CleanupFailed, "file", old.name(), "error", err)
		}
	}
	l.unclean = false
	return nil
}

// create makes the file of a segment from a spare one, or a new one, and opens it. Called with
// writing held.
func (l *Log) create(first uint64, before link, need int64) (*active, error) {
	var salt [8]byte
	rand.Read(salt[:])
	number := binary.LittleEndian.Uint64(salt[:])
	l.generation++
	s := &segment{first: first, before: before, salt: saltSum(number), made: l.generation, version: segmentVersion}
	header := appendSegmentHeader(make([]byte, 0, segmentHeader), first, before, number, s.made)
	name, size, err := l.takeFile(header, need+segmentHeader)
	if err != nil {
		return nil, err
	}
	s.size = size
	if err := l.dir.Rename(name, s.name()); err != nil {
		return nil, errors.Join(err, l.dir.Remove(name))
	}
	if err := l.dir.Sync(); err != nil {
		return nil, l.die(err)
	}
	file, err := l.dir.Edit(s.name())
	if err != nil {
		return nil, err // the next attempt replaces the file
	}
	return &active{segment: s, file: file, end: segmentHeader}, nil
}

// frugalBytes is the size of a segment of a frugal log, unless its first entries need more.
const frugalBytes = 256 << 10

// firstBytes is the size of the first segment of a log. Each new one is twice as large as the one before, up to
// Options.SegmentBytes, so that a log with few entries takes little room.
const firstBytes = 1 << 20

// newSize returns the size of a new file for a segment, unless its first entries need more.
func (l *Log) newSize() int64 {
	if l.frugal.Load() {
		return min(l.o.SegmentBytes, frugalBytes)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	size := int64(firstBytes)
	if n := len(l.segments); n > 0 {
		size = max(size, 2*l.segments[n-1].size)
	}
	return min(l.o.SegmentBytes, size)
}

// takeFile returns the name of a file of at least need bytes with that header, and its size. Called with
// writing and syncing held.
func (l *Log) takeFile(header []byte, need int64) (name string, size int64, err error) {
	for size = max(need, l.newSize()); ; {
		l.mu.Lock()
		spare := ""
		if len(l.spares) > 0 {
			spare = l.spares[0]
		}
		l.mu.Unlock()
		if spare != "" && need <= l.o.SegmentBytes {
			l.forgetSpare(spare)
			return spare, l.o.SegmentBytes, l.fill(spare, header, func() (disk.File, error) { return l.dir.Edit(spare) })
		}
		allowed := max(need, min(size, l.disk.Left()))
		if err = l.disk.Grow(allowed); err == nil {
			err = l.fill(newName, header, func() (disk.File, error) { return l.allocate(allowed) })
			if !errors.Is(err, syscall.ENOSPC) || spare == "" && size == need {
				return newName, allowed, err
			}
			l.count()
		} else if spare == "" {
			return "", 0, err
		}
		if spare == "" {
			size = max(size/2, need)
			continue
		}
		if err := l.dir.Remove(spare); err != nil {
			return "", 0, err
		}
		l.forgetSpare(spare)
		l.count()
	}
}

// forgetSpare removes a name from spares.
func (l *Log) forgetSpare(name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.spares = slices.DeleteFunc(l.spares, func(s string) bool { return s == name })
}

// allocate makes a file of size bytes.
func (l *Log) allocate(size int64) (disk.File, error) {
	f, err := l.dir.Create(newName)
	if err != nil {
		return nil, err
	}
	if err := f.Allocate(size); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// fill opens a file, writes a header to it and syncs it. After an error the file does not exist.
func (l *Log) fill(name string, header []byte, open func() (disk.File, error)) error {
	f, err := open()
	if err == nil {
		if _, err = f.WriteAt(header, 0); err == nil {
			if err = f.Sync(); err != nil {
				err = l.die(err)
			}
		}
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		if e := l.dir.Remove(name); !errors.Is(e, fs.ErrNotExist) {
			err = errors.Join(err, e)
		}
	}
	return err
}

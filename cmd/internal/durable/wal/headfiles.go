package wal

import (
	"errors"
	"fmt"
	"slices"

	"github.com/umbel-filters/umbel/cmd/internal/durable/disk"
	"github.com/umbel-filters/umbel/internal/event"
)

// headWriter is the files of the head. It has none if the log is read-only.
type headWriter []*headFile

// headFile is one of them.
type headFile struct {
	file    disk.File
	last    int // slot that was written last
	durable int // slot that was written last before the last sync
}

// write writes a head to all files.
func (w headWriter) write(h head) error {
	b := h.append(make([]byte, 0, headBytes))
	for _, f := range w {
		slot := 0
		for slot == f.last || slot == f.durable {
			slot++
		}
		if _, err := f.file.WriteAt(b, int64(slot)*slotBytes); err != nil {
			return fmt.Errorf("write head: %w", err)
		}
		f.last = slot
	}
	return nil
}

// sync makes the last head that was written durable.
func (w headWriter) sync() error {
	for _, f := range w {
		if err := f.file.Sync(); err != nil {
			return fmt.Errorf("sync head: %w", err)
		}
		f.durable = f.last
	}
	return nil
}

// allocate reserves the space of all files.
func (w headWriter) allocate() error {
	for _, f := range w {
		if err := f.file.Allocate(slots * slotBytes); err != nil {
			return err
		}
	}
	return nil
}

// close closes all files.
func (w headWriter) close() (err error) {
	for _, f := range w {
		err = errors.Join(err, f.file.Close())
	}
	return err
}

// openHead opens and reads the files of the head that exist, and reports whether there is no head. One
// file is enough: an entry is acknowledged when both name it.
func (l *Log) openHead(exist []string) (missing bool, err error) {
	var failed error
	found := 0
	for _, name := range headNames {
		h, err := l.openHeadFile(name, slices.Contains(exist, name))
		switch {
		case err == nil:
			if found++; found == 1 || h.sequence > l.head.sequence {
				l.head = h
			}
		case errors.Is(err, errNoHead), errors.Is(err, disk.ErrUnreadable):
			failed = err
		default:
			return false, err
		}
	}
	switch {
	case found == 0 && errors.Is(failed, disk.ErrUnreadable):
		return false, failed
	case found == 0:
		return true, nil
	case found < len(headNames):
		l.o.Log.Warn("a copy of the head is missing or damaged; the other one is used", event.DamageRepaired, "error", failed)
	}
	return false, nil
}

// openHeadFile opens one file of the head, or makes it, and reads it.
func (l *Log) openHeadFile(name string, exists bool) (h head, err error) {
	var f disk.File
	switch {
	case !exists && l.o.ReadOnly:
		return h, fmt.Errorf("%s: %w", name, errNoHead)
	case !exists:
		f, err = l.dir.Create(name)
	case l.o.ReadOnly:
		f, err = l.dir.Open(name)
	default:
		f, err = l.dir.Edit(name)
	}
	if err != nil {
		return h, err
	}
	h, slot, damaged, err := readHead(f)
	if l.o.ReadOnly {
		err = errors.Join(err, f.Close())
	} else {
		l.headFile = append(l.headFile, &headFile{f, slot, slot})
	}
	if err == nil && damaged > 0 {
		l.o.Log.Warn("a copy of the head is damaged; the other one is used", event.DamageRepaired, "file", name)
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", name, err)
	}
	return h, err
}

package format

import (
	"encoding/binary"
	"math"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/internal/sentinel"
)

// Notes describe a state and are not part of it: neither the canonical form nor the ID has them. A
// container with notes has version 2, and they follow its state; in a delta they follow the change:
//
//	number 1 | for each note: type 1 | length 1 | value
//
// Types are ascending. A reader skips a type that it does not know. The short form is in short.go.
const (
	notePlanned = 1 // keys 8 | rate 8, IEEE 754 binary64
	noteTick    = 3 // nanoseconds 8; vectors have 2 as a type that is not known
)

const (
	plannedBytes = 8 + 8
	tickBytes    = 8
)

// noteBytes returns the number of bytes that notes take.
func noteBytes(s umbel.Notes) (n uint64) {
	if s.Planned != (umbel.Planned{}) {
		n += 2 + plannedBytes
	}
	if s.Tick != 0 {
		n += 2 + tickBytes
	}
	if n > 0 {
		n++ // their number
	}
	return n
}

// Notes writes notes, unless there are none.
func (w *Writer) Notes(s umbel.Notes) {
	if s == (umbel.Notes{}) {
		return
	}
	if w.Short {
		w.Buf = append(w.Buf, noteFlags(s))
		w.shortNotes(noteFlags(s), s)
		return
	}
	number := len(w.Buf)
	w.Buf = append(w.Buf, 0)
	if s.Planned != (umbel.Planned{}) {
		w.Buf[number]++
		w.Buf = append(w.Buf, notePlanned, plannedBytes)
		w.Buf = binary.LittleEndian.AppendUint64(w.Buf, s.Planned.Keys)
		w.Buf = binary.LittleEndian.AppendUint64(w.Buf, math.Float64bits(s.Planned.FPRate))
	}
	if s.Tick != 0 {
		w.Buf[number]++
		w.Buf = append(w.Buf, noteTick, tickBytes)
		w.Buf = binary.LittleEndian.AppendUint64(w.Buf, s.Tick)
	}
}

// Notes reads notes.
func (r *Reader) Notes(s *umbel.Notes) error {
	n, err := r.Byte()
	if err != nil {
		return err
	}
	if r.Short {
		return r.flaggedNotes(n, s)
	}
	if n == 0 {
		return sentinel.Errorf(umbel.ErrCorrupt, "0 notes, want at least 1")
	}
	last := -1
	for range n {
		if last, err = r.note(s, last); err != nil {
			return err
		}
	}
	return nil
}

// note reads the note that follows one of type last and returns its type.
func (r *Reader) note(s *umbel.Notes, last int) (int, error) {
	head, err := r.Next(2)
	if err != nil {
		return last, err
	}
	kind, length := int(head[0]), int(head[1])
	if kind <= last {
		return last, sentinel.Errorf(umbel.ErrCorrupt, "a note of type %d follows one of type %d, want ascending types", kind, last)
	}
	b, err := r.Next(length)
	if err != nil {
		return kind, err
	}
	switch kind {
	case notePlanned:
		return kind, readPlanned(s, b)
	case noteTick:
		return kind, readTick(s, b)
	}
	return kind, nil
}

// readPlanned sets s.Planned to the value of a note.
func readPlanned(s *umbel.Notes, b []byte) error {
	if len(b) != plannedBytes {
		return sentinel.Errorf(umbel.ErrCorrupt, "a note of type %d of %d bytes, want %d", notePlanned, len(b), plannedBytes)
	}
	s.Planned = umbel.Planned{
		Keys:   binary.LittleEndian.Uint64(b),
		FPRate: math.Float64frombits(binary.LittleEndian.Uint64(b[8:])),
	}
	return checkPlanned(s.Planned)
}

func checkPlanned(p umbel.Planned) error {
	if p == (umbel.Planned{}) {
		return sentinel.Errorf(umbel.ErrCorrupt, "planned for 0 keys")
	}
	return p.Check()
}

// readTick sets s.Tick to the value of a note.
func readTick(s *umbel.Notes, b []byte) error {
	if len(b) != tickBytes {
		return sentinel.Errorf(umbel.ErrCorrupt, "a note of type %d of %d bytes, want %d", noteTick, len(b), tickBytes)
	}
	s.Tick = binary.LittleEndian.Uint64(b)
	return checkTick(s.Tick)
}

func checkTick(ns uint64) error {
	if ns == 0 || ns > math.MaxInt64 {
		return sentinel.Errorf(umbel.ErrCorrupt, "a tick of %d nanoseconds, want 1 to 2^63-1", ns)
	}
	return nil
}

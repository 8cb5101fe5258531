package format

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/umbel-filters/umbel"
)

// Notes describe a state and are not part of it: neither the canonical form nor the ID has them. A
// container with notes has version 2, and they follow its state:
//
//	number 1 | for each note: type 1 | length 1 | value
//
// Types are ascending. A reader skips a type that it does not know.
const notePlanned = 1 // keys 8 | rate 8, IEEE 754 binary64

const plannedBytes = 8 + 8

// noteBytes returns the number of bytes of the notes of s.
func noteBytes(s umbel.State) uint64 {
	if s.Planned == (umbel.Planned{}) {
		return 0
	}
	return 1 + 2 + plannedBytes
}

// notes writes the notes of s unless it has none.
func (w *Writer) notes(s umbel.State) {
	if s.Planned == (umbel.Planned{}) {
		return
	}
	w.Buf = append(w.Buf, 1, notePlanned, plannedBytes)
	w.Buf = binary.LittleEndian.AppendUint64(w.Buf, s.Planned.Keys)
	w.Buf = binary.LittleEndian.AppendUint64(w.Buf, math.Float64bits(s.Planned.FPRate))
}

// notes reads the notes of s.
func (r *Reader) notes(s *umbel.State) error {
	n, err := r.Byte()
	if err != nil {
		return err
	}
	if n == 0 {
		return fmt.Errorf("a container of version %d without notes: %w", VersionWithNotes, umbel.ErrCorrupt)
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
func (r *Reader) note(s *umbel.State, last int) (int, error) {
	head, err := r.Next(2)
	if err != nil {
		return last, err
	}
	kind, length := int(head[0]), int(head[1])
	if kind <= last {
		return last, fmt.Errorf("a note of type %d follows one of type %d, want ascending types: %w", kind, last, umbel.ErrCorrupt)
	}
	b, err := r.Next(length)
	if err != nil || kind != notePlanned {
		return kind, err
	}
	if length != plannedBytes {
		return kind, fmt.Errorf("a note of type %d of %d bytes, want %d: %w", kind, length, plannedBytes, umbel.ErrCorrupt)
	}
	s.Planned = umbel.Planned{
		Keys:   binary.LittleEndian.Uint64(b),
		FPRate: math.Float64frombits(binary.LittleEndian.Uint64(b[8:])),
	}
	if s.Planned == (umbel.Planned{}) {
		return kind, fmt.Errorf("a note of type %d for 0 keys: %w", kind, umbel.ErrCorrupt)
	}
	return kind, s.Planned.Check()
}

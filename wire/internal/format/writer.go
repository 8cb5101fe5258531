// Package format writes and reads the fields of containers and deltas: spec/container.md
// and, for numbers and payloads, spec/delta.md.
package format

import (
	"encoding/binary"
	"hash/crc32"
	"io"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/wire/internal/block"
)

// The first bytes of containers and deltas. The first byte is neither ASCII nor UTF-8, and
// the seventh is a line feed, so that treatment as text is detected (as in PNG). The last
// byte is the version.
const (
	Magic      = "\x89umbel\n\x01"
	DeltaMagic = "\x89umdlt\n\x01"
)

// VersionWithNotes is the version of a container with notes, instead of the last byte of Magic.
const VersionWithNotes = 2

// SumBytes is the size of the checksum at the end.
const SumBytes = 4

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Checksum returns the CRC-32C of b.
func Checksum(b []byte) uint32 { return crc32.Checksum(b, castagnoli) }

// The types of a parameter.
const (
	typeWhole = 0
	typeFloat = 1
)

// Writer writes fields. After an error it writes nothing more.
type Writer struct {
	W      io.Writer // nil: everything stays in Buf
	Arrays ArrayWriter
	Short  bool   // the short form: see short.go
	Buf    []byte // fields to be written by Flush
	Err    error
	kept   int    // bytes of Buf that are written
	off    uint64 // bytes that are written
	crc    uint32
}

// NewAppender returns a writer that appends to dst.
func NewAppender(dst []byte, arrays ArrayWriter) Writer {
	return Writer{Buf: dst, kept: len(dst), Arrays: arrays}
}

// Container writes the container of s.
func (w *Writer) Container(s umbel.State) {
	if s.Notes == (umbel.Notes{}) {
		w.Body(s)
	} else {
		w.Buf = append(w.Buf, Magic[:len(Magic)-1]...)
		w.Buf = append(w.Buf, VersionWithNotes)
		w.longState(s)
		w.Notes(s.Notes)
	}
	w.Sum()
}

// ContainerBytes returns the number of bytes of the container of s in addition to its state.
func ContainerBytes(s umbel.State) uint64 { return uint64(len(Magic)) + noteBytes(s.Notes) + SumBytes }

// Body writes the container of s without its notes and its checksum, as it is hashed for an ID.
func (w *Writer) Body(s umbel.State) {
	w.Buf = append(w.Buf, Magic...)
	w.longState(s)
	w.Flush()
}

// Sum writes the checksum of everything before it.
func (w *Writer) Sum() {
	w.Flush()
	w.Buf = binary.LittleEndian.AppendUint32(w.Buf, w.crc)
	w.Flush()
}

// State writes a state that is a part of one with the hasher outer.
func (w *Writer) State(s umbel.State, outer umbel.Hasher) {
	if w.Short {
		w.shortState(s, outer, 0)
	} else {
		w.longState(s)
	}
}

func (w *Writer) longState(s umbel.State) {
	w.Name(s.Kind)
	w.Buf = append(w.Buf, byte(s.Hasher.Alg))
	seed := s.Hasher.Seed.Bytes()
	w.Buf = append(w.Buf, seed[:]...)
	w.Params(s.Params)
	w.Buf = append(w.Buf, byte(len(s.Arrays)))
	for _, a := range s.Arrays {
		w.Array(a)
	}
	w.Buf = binary.LittleEndian.AppendUint16(w.Buf, uint16(len(s.Parts)))
	for _, p := range s.Parts {
		w.longState(p)
	}
}

// Name writes the name of a kind or a parameter.
func (w *Writer) Name(s string) {
	w.Buf = append(w.Buf, byte(len(s)))
	w.Buf = append(w.Buf, s...)
}

// Params writes a list of parameters.
func (w *Writer) Params(params umbel.Params) {
	w.Buf = append(w.Buf, byte(len(params)))
	for _, p := range params {
		w.Name(p.Name)
		kind := byte(typeWhole)
		if p.Value.IsFloat() {
			kind = typeFloat
		}
		w.Buf = append(w.Buf, kind)
		w.Value(p.Value)
	}
}

// Value writes the value of a parameter.
func (w *Writer) Value(v umbel.Number) {
	if w.Short && v.IsFloat() {
		w.shortFloat(v.Float())
	} else {
		w.number(v.Bits())
	}
}

// Array writes an array.
func (w *Writer) Array(a cells.Array) {
	w.Buf = append(w.Buf, byte(a.Width))
	w.cells(a)
}

// cells writes an array after its width.
func (w *Writer) cells(a cells.Array) {
	w.number(a.Len)
	if w.Err == nil {
		w.Arrays(w, a)
	}
}

// Uvarint writes an unsigned LEB128 number.
func (w *Writer) Uvarint(n uint64) { w.Buf = binary.AppendUvarint(w.Buf, n) }

// number writes a number of 8 bytes, or in the short form one of variable length.
func (w *Writer) number(n uint64) {
	if w.Short {
		w.Uvarint(n)
	} else {
		w.Buf = binary.LittleEndian.AppendUint64(w.Buf, n)
	}
}

// RawBlock writes a raw block from its place in memory.
func (w *Writer) RawBlock(b cells.Array) {
	w.Buf = append(w.Buf, block.Raw)
	w.words(b.Words)
}

func (w *Writer) words(words []uint64) {
	if b, ok := block.View(words); ok {
		w.bytes(b)
		return
	}
	w.Buf = block.AppendWords(w.Buf, words)
	w.Flush()
}

// bytes writes b from its place in memory.
func (w *Writer) bytes(b []byte) {
	if w.W == nil {
		w.Buf = append(w.Buf, b...)
	}
	w.Flush()
	if w.W != nil {
		w.write(b)
	}
}

// Written returns the number of bytes that are written.
func (w *Writer) Written() uint64 { return w.off }

// Flush writes Buf, and empties it if there is a W.
func (w *Writer) Flush() {
	if w.W == nil {
		w.count(w.Buf[w.kept:])
		w.kept = len(w.Buf)
		return
	}
	w.write(w.Buf)
	w.Buf = w.Buf[:0]
}

func (w *Writer) count(b []byte) {
	w.crc = crc32.Update(w.crc, castagnoli, b)
	w.off += uint64(len(b))
}

func (w *Writer) write(b []byte) {
	if w.Err != nil || len(b) == 0 {
		return
	}
	w.count(b)
	n, err := w.W.Write(b)
	if err == nil && n < len(b) {
		err = io.ErrShortWrite
	}
	w.Err = err
}

// ArrayWriter writes the blocks of an array.
type ArrayWriter func(w *Writer, a cells.Array)

package format

import (
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/wire/internal/block"
)

// Readable writes arrays in blocks without payloads, or contiguous.
type Readable struct {
	Coding  block.Coding
	codings []byte // of the blocks of an array
	room    [block.Align]byte
}

// of returns the codings of the blocks of an array. It reads their cells, once.
func (r *Readable) of(a cells.Array) []byte {
	if r.codings == nil {
		r.codings = r.room[:0]
	}
	r.codings = block.Codings(r.codings[:0], a, r.Coding)
	return r.codings
}

// Write writes the blocks of an array: it is an ArrayWriter.
func (r *Readable) Write(w *Writer, a cells.Array) {
	codings := r.of(a)
	if block.IsContiguous(codings) {
		w.contiguous(a)
		return
	}
	for i, coding := range codings {
		if coding == block.Raw {
			w.RawBlock(block.At(a, uint64(i)))
		} else {
			w.Buf = append(w.Buf, coding)
		}
	}
}

// Bytes returns the number of bytes that Write writes for an array whose blocks begin off bytes after the beginning of the
// container.
func (r *Readable) Bytes(off uint64, a cells.Array) (n uint64) {
	codings := r.of(a)
	if block.IsContiguous(codings) {
		return 2 + padding(off) + 8*block.NumWords(a)
	}
	for i, coding := range codings {
		n++
		if coding == block.Raw {
			n += block.At(a, uint64(i)).Bytes()
		}
	}
	return n
}

// RawBytes returns the number of bytes of the blocks of an array that are all raw.
func RawBytes(_ uint64, a cells.Array) uint64 { return block.Count(a) + 8*block.NumWords(a) }

// padding returns the number of bytes before the words of a contiguous array whose coding is off bytes after the
// beginning of the container.
func padding(off uint64) uint64 { return -(off + 2) % block.Align }

// contiguous writes the words of an array, all in one run.
func (w *Writer) contiguous(a cells.Array) {
	w.beginContiguous()
	for b := range block.All(a) {
		w.words(b.Words)
	}
}

// beginContiguous writes what is before the words of an array in one run.
func (w *Writer) beginContiguous() {
	var zeros [block.Align]byte
	n := padding(w.off + uint64(len(w.Buf)-w.kept))
	w.Buf = append(w.Buf, block.Contiguous, byte(n))
	w.Buf = append(w.Buf, zeros[:n]...)
}

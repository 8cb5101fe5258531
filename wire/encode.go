package wire

import (
	"encoding/binary"
	"hash/crc32"
	"io"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// encoder writes a container. Small fields gather in buf until a block is written
// from where it lies. After an error it writes nothing more.
type encoder struct {
	w      io.Writer
	blocks blockWriter
	buf    []byte
	crc    uint32
	err    error
}

// blockWriter writes the blocks of a plane.
type blockWriter func(e *encoder, a cells.Array)

// each returns a blockWriter without payloads.
func each(c coding) blockWriter {
	return func(e *encoder, a cells.Array) {
		for b := range blocks(a) {
			c := c(b)
			e.buf = append(e.buf, c)
			if c == raw {
				e.words(b.Words)
			}
		}
	}
}

func (e *encoder) container(s umbel.State) {
	e.body(s)
	e.end()
}

// end writes the checksum.
func (e *encoder) end() {
	e.buf = binary.LittleEndian.AppendUint32(e.buf, e.crc)
	e.flush()
}

// body writes all of a container but its checksum.
func (e *encoder) body(s umbel.State) {
	e.buf = append(e.buf, magic...)
	e.state(s)
	e.flush()
}

func (e *encoder) state(s umbel.State) {
	e.name(s.Kind)
	e.buf = append(e.buf, byte(s.Hasher.Alg))
	seed := s.Hasher.Seed.Bytes()
	e.buf = append(e.buf, seed[:]...)
	e.buf = append(e.buf, byte(len(s.Params)))
	for _, p := range s.Params {
		e.param(p)
	}
	e.buf = append(e.buf, byte(len(s.Arrays)))
	for _, p := range s.Arrays {
		e.plane(p)
	}
	e.buf = binary.LittleEndian.AppendUint16(e.buf, uint16(len(s.Parts)))
	for _, p := range s.Parts {
		e.state(p)
	}
}

func (e *encoder) name(s string) {
	e.buf = append(e.buf, byte(len(s)))
	e.buf = append(e.buf, s...)
}

func (e *encoder) param(p umbel.Param) {
	e.name(p.Name)
	kind := byte(whole)
	if p.Value.IsFloat() {
		kind = float
	}
	e.buf = append(e.buf, kind)
	e.buf = binary.LittleEndian.AppendUint64(e.buf, p.Value.Bits())
}

func (e *encoder) plane(a cells.Array) {
	e.buf = append(e.buf, byte(max(a.Width, 1)))
	e.buf = binary.LittleEndian.AppendUint64(e.buf, a.Len)
	if e.err == nil {
		e.blocks(e, a)
	}
}

// words writes the words of a block.
func (e *encoder) words(words []uint64) {
	if b, ok := view(words); ok {
		e.flush()
		e.write(b)
		return
	}
	e.buf = appendWords(e.buf, words)
	e.flush()
}

func (e *encoder) flush() {
	e.write(e.buf)
	e.buf = e.buf[:0]
}

func (e *encoder) write(b []byte) {
	if e.err != nil || len(b) == 0 {
		return
	}
	e.crc = crc32.Update(e.crc, castagnoli, b)
	n, err := e.w.Write(b)
	if err == nil && n < len(b) {
		err = io.ErrShortWrite
	}
	e.err = err
}

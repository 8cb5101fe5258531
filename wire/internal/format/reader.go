package format

import (
	"bufio"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"math"
	"slices"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/internal/sentinel"
	"github.com/umbel-filters/umbel/wire/internal/block"
)

// Reader reads fields, and checks each before the next. Its errors wrap umbel.ErrCorrupt or
// umbel.ErrLimit, or are those of its source.
type Reader struct {
	Budget
	Off uint64 // bytes read; after an error, where it was found

	// Visit, if it is not nil, receives the blocks of a container that are not zero, and arrays get no words.
	Visit Visit
	// Begin, if it is not nil, is called with each array before its blocks are read. Workers call the
	// returned function with the number of each block that has been read. It is for sized readers, which
	// allocate arrays at once.
	Begin func(a cells.Array) (done func(i uint64))
	// Borrow makes arrays share the memory of the source, if it is in memory and has their words together and
	// aligned.
	Borrow bool
	// Index, if it is not nil, receives where the blocks of the first array are, if it wants them; the array then has no
	// words. It is for a source in memory.
	Index *Index
	// Short is set by a short container, and read in the short form: see short.go.
	Short bool
	// Unchecked skips the checksum and the cells of arrays that are borrowed.
	Unchecked bool

	mem    []byte        // the source, if it is in memory
	from   uint64        // Off at its beginning
	stream *bufio.Reader // the source otherwise
	size   uint64        // Off at the end of the source; unknown if it doesn't state it
	crc    uint32        // of the bytes that were read from stream

	arrays     int  // arrays of the container before this one
	contiguous bool // the other blocks of this array follow without codings
	run        run
	pipeline   block.Pipeline[block.DecodeJob]
	names      names
	buf        [255]byte
	plain      []byte // a raw block, on machines that aren't little-endian
}

// Visit receives a block of a container: the number of its array, counted through all states, the number of the
// block's first cell, and the block. It reports whether it accepts more.
type Visit func(array int, first uint64, b cells.Array) bool

// ErrStopped is the error of a reader whose Visit accepts no more.
var ErrStopped = errors.New("stopped")

// unknown is the size of a source that doesn't state it.
const unknown = math.MaxUint64

// bufferBytes is small, so that most of a block goes directly from the source to its place.
const bufferBytes = 4096

// NewReader returns a reader of b. Offsets count from off.
func NewReader(b []byte, off uint64, l Budget) *Reader {
	r := new(Reader)
	r.reset(b, off, l)
	return r
}

// reset makes r, which is a zero Reader except for its names, a reader of b.
func (r *Reader) reset(b []byte, off uint64, l Budget) {
	r.Budget, r.mem, r.from, r.Off, r.size = l, b, off, off, off+uint64(len(b))
	r.pipeline.Workers = l.Workers
}

// NewSizedReader returns a reader of r, which has size bytes.
func NewSizedReader(r io.Reader, size uint64, l Budget) *Reader {
	return &Reader{
		Budget: l, size: size, stream: bufio.NewReaderSize(r, int(min(size, bufferBytes))),
		pipeline: block.Pipeline[block.DecodeJob]{Workers: l.Workers},
	}
}

// NewStreamReader returns a reader of r. If r is an [io.Seeker], its length is used to
// refuse impossible arrays early and to allocate others at once.
func NewStreamReader(r io.Reader, l Budget) (*Reader, error) {
	size, err := remaining(r)
	if err != nil {
		return nil, err
	}
	return NewSizedReader(r, size, l), nil
}

// remaining returns the number of bytes left in r, and unknown if it doesn't state it.
func remaining(r io.Reader) (uint64, error) {
	s, ok := r.(io.Seeker)
	if !ok {
		return unknown, nil
	}
	here, err := s.Seek(0, io.SeekCurrent)
	if err != nil {
		return unknown, nil // a pipe or a terminal
	}
	end, err := s.Seek(0, io.SeekEnd)
	if _, back := s.Seek(here, io.SeekStart); back != nil {
		return 0, back
	}
	if err != nil || end <= here {
		return unknown, nil
	}
	return uint64(end - here), nil
}

// Left returns the number of bytes left; it is huge if the source doesn't state it.
func (r *Reader) Left() uint64 { return r.size - min(r.Off, r.size) }

// peek returns the bytes that are left of a source in memory.
func (r *Reader) peek() []byte { return r.mem[r.Off-r.from:] }

// take returns the next n bytes of a source in memory, which it shares. On error it returns those that are left.
func (r *Reader) take(n int) ([]byte, error) {
	left := r.peek()
	if n > len(left) {
		r.Off += uint64(len(left))
		return left, r.ends(n, len(left))
	}
	r.Off += uint64(n)
	return left[:n], nil
}

// read fills b with the next bytes.
func (r *Reader) read(b []byte) error {
	if r.stream == nil {
		taken, err := r.take(len(b))
		copy(b, taken)
		return err
	}
	n, err := io.ReadFull(r.stream, b)
	r.Off += uint64(n)
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return r.ends(len(b), n)
	}
	r.crc = crc32.Update(r.crc, castagnoli, b)
	return err
}

// ends returns the error of a source that has n bytes instead of want.
func (r *Reader) ends(want, n int) error {
	if n == 0 && r.Off == 0 {
		return sentinel.Errorf(umbel.ErrCorrupt, "the input is empty")
	}
	return sentinel.Errorf(umbel.ErrCorrupt, "the input ends here, %d bytes are missing", want-n)
}

// Next returns the next n ≤ 255 bytes, valid until the next call of any method.
func (r *Reader) Next(n int) ([]byte, error) {
	if r.stream == nil {
		return r.take(n)
	}
	b := r.buf[:n]
	return b, r.read(b)
}

// Byte returns the next byte, and 0 on error.
func (r *Reader) Byte() (byte, error) {
	b, err := r.Next(1)
	if err != nil {
		return 0, err
	}
	return b[0], nil
}

// end reads the checksum and checks that nothing follows.
func (r *Reader) end() error {
	want := r.crc
	if r.stream == nil && !r.Unchecked {
		want = Checksum(r.mem[:r.Off-r.from])
	}
	b, err := r.Next(SumBytes)
	if err != nil {
		return err
	}
	if got := binary.LittleEndian.Uint32(b); got != want && !r.Unchecked {
		return sentinel.Errorf(umbel.ErrCorrupt, "checksum %08x, want %08x: the container is damaged", got, want)
	}
	switch _, err = r.more(); {
	case err == nil:
		return sentinel.Errorf(umbel.ErrCorrupt, "bytes follow the container")
	case err != io.EOF:
		return err
	}
	return nil
}

// more returns the next byte without counting it, and io.EOF if there is none.
func (r *Reader) more() (byte, error) {
	if r.stream != nil {
		return r.stream.ReadByte()
	}
	if left := r.peek(); len(left) > 0 {
		return left[0], nil
	}
	return 0, io.EOF
}

// Uvarint reads an unsigned LEB128 number in its shortest form.
func (r *Reader) Uvarint() (n uint64, err error) {
	for shift := 0; ; shift += 7 {
		b, err := r.Byte()
		if err != nil {
			return 0, err
		}
		if b == 0 && shift > 0 || shift == 63 && b > 1 {
			return 0, sentinel.Errorf(umbel.ErrCorrupt, "a number isn't in its shortest form of at most 64 bits")
		}
		n |= uint64(b&0x7f) << shift
		if b < 0x80 {
			return n, nil
		}
	}
}

// Number reads a number of 8 bytes, or in the short form one of variable length.
func (r *Reader) Number() (uint64, error) {
	if r.Short {
		return r.Uvarint()
	}
	b, err := r.Next(8)
	if err != nil {
		return 0, err
	}
	return binary.LittleEndian.Uint64(b), nil
}

// Payload appends to dst a payload that follows its length. The length must be below most
// and at most Left; it is checked before memory is allocated.
func (r *Reader) Payload(dst []byte, most uint64) ([]byte, error) {
	n, err := r.payloadBytes(most)
	if err != nil {
		return dst, err
	}
	size := len(dst)
	dst = slices.Grow(dst, int(n))[:size+int(n)]
	return dst, r.read(dst[size:])
}

// payloadBytes reads the length of a payload, which must be below most and at most Left.
func (r *Reader) payloadBytes(most uint64) (n uint64, err error) {
	if n, err = r.Uvarint(); err != nil {
		return 0, err
	}
	if n >= most {
		return 0, sentinel.Errorf(umbel.ErrCorrupt, "payload of %d bytes, want fewer than %d", n, most)
	}
	if left := r.Left(); n > left {
		return 0, sentinel.Errorf(umbel.ErrCorrupt, "payload of %d bytes, but %d are left", n, left)
	}
	return n, nil
}

// words reads the words of a raw block.
func (r *Reader) words(words []uint64) error {
	if b, ok := block.View(words); ok {
		return r.read(b)
	}
	r.plain = slices.Grow(r.plain[:0], 8*len(words))[:8*len(words)]
	err := r.read(r.plain)
	block.GetWords(words, r.plain)
	return err
}

// names are the names that a reader has read last, so that it needs no memory for them again.
type names struct {
	list [16]string
	next int
}

// of returns b as a string.
func (n *names) of(b []byte) string {
	for _, name := range n.list {
		if name == string(b) {
			return name
		}
	}
	name := string(b)
	n.list[n.next] = name
	n.next = (n.next + 1) % len(n.list)
	return name
}

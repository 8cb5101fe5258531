package format

import (
	"bufio"
	"bytes"
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
	Off      uint64 // bytes read; after an error, where it was found
	r        *bufio.Reader
	size     uint64 // bytes in the source; unknown if it doesn't tell
	crc      uint32 // of the bytes read
	pipeline block.Pipeline[block.DecodeJob]
	// Begin, if it is not nil, is called with each array before its blocks are read. Workers call the
	// returned function with the number of each block that has been read. It is for sized readers, which
	// allocate arrays at once.
	Begin func(a cells.Array) (done func(i uint64))
	// contiguous is set if the other blocks of an array follow without codings.
	contiguous bool

	visit Visit // in a scan
	part  []int // path of the part that is being read
	buf   [255]byte
	plain []byte // a raw block, on machines that aren't little-endian
}

// Visit receives a block of a scan: the path of its part, the part's state as far as it
// was read, the number of the block's first cell, and the block.
type Visit func(part []int, s umbel.State, first uint64, b cells.Array) error

// unknown is the size of a source that doesn't tell it.
const unknown = math.MaxUint64

// bufferBytes is small, so that most of a block goes directly from the source to its place.
const bufferBytes = 4096

// NewReader returns a reader of b. Offsets count from off.
func NewReader(b []byte, off uint64, l Budget) *Reader {
	r := newReader(bytes.NewReader(b), uint64(len(b)), l)
	r.size += off
	r.Off = off
	return r
}

// NewSizedReader returns a reader of r, which has size bytes.
func NewSizedReader(r io.Reader, size uint64, l Budget) *Reader { return newReader(r, size, l) }

// NewStreamReader returns a reader of r. If r is an [io.Seeker], its length is used to
// refuse impossible arrays early and to allocate others at once.
func NewStreamReader(r io.Reader, l Budget) (*Reader, error) {
	size, err := remaining(r)
	if err != nil {
		return nil, err
	}
	return newReader(r, size, l), nil
}

func newReader(r io.Reader, size uint64, l Budget) *Reader {
	return &Reader{
		r: bufio.NewReaderSize(r, int(min(size, bufferBytes))), size: size, Budget: l,
		pipeline: block.Pipeline[block.DecodeJob]{Workers: l.Workers, Work: (*block.DecodeJob).Decode},
	}
}

// remaining returns the number of bytes left in r, and unknown if it doesn't tell.
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

// Left returns the number of bytes left; it is huge if the source doesn't tell.
func (r *Reader) Left() uint64 { return r.size - min(r.Off, r.size) }

// read fills b with the next bytes.
func (r *Reader) read(b []byte) error {
	n, err := io.ReadFull(r.r, b)
	r.Off += uint64(n)
	if err == io.EOF && r.Off == 0 {
		return sentinel.Errorf(umbel.ErrCorrupt, "the input is empty")
	}
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return sentinel.Errorf(umbel.ErrCorrupt, "the input ends here, %d bytes are missing", len(b)-n)
	}
	r.crc = crc32.Update(r.crc, castagnoli, b)
	return err
}

// Next returns the next n ≤ 255 bytes, valid until the next call of any method.
func (r *Reader) Next(n int) ([]byte, error) {
	b := r.buf[:n]
	return b, r.read(b)
}

// Byte returns the next byte, and 0 on error.
func (r *Reader) Byte() (byte, error) {
	if err := r.read(r.buf[:1]); err != nil {
		return 0, err
	}
	return r.buf[0], nil
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

// Payload appends to dst a payload that follows its length. The length must be below most
// and at most Left; it is checked before memory is allocated.
func (r *Reader) Payload(dst []byte, most uint64) ([]byte, error) {
	n, err := r.Uvarint()
	if err != nil {
		return dst, err
	}
	if n >= most {
		return dst, sentinel.Errorf(umbel.ErrCorrupt, "payload of %d bytes, want fewer than %d", n, most)
	}
	if left := r.Left(); n > left {
		return dst, sentinel.Errorf(umbel.ErrCorrupt, "payload of %d bytes, but %d are left", n, left)
	}
	size := len(dst)
	dst = slices.Grow(dst, int(n))[:size+int(n)]
	return dst, r.read(dst[size:])
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

// Budget is what a reader may still spend. Its exported fields are those of wire.Limits.
type Budget struct {
	Bytes   uint64
	Reserve func(bytes uint64) error
	Workers int
	// InStep allows arrays beyond Bytes if they take no more memory than the input has
	// bytes. Their memory is allocated in step with the bytes read.
	InStep bool
	used   uint64 // memory of arrays
	states int
}

// ClaimState counts a state.
func (b *Budget) ClaimState() error {
	if b.states++; b.states > umbel.MaxStates {
		return sentinel.Errorf(umbel.ErrCorrupt, "more than %d states with all parts", umbel.MaxStates)
	}
	return nil
}

// claim claims n bytes of memory for an array. It reports whether they are beyond the limit.
func (b *Budget) claim(n uint64) (beyond bool, err error) {
	left := b.Bytes - min(b.used, b.Bytes)
	beyond = n > left
	if beyond && !b.InStep {
		return beyond, sentinel.Errorf(umbel.ErrLimit, "%d bytes of cells, the limit leaves %d: raise the limit to read it", n, left)
	}
	b.used += n
	return beyond, nil
}

// allowed returns the memory that the array with the last claim, of n bytes, may have when
// the given number of bytes has been read: what the limit leaves, or four times what was
// read, because arrays grow by that factor.
func (b *Budget) allowed(n, read uint64) uint64 {
	before := min(b.used-n, b.Bytes)
	return max(b.Bytes-before, 4*read)
}

// checkUsed returns an error if arrays take more memory than the limit and than the bytes
// read.
func (b *Budget) checkUsed(read uint64) error {
	if b.used > max(b.Bytes, read) {
		return sentinel.Errorf(umbel.ErrLimit, "%d bytes of cells in %d bytes, the limit is %d: raise the limit to read it", b.used, read, b.Bytes)
	}
	return nil
}

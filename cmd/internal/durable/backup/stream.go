package backup

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/durable/recovery"
	"github.com/umbel-filters/umbel/cmd/internal/durable/snapshot"
	"github.com/umbel-filters/umbel/cmd/internal/durable/statecode"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/internal/sentinel"
)

// A backup is one stream:
//
//	backup   "umbelbackup" | version 1 | frames: head, filters each with its segments, batches, end
//	frame    kind 1 | length 4 | payload | CRC-32C of all of the backup before it 4
//	head     1 if there is a snapshot | milliseconds since 1970 | covered | position
//	filter   an entry of a catalog, whose references have piece 1 and no offset, or piece 0
//	segment  the bytes of one reference with piece 1, in their order
//	batch    a batch of the log
//	seed     seed of the hash of new filters, directly after the head; absent if the node has none
//	missing  milliseconds since 1970 | number of lost batches: engine.MissingNames of the snapshot, after the
//	         head and the seed; absent if no names may be missing
//	end      number of filters | number of batches
//
// Numbers are unsigned LEB128, lengths and sums little-endian. As each sum is of all that
// came before, frames can't be missing, or be in another order.
const (
	backupMagic   = "umbelbackup"
	backupVersion = 1

	frameHead    = 1
	frameFilter  = 2
	frameSegment = 3
	frameBatch   = 4
	frameEnd     = 5
	frameSeed    = 6
	frameMissing = 7

	// maxEntry is the maximum size of the entry of a filter, which has 32 bytes for each segment.
	maxEntry = 1 << 30
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// frameWriter writes the frames of a backup.
type frameWriter struct {
	w   *bufio.Writer
	sum uint32
	err error
}

func newFrameWriter(w io.Writer) *frameWriter {
	f := &frameWriter{w: bufio.NewWriterSize(w, 64<<10)}
	f.write(append([]byte(backupMagic), backupVersion))
	return f
}

func (f *frameWriter) write(b []byte) {
	if f.err == nil {
		f.sum = crc32.Update(f.sum, castagnoli, b)
		_, f.err = f.w.Write(b)
	}
}

func (f *frameWriter) frame(kind byte, payload []byte) error {
	f.write(binary.LittleEndian.AppendUint32([]byte{kind}, uint32(len(payload))))
	f.write(payload)
	f.write(binary.LittleEndian.AppendUint32(nil, f.sum))
	return f.err
}

func (f *frameWriter) end(numbers ...uint64) error {
	if err := f.frame(frameEnd, uvarints(numbers...)); err != nil {
		return err
	}
	return f.w.Flush()
}

func uvarints(numbers ...uint64) (b []byte) {
	for _, n := range numbers {
		b = binary.AppendUvarint(b, n)
	}
	return b
}

// frameReader reads the frames of a backup. Its errors wrap umbel.ErrCorrupt, or come from
// the reader.
type frameReader struct {
	r       *bufio.Reader
	sum     uint32
	payload bytes.Buffer
}

// corrupt returns an error about a damaged backup, without the name of the package.
func corrupt(format string, args ...any) error {
	return sentinel.Errorf(umbel.ErrCorrupt, "the file "+format, args...)
}

func newFrameReader(r io.Reader) (*frameReader, error) {
	f := &frameReader{r: bufio.NewReaderSize(r, 64<<10)}
	head := make([]byte, len(backupMagic)+1)
	if _, err := io.ReadFull(f.r, head); err != nil {
		return nil, f.short(err, "has no head")
	}
	if string(head[:len(backupMagic)]) != backupMagic {
		return nil, corrupt("is not a backup of umbel")
	}
	if v := head[len(backupMagic)]; v != backupVersion {
		return nil, sentinel.Errorf(umbel.ErrCorrupt, "a backup of version %d needs a later version of umbel: %w", v, errors.ErrUnsupported)
	}
	f.sum = crc32.Update(0, castagnoli, head)
	return f, nil
}

// short returns the error for an end of the input.
func (f *frameReader) short(err error, what string) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return corrupt("%s: it is cut short", what)
	}
	return fmt.Errorf("read: %w", err)
}

// next returns the next frame, whose payload is valid until the next one.
func (f *frameReader) next() (kind byte, payload []byte, err error) {
	var head [5]byte
	if _, err := io.ReadFull(f.r, head[:]); err != nil {
		return 0, nil, f.short(err, "has no end")
	}
	kind = head[0]
	n := binary.LittleEndian.Uint32(head[1:])
	most := uint32(maxEntry)
	if kind != frameFilter {
		most = 1 << 20
	}
	if n > most {
		return 0, nil, corrupt("has a frame of kind %d with %d bytes, want at most %d", kind, n, most)
	}
	f.payload.Reset()
	// The length is untrusted: memory is allocated as bytes are read.
	if _, err := io.CopyN(&f.payload, f.r, int64(n)); err != nil {
		return 0, nil, f.short(err, "ends within a frame")
	}
	payload = f.payload.Bytes()
	f.sum = crc32.Update(crc32.Update(f.sum, castagnoli, head[:]), castagnoli, payload)
	var sum [4]byte
	if _, err := io.ReadFull(f.r, sum[:]); err != nil {
		return 0, nil, f.short(err, "ends within a frame")
	}
	if binary.LittleEndian.Uint32(sum[:]) != f.sum {
		return 0, nil, corrupt("is altered: the sum of a frame of kind %d and everything before it is wrong", kind)
	}
	f.sum = crc32.Update(f.sum, castagnoli, sum[:])
	return kind, payload, nil
}

// end returns an error unless nothing follows.
func (f *frameReader) end() error {
	_, err := f.r.ReadByte()
	switch {
	case errors.Is(err, io.EOF):
		return nil
	case err == nil:
		return corrupt("has bytes after its end")
	}
	return fmt.Errorf("read: %w", err)
}

// segment returns the bytes to which a reference of an entry refers.
func (f *frameReader) segment(r snapshot.Reference) ([]byte, error) {
	if r.IsZero() {
		return make([]byte, r.Len()), nil
	}
	kind, b, err := f.next()
	if err == nil && (kind != frameSegment || len(b) != r.Len() || !r.Holds(b)) {
		err = corrupt("has a frame of kind %d with %d bytes where a segment of %d is wanted", kind, len(b), r.Len())
	}
	return b, err
}

// encodeHead encodes what a backup contains of its snapshot.
func encodeHead(s *snapshot.Snapshot) []byte {
	if s == nil {
		return uvarints(0)
	}
	return uvarints(1, uint64(s.Taken), uint64(s.Covered), uint64(s.Position))
}

// decodeHead returns nil if the backup has no snapshot.
func decodeHead(b []byte) (*snapshot.Snapshot, error) {
	c := &statecode.Cursor{Rest: b}
	var s *snapshot.Snapshot
	if c.Small("snapshots", 1) == 1 {
		s = &snapshot.Snapshot{Number: 1, Taken: int64(c.Uvarint()), Covered: engine.Position(c.Uvarint()), Position: engine.Position(c.Uvarint())}
	}
	return s, c.End()
}

// decodeMissing reads what a backup contains of missing names.
func decodeMissing(b []byte) (m engine.MissingNames, err error) {
	c := &statecode.Cursor{Rest: b}
	m = engine.MissingNames{Since: int64(c.Uvarint()), Batches: c.Uvarint()}
	return m, c.End()
}

// contents are the functions that read calls with the contents of a backup, in this order. filter must read all
// segments of the filter.
type contents struct {
	head    func(*snapshot.Snapshot) error
	seed    func([]byte) error
	missing func(engine.MissingNames) error
	filter  func(*frameReader, engine.Meta, []snapshot.Reference) error
	batch   func([]byte) error
}

// read reads a backup. If it returns nil, every byte was checked.
func read(in io.Reader, to contents) error {
	f, err := newFrameReader(in)
	if err != nil {
		return err
	}
	var filters, batches uint64
	seeded, missing := false, false
	for state := byte(0); ; {
		kind, b, err := f.next()
		if err != nil {
			return err
		}
		if state == frameHead && (kind == frameSeed && !seeded && !missing || kind == frameMissing && !missing) {
			seeded, missing = seeded || kind == frameSeed, kind == frameMissing
			if err := to.extra(kind, b); err != nil {
				return err
			}
			continue
		}
		if kind == frameSegment || kind == frameSeed || kind == frameMissing || kind < state || (kind == frameHead) != (state == 0) {
			return corrupt("has a frame of kind %d after one of kind %d", kind, state)
		}
		state = kind
		switch kind {
		case frameHead:
			s, err := decodeHead(b)
			if err != nil {
				return err
			}
			if err := to.head(s); err != nil {
				return err
			}
		case frameFilter:
			filters++
			m, segments, err := snapshot.ReadEntry(b, recovery.Limits())
			if err != nil {
				return err
			}
			if err := to.filter(f, m, segments); err != nil {
				return err
			}
		case frameBatch:
			batches++
			if err := to.batch(b); err != nil {
				return err
			}
		case frameEnd:
			if !bytes.Equal(b, uvarints(filters, batches)) {
				return corrupt("has %d filters and %d batches, but its end has other numbers", filters, batches)
			}
			return f.end()
		default:
			return corrupt("has a frame of kind %d, which this version of umbel does not support", kind)
		}
	}
}

// Copy copies a backup from in to w. It checks the sum of each frame and of all before it, and ends at the first that is
// wrong, so that something else than a backup is not copied to its end. Verify checks the contents.
func Copy(w io.Writer, in io.Reader) error {
	f, err := newFrameReader(io.TeeReader(in, w))
	for kind := byte(0); err == nil && kind != frameEnd; {
		kind, _, err = f.next()
	}
	if err != nil {
		return err
	}
	return f.end()
}

// extra passes on one of the frames that may follow the head.
func (c contents) extra(kind byte, b []byte) error {
	if kind == frameSeed {
		return c.seed(b)
	}
	m, err := decodeMissing(b)
	if err != nil {
		return err
	}
	return c.missing(m)
}

package store

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/statecode"
)

// A backup is one stream:
//
//	backup   "umbelbackup" | version 1 | frames: head, filters each with its segments, batches, end
//	frame    kind 1 | length 4 | payload | CRC-32C of all of the backup before it 4
//	head     1 if there is a snapshot | milliseconds since 1970 | covered | position
//	filter   an entry of a catalogue, whose references have piece 1 and no offset, or piece 0
//	segment  the bytes of one reference with piece 1, in their order
//	batch    a batch of the log
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

	// maxEntry is the longest entry of a filter, which has 32 bytes for half a MiB of it.
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

// errBackup begins errors about backups.
func errBackup(format string, args ...any) error {
	return fmt.Errorf("store: the backup "+format+": %w", append(args, umbel.ErrCorrupt)...)
}

func newFrameReader(r io.Reader) (*frameReader, error) {
	f := &frameReader{r: bufio.NewReaderSize(r, 64<<10)}
	head := make([]byte, len(backupMagic)+1)
	if _, err := io.ReadFull(f.r, head); err != nil {
		return nil, f.short(err, "has no head")
	}
	if string(head[:len(backupMagic)]) != backupMagic {
		return nil, errBackup("isn't one: it doesn't begin as backups do")
	}
	if v := head[len(backupMagic)]; v != backupVersion {
		return nil, fmt.Errorf("store: a backup of version %d needs a later version of umbel: %w: %w", v, errors.ErrUnsupported, umbel.ErrCorrupt)
	}
	f.sum = crc32.Update(0, castagnoli, head)
	return f, nil
}

// short returns what is to be said of an end that comes too early.
func (f *frameReader) short(err error, what string) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errBackup("%s: it is cut short", what)
	}
	return fmt.Errorf("store: reading a backup: %w", err)
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
		return 0, nil, errBackup("has a frame of kind %d with %d bytes, want at most %d", kind, n, most)
	}
	f.payload.Reset()
	// The length is a stranger's word: memory is taken as bytes come.
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
		return 0, nil, errBackup("is altered: the sum of a frame of kind %d and what is before it isn't right", kind)
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
		return errBackup("has something behind its end")
	}
	return fmt.Errorf("store: reading a backup: %w", err)
}

// segment returns the bytes to which a reference of an entry refers.
func (f *frameReader) segment(r reference) ([]byte, error) {
	if r.piece == 0 {
		return make([]byte, r.length), nil
	}
	kind, b, err := f.next()
	if err == nil && (kind != frameSegment || len(b) != int(r.length) || !r.holds(b)) {
		err = errBackup("has a frame of kind %d with %d bytes where a segment of %d is wanted", kind, len(b), r.length)
	}
	return b, err
}

// backupHead is what a backup says of its snapshot.
func backupHead(s *snapshot) []byte {
	if s == nil {
		return uvarints(0)
	}
	return uvarints(1, uint64(s.taken), uint64(s.covered), uint64(s.position))
}

// readBackupHead returns nil if the backup has no snapshot.
func readBackupHead(b []byte) (*snapshot, error) {
	c := &statecode.Cursor{Rest: b}
	var s *snapshot
	if c.Small("snapshots", 1) == 1 {
		s = &snapshot{number: 1, taken: int64(c.Uvarint()), covered: engine.Position(c.Uvarint()), position: engine.Position(c.Uvarint())}
	}
	return s, c.End()
}

// readBackup gives head, filter and batch what a backup has, in this order. filter reads
// its segments itself, all of them. What it returns is checked to the last byte.
func readBackup(in io.Reader, head func(*snapshot) error, filter func(*frameReader, engine.Meta, []reference) error, batch func([]byte) error) error {
	f, err := newFrameReader(in)
	if err != nil {
		return err
	}
	var filters, batches uint64
	for state := byte(0); ; {
		kind, b, err := f.next()
		if err != nil {
			return err
		}
		if kind == frameSegment || kind < state || (kind == frameHead) != (state == 0) {
			return errBackup("has a frame of kind %d after one of kind %d", kind, state)
		}
		state = kind
		switch kind {
		case frameHead:
			s, err := readBackupHead(b)
			if err != nil {
				return err
			}
			if err := head(s); err != nil {
				return err
			}
		case frameFilter:
			filters++
			m, segments, err := readEntry(b, limits())
			if err != nil {
				return err
			}
			if err := filter(f, m, segments); err != nil {
				return err
			}
		case frameBatch:
			batches++
			if err := batch(b); err != nil {
				return err
			}
		case frameEnd:
			if !bytes.Equal(b, uvarints(filters, batches)) {
				return errBackup("has %d filters and %d batches, and says otherwise", filters, batches)
			}
			return f.end()
		default:
			return errBackup("has a frame of kind %d, which this umbel doesn't know", kind)
		}
	}
}
